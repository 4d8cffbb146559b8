// The file in which chats keep what was typed, between runs of the editor and for all chats on the store.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "bough/error.h"

struct history;  // of libedit, where it is called History

namespace bough::cli {

/// Its name in the folder of a store.
inline constexpr std::string_view kTypedHistory = "chat_history";

/// libedit asks the C library how wide characters are, and writes them so; without a UTF-8 locale it would not know.
void useUtf8();

/// The lines that an editor goes through. The file is the truth: others add lines to it and take lines away meanwhile,
/// so a line is added to what the file holds now, and what it no longer holds is forgotten here as well.
class TypedHistory {
 public:
  /// Without a path the lines are only in memory.
  explicit TypedHistory(std::string path);
  ~TypedHistory();
  TypedHistory(const TypedHistory&) = delete;
  TypedHistory& operator=(const TypedHistory&) = delete;

  /// For the editor; always the same.
  [[nodiscard]] struct history* lines() const { return lines_; }
  /// The line of that number, from the newest, which is 1.
  [[nodiscard]] std::optional<std::string> at(std::size_t number) const;
  /// The number of the newest line that is this text.
  [[nodiscard]] std::optional<std::size_t> numberOf(const std::string& line) const;
  /// What the file holds now, when it has changed.
  void refresh();
  /// A file that cannot be written is no error: the line is then only in memory.
  void add(const std::string& line);

 private:
  struct FileVersion {
    bool exists = false;
    struct stat info{};
    [[nodiscard]] bool isSame(const FileVersion& other) const;
  };
  [[nodiscard]] FileVersion versionNow() const;
  void refreshTo(const FileVersion& now);
  [[nodiscard]] bool enter(const std::string& line) const;
  void append(int file, const std::string& line);

  std::string path_;
  struct history* lines_;
  std::size_t linesInFile_ = 0;
  bool isHistory_ = false;  ///< What the file is; one that is none is replaced.
  FileVersion seen_{};
};

/// Removes lines from the file, which is replaced as a whole. Returns how many; none when there is no such file.
Result<std::size_t> forgetTypedLines(const std::string& path, const std::function<bool(std::string_view)>& isGone);

}  // namespace bough::cli
