// The tools that a model may use: read, write, edit, ls, grep, bash, and tools that a program adds.
//
// A call goes through three steps. First it is prepared: its arguments are read, and the files that they name are
// found. Then the user is asked, if the tool requires it. Then it runs. The question and the work use the same
// preparation, so a tool can only do what the user was asked about.
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

/// A call as a model wrote it. Nothing in it can be trusted.
struct ToolCall {
  std::string id = {};  ///< From the provider; may be empty or not unique.
  std::string name = {};
  std::string arguments = {};  ///< Should be a JSON object, but a model wrote it.
};

/// The result of a call. The model receives it unchanged.
struct ToolOutcome {
  std::string text = {};  ///< Valid UTF-8, of limited length.
  bool isError = false;   ///< The text says what went wrong; the model may try something else.
};

/// Limits for a single call.
struct ToolLimits {
  std::size_t outputBytes = std::size_t{48} << 10;  ///< Approximate size of a result's text.
  std::size_t fileBytes = std::size_t{16} << 20;    ///< Larger files are not edited.
  int defaultTimeoutMs = 120'000;                   ///< For a command that sets no time limit.
  int longestTimeoutMs = 600'000;                   ///< The longest time limit that a model may set.
};

/// The keys that this process knows. They must appear in no result, no error and no session. A value; any thread may
/// use a const object or call the static functions.
class Secrets {
 public:
  /// Shorter keys are ignored: they are ordinary words (`test`, `ollama`), and hiding them would damage texts and
  /// files.
  static constexpr std::size_t kShortestKeyBytes = 16;

  /// Returns the current values of the usual environment variables, including passwords of proxies, of the store and in
  /// addresses of providers. Like getenv, do not call it while another thread sets variables.
  static Secrets fromEnvironment();
  /// Declares that the variable with this name also holds a key: that of a provider of the user's own. Applies to the
  /// whole process, but not to Secrets that exist already.
  static void addVariable(const std::string& name);

  /// For a program that lets models run commands: prevents programs of the same user from reading this process's
  /// memory, and from finding keys and passwords (of variables(), proxies and addresses) in the environment that this
  /// process was started with. The variables are moved, so getenv still finds them; strings passed to putenv must be
  /// writable. Afterwards the process writes no core dumps and only root, from whom nothing can be hidden, can debug
  /// it. Call it after addVariable and before any thread is started.
  static void hideFromTools();

  /// Adds a key; a key that is too short is ignored.
  void add(std::string key);
  /// Adds the passwords in a URL: `http://NAME:PASSWORD@host`, `postgresql://host/?password=PASSWORD`.
  void addFromUrl(std::string_view url);

  /// Returns `text` with every complete key replaced by "[key]". A part of a key, such as `sk-proj-`, is not replaced.
  /// Costs one search of the text per key, and one more if the text has backslashes, to find keys that JSON has
  /// escaped.
  [[nodiscard]] std::string redact(std::string_view text) const;
  /// Does the same for JSON, which stays valid JSON. Finds a key however its characters are escaped.
  [[nodiscard]] std::string redactJson(std::string_view text) const;
  /// Returns true when `text` contains a complete key.
  [[nodiscard]] bool areIn(std::string_view text) const { return redact(text) != text; }
  /// Returns how many bytes at the end of `text` may be the start of a key; the text that follows decides.
  [[nodiscard]] std::size_t openBytes(std::string_view text) const;

  /// Returns the names of the environment variables that hold keys; tools do not receive these variables.
  static std::vector<std::string> variables();

 private:
  std::vector<std::string> keys_;
};

/// What a tool works with. Must outlive the calls that were prepared with it. Several threads use it, so it must not be
/// changed meanwhile.
struct ToolEnvironment {
  WorkingFolder folder;  ///< Relative paths start here. Paths outside of it need the user's consent.
  ToolLimits limits{};
  Secrets secrets{};  ///< Keys that results must not show.
  /// Commands that bash runs without a question: each of them also with further arguments, but not with dangerous ones
  /// and not with shell syntax (docs/agent.md).
  std::vector<std::string> allowedCommands{};
  /// If set, `write` and `edit` ask before they change any file, including files of the folder, and show the change.
  bool askBeforeChanges = false;
  /// Receives the output of a bash command while it runs: whole lines, valid UTF-8, without keys. Called on the thread
  /// of the call; may be empty.
  std::function<void(std::string_view lines)> output{};
};

/// The permission to change files of the working folder.
inline constexpr std::string_view kChangeFiles = "change files";

/// A call whose arguments were read once, so that the user is asked about exactly what will be done.
struct PreparedCall {
  /// The question for the user before the call runs; std::nullopt when none is needed. The text says what would happen.
  std::optional<std::string> question{};
  /// With a question: what a permanent permission covers. One answer covers all calls with an equal permission.
  std::string permission{};
  /// The permission in words: "this command".
  std::string allows{};
  /// The change of a file, as lineDiff writes it; may be empty.
  std::string diff{};
  /// The complete change when `diff` leaves out a part of it; otherwise empty.
  std::string wholeDiff{};
  /// The file that the call changes; the loop keeps a copy of the file first.
  std::optional<Place> changes{};
  /// Runs the call, at most once, because it may give away what it holds. Ends soon after the token requests a stop.
  std::function<ToolOutcome(const CancelToken&)> run = {};
};

/// One tool. Calls may come from several threads at once. A std::exception becomes a result that reports it.
struct Tool {
  std::string name = {};         ///< The name for the model; of several equal names the first counts.
  std::string description = {};  ///< For the model.
  std::string parameters = {};   ///< A JSON schema.
  bool safeToRepeat = false;     ///< Running it twice does no harm: recovery repeats it without asking.
  /// Reads the arguments and finds the files that they name; changes nothing. The environment outlives the prepared
  /// call.
  std::function<PreparedCall(const std::string& arguments, const ToolEnvironment&)> prepare = {};
};

/// Returns read, write, edit, ls, grep and bash. Lives as long as the program; copy it to add tools of your own.
const std::vector<Tool>& builtInTools();

/// Returns a pointer into `tools`; null when there is no such tool.
const Tool* findTool(const std::vector<Tool>& tools, const std::string& name);
const Tool* findTool(const std::vector<Tool>&&, const std::string&) = delete;

/// Prepares a call. Its result can be stored: it contains no keys, is valid UTF-8, and has a limited length. An unknown
/// tool, or arguments that are not an object, also give a result, which tells the model. Throws only std::bad_alloc.
/// `environment` must outlive the result.
PreparedCall prepareCall(const std::vector<Tool>& tools, const ToolCall& call, const ToolEnvironment& environment);
PreparedCall prepareCall(const std::vector<Tool>&, const ToolCall&, const ToolEnvironment&&) = delete;

/// Returns a call that only gives this result.
PreparedCall failedCall(std::string text);
PreparedCall failedCall(const Error& error);

}  // namespace bough::agent
