// The help for programs: the same definitions as JSON.

#include "base/json/json_write.h"
#include "cli/definition/help.h"

namespace bough::cli {
namespace {

void writeOptions(json::Writer& writer, const std::vector<Option>& options) {
  writer.key("options").beginArray();
  for (const Option& option : options) {
    writer.beginObject().member("name", option.name).member("syntax", optionSyntax(option));
    writer.member("help", option.help).member("required", option.required);
    if (!option.choices.empty()) {
      writer.key("choices").beginArray();
      for (const std::string& choice : option.choices) writer.string(choice);
      writer.endArray();
    }
    writer.endObject();
  }
  writer.endArray();
}

void writeCommand(json::Writer& writer, const Command& command) {
  writer.beginObject().member("name", command.name).member("summary", command.summary);
  writer.member("usage", usageLine(command)).member("details", command.details).member("examples", command.examples);
  writeOptions(writer, command.options);
  writer.endObject();
}

}  // namespace

std::string overviewJson(const std::vector<CommandGroup>& groups) {
  std::string out;
  json::Writer writer(out);
  writer.beginObject().member("schema", std::uint64_t{1}).key("groups").beginArray();
  for (const CommandGroup& group : groups) {
    writer.beginObject().member("title", group.title).key("commands").beginArray();
    for (const Command& command : group.commands) writeCommand(writer, command);
    writer.endArray().endObject();
  }
  writer.endArray();
  Context context;
  writeOptions(writer, globalOptions(context));
  writer.endObject();
  return out + "\n";
}

std::string commandJson(const Command& command) {
  std::string out;
  json::Writer writer(out);
  writer.beginObject().member("schema", std::uint64_t{1}).key("command");
  writeCommand(writer, command);
  writer.endObject();
  return out + "\n";
}

}  // namespace bough::cli
