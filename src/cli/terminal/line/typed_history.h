// The file with the lines typed in chats; kept between runs and shared by all chats on the store.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "bough/error.h"

struct history;  // libedit's type, which libedit calls History

namespace bough::cli {

/// The file's name in the folder of a store.
inline constexpr std::string_view kTypedHistory = "chat_history";

/// Sets a UTF-8 locale if there is none: libedit asks the C library for the width and the encoding of characters.
void useUtf8();

/// The history of an editor. The file is the truth: other processes add and remove lines meanwhile. So a new line is
/// added to the file's current content, and lines that the file no longer holds are forgotten here as well.
class TypedHistory {
 public:
  /// Without a path, the lines are only in memory.
  explicit TypedHistory(std::string path);
  ~TypedHistory();
  TypedHistory(const TypedHistory&) = delete;
  TypedHistory& operator=(const TypedHistory&) = delete;

  /// For the editor; the pointer never changes.
  [[nodiscard]] struct history* lines() const { return lines_; }
  /// Returns the line with that number, counted from the newest, which is 1.
  [[nodiscard]] std::optional<std::string> at(std::size_t number) const;
  /// Returns the number of the newest line with this text.
  [[nodiscard]] std::optional<std::size_t> numberOf(const std::string& line) const;
  /// Reads the file again if it has changed.
  void refresh();
  /// Adds a line. If the file cannot be written, the line is only in memory; this is not an error.
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
  bool isHistory_ = false;  ///< Whether the file is a history; if not, the next write replaces it.
  FileVersion seen_{};
};

/// Removes lines from the file by replacing it as a whole. Returns how many were removed; 0 when the file does not
/// exist.
Result<std::size_t> forgetTypedLines(const std::string& path, const std::function<bool(std::string_view)>& isGone);

}  // namespace bough::cli
