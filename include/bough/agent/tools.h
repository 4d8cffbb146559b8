// The tools a model may use: read, write, edit, ls, grep, bash, and those that a program adds.
//
// A call goes three steps: it is prepared, which reads its arguments and finds the files they name; the user is asked,
// when the tool says so; it runs. Question and work come from the same preparation, so that nothing else can be done
// than what was asked about.
#pragma once

#include <bough/error.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bough/agent/cancel.h"
#include "bough/agent/working_folder.h"

namespace bough::agent {

/// A call as a model wrote it: nothing of it can be trusted.
struct ToolCall {
  std::string id = {};  ///< The provider's; may be empty or not unique.
  std::string name = {};
  std::string arguments = {};  ///< Should be a JSON object; it comes from a model.
};

/// What a call gave: goes to the model as it is.
struct ToolOutcome {
  std::string text = {};  ///< Valid UTF-8, of limited length.
  bool isError = false;   ///< The text says what went wrong; the model may try something else.
};

/// What a single call may take.
struct ToolLimits {
  std::size_t outputBytes = std::size_t{48} << 10;  ///< About how much text a result has.
  std::size_t fileBytes = std::size_t{16} << 20;    ///< Larger files are not edited.
  int defaultTimeoutMs = 120'000;                   ///< Of a command that names no time.
  int longestTimeoutMs = 600'000;                   ///< The most that a model may ask for.
};

/// The keys this process knows of: they appear in no result, no error and no session. A value; a const one may be used
/// from any thread, and so may the static calls.
class Secrets {
 public:
  /// Shorter ones are words (`test`, `ollama`), not keys: to hide them would damage texts and files.
  static constexpr std::size_t kShortestKeyBytes = 16;

  /// All that the usual environment variables hold at this moment, the passwords of proxies, of the store and of
  /// providers' addresses among them. As getenv, not to be called while another thread sets variables.
  static Secrets fromEnvironment();
  /// From here on the variable of this name holds a key, too: that of a provider of one's own. For the whole process;
  /// Secrets that were made before do not know it.
  static void addVariable(const std::string& name);

  /// For a program that lets models run commands: from here on programs of the same user find neither the keys and
  /// passwords of variables(), proxies and addresses in the environment that this process was started with, nor its
  /// memory. The variables are moved, so getenv goes on finding them; strings that were given to putenv must be
  /// writable. The process makes no core dumps and cannot be debugged then, except by root, from whom nothing can be
  /// hidden. To be called before there are threads, after addVariable.
  static void hideFromTools();

  /// Remembers a key; one that is too short is left out.
  void add(std::string key);
  /// The passwords that a URL may hold: `http://NAME:PASSWORD@host`, `postgresql://host/?password=PASSWORD`.
  void addFromUrl(std::string_view url);

  /// `text` with every whole key replaced by "[key]". A part of a key, as `sk-proj-`, stays what it is. Costs one
  /// search of the text for each key, and one more where there are backslashes: keys that JSON has escaped are found.
  [[nodiscard]] std::string redact(std::string_view text) const;
  /// The same for JSON, which stays JSON: a key is found however its characters are escaped.
  [[nodiscard]] std::string redactJson(std::string_view text) const;
  /// Whether `text` holds a whole key.
  [[nodiscard]] bool areIn(std::string_view text) const { return redact(text) != text; }
  /// How many bytes at the end of `text` may be the beginning of a key, so that what follows decides.
  [[nodiscard]] std::size_t openBytes(std::string_view text) const;

  /// The names of the environment variables that hold keys: tools do not get them.
  static std::vector<std::string> variables();

 private:
  std::vector<std::string> keys_;
};

/// What a tool works with. Must outlive the calls that were prepared with it; tools use it from several threads, so it
/// is not changed meanwhile.
struct ToolEnvironment {
  WorkingFolder folder;  ///< Where relative paths begin. Paths outside of it need the user's consent.
  ToolLimits limits{};
  Secrets secrets{};  ///< What results must not show.
  /// Commands that bash runs without a question: each with further arguments, except dangerous ones, and without shell
  /// syntax (docs/agent.md).
  std::vector<std::string> allowedCommands{};
  /// Whether `write` and `edit` ask before they change a file of the folder, too. What they would change is shown.
  bool askBeforeChanges = false;
  /// Gets what a command of bash prints, while it runs: whole lines, valid UTF-8, without keys. From the thread of the
  /// call; may be empty.
  std::function<void(std::string_view lines)> output{};
};

/// The permission to change files of the working folder.
inline constexpr std::string_view kChangeFiles = "change files";

/// A call whose arguments were read once: what is asked about is what will be done.
struct PreparedCall {
  /// What the user has to be asked before it runs; none when nothing. The text names what would happen.
  std::optional<std::string> question{};
  /// With a question: what a lasting answer to it allows. Calls with equal permissions are covered by one answer.
  std::string permission{};
  /// The same in words: "this command".
  std::string allows{};
  /// What would change in a file, as lineDiff writes it; may be empty.
  std::string diff{};
  /// All of that, where `diff` leaves out a part; empty where it does not.
  std::string wholeDiff{};
  /// The file that it changes: the loop keeps a copy of it first.
  std::optional<Place> changes{};
  /// Does it, at most once: it may give away what it holds. Ends soon after the token asks it to.
  std::function<ToolOutcome(const CancelToken&)> run = {};
};

/// One tool. Calls may come from several threads at once. An exception (std::exception) becomes a result that says so.
struct Tool {
  std::string name = {};         ///< What the model calls it by; the first of a name counts.
  std::string description = {};  ///< For the model.
  std::string parameters = {};   ///< A JSON schema.
  bool safeToRepeat = false;     ///< Running it a second time does no harm: recovery does so without asking.
  /// Reads the arguments and finds the files they name; changes nothing. The environment outlives the prepared call.
  std::function<PreparedCall(const std::string& arguments, const ToolEnvironment&)> prepare = {};
};

/// read, write, edit, ls, grep, bash. Lives as long as the program; copy it to add tools of your own.
const std::vector<Tool>& builtInTools();

/// Points into `tools`; null when there is no such tool.
const Tool* findTool(const std::vector<Tool>& tools, const std::string& name);
const Tool* findTool(const std::vector<Tool>&&, const std::string&) = delete;

/// Prepares a call. Its result is fit to be stored: no keys, valid UTF-8, of limited length. An unknown tool and
/// arguments that are not an object give a result too: the model is told. Only std::bad_alloc is thrown. `environment`
/// must outlive the result.
PreparedCall prepareCall(const std::vector<Tool>& tools, const ToolCall& call, const ToolEnvironment& environment);
PreparedCall prepareCall(const std::vector<Tool>&, const ToolCall&, const ToolEnvironment&&) = delete;

/// A call that does nothing but give this result.
PreparedCall failedCall(std::string text);
PreparedCall failedCall(const Error& error);

}  // namespace bough::agent
