#include "agent/tools/builtin.h"
#include "base/system/file_io.h"
#include "base/text/counted.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>

#include "agent/parts/json_parts.h"

namespace bough::agent {
namespace {

std::size_t characterBytes(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 && lead < 0xF5   ? 4
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xC2 && lead < 0xE0 ? 2
                                                           : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
  }
  const auto second = static_cast<unsigned char>(text[1]);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool outside = (lead == 0xED && second > 0x9F) || (lead == 0xF4 && second > 0x8F);
  return overlong || outside ? 0 : length;
}

// Where a dialect demands an object, text that was not JSON is wrapped as {"arguments":…}; no tool has such a
// parameter.
bool isArgumentsObject(std::string_view text) {
  return isObject(text) && !json::findMember(text, "arguments");
}

}  // namespace

Result<std::uint64_t> numberArgument(const std::string& arguments, const char* name, std::uint64_t otherwise) {
  const auto given = json::findMember(arguments, name);
  if (!given || *given == "null") return otherwise;
  if (const auto number = json::findUnsigned(arguments, name)) return *number;
  return fail(ErrorCode::InvalidArgument,
              fmt::format("the argument {} is not a whole number from 0; nothing was done", name));
}

const std::vector<Tool>& builtInTools() {
  static const std::vector<Tool> kTools = {readTool(), writeTool(), editTool(), lsTool(), grepTool(), bashTool()};
  return kTools;
}

const Tool* findTool(const std::vector<Tool>& tools, const std::string& name) {
  const auto found = std::ranges::find(tools, name, &Tool::name);
  return found == tools.end() ? nullptr : &*found;
}

Error fileError(int number, std::string_view what, std::string_view path) {
  Error error = systemError(number, what, path);
  if (error.code == ErrorCode::Damaged || error.code == ErrorCode::Io) error.hint.clear();
  return error;
}

PreparedCall failedCall(std::string text) {
  return {.question = {}, .run = [outcome = ToolOutcome{.text = std::move(text), .isError = true}](const CancelToken&) {
            return outcome;
          }};
}

PreparedCall failedCall(const Error& error) {
  return failedCall(error.hint.empty() ? error.message : error.message + "; " + error.hint);
}

namespace {

// A tool that an application adds may throw. The model gets the message; only running out of memory ends the turn.
std::string exceptionText(const std::string& name, const std::exception& thrown) {
  return fmt::format("{} failed: {}", name, thrown.what());
}

PreparedCall prepareWith(const Tool& tool, const std::string& arguments, const ToolEnvironment& environment) try {
  return tool.prepare(arguments, environment);
} catch (const std::bad_alloc&) {
  throw;
} catch (const std::exception& thrown) {
  return failedCall(exceptionText(tool.name, thrown));
}

ToolOutcome runTool(const std::string& name, const std::function<ToolOutcome(const CancelToken&)>& run,
                    const CancelToken& cancel) try {
  return run(cancel);
} catch (const std::bad_alloc&) {
  throw;
} catch (const std::exception& thrown) {
  return {.text = exceptionText(name, thrown), .isError = true};
}

}  // namespace

PreparedCall prepareCall(const std::vector<Tool>& tools, const ToolCall& call, const ToolEnvironment& environment) {
  const Tool* tool = findTool(tools, call.name);
  PreparedCall prepared =
      tool == nullptr ? failedCall(call.name.empty() ? "the call names no tool" : "there is no tool " + call.name)
      : !isArgumentsObject(call.arguments)
          ? failedCall(fmt::format("the arguments of {} are not a JSON object; nothing was done", call.name))
          : prepareWith(*tool, call.arguments, environment);
  prepared.run = [&environment, name = call.name, run = std::move(prepared.run)](const CancelToken& cancel) {
    ToolOutcome outcome = runTool(name, run, cancel);
    outcome.text = asText(environment.secrets.redact(outcome.text), environment.limits.outputBytes * 2);
    return outcome;
  };
  return prepared;
}

std::string asText(std::string_view bytes, std::size_t limitBytes, std::uint64_t allBytes) {
  std::string out;
  std::size_t bad = 0;
  const std::string_view shown = bytes.substr(0, limitBytes);
  for (std::string_view rest = shown; !rest.empty();) {
    const std::size_t length = characterBytes(rest);
    if (length == 0 || rest.front() == '\0') {
      ++bad;
      out += "\uFFFD";
      rest.remove_prefix(1);
    } else {
      out.append(rest.substr(0, length));
      rest.remove_prefix(length);
    }
  }
  // Shows a few stray bytes as escapes; with more of them, the text would be meaningless.
  if (bad > 16 && bad * 10 > shown.size())
    return fmt::format("[binary data, {}]", counted(std::max<std::uint64_t>(bytes.size(), allBytes), "byte"));
  if (shown.size() < bytes.size()) out += fmt::format("\n[… {} more bytes …]", bytes.size() - shown.size());
  return out;
}

}  // namespace bough::agent
