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
      writer.list("choices", option.choices);
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
  json::Writer writer;
  writer.beginObject().member("schema", 1).key("groups").beginArray();
  for (const CommandGroup& group : groups) {
    writer.beginObject().member("title", group.title).key("commands").beginArray();
    for (const Command& command : group.commands) writeCommand(writer, command);
    writer.endArray().endObject();
  }
  writer.endArray();
  Context context;
  writeOptions(writer, globalOptions(context));
  return writer.endObject().text() + "\n";
}

std::string commandJson(const Command& command) {
  json::Writer writer;
  writer.beginObject().member("schema", 1).key("command");
  writeCommand(writer, command);
  return writer.endObject().text() + "\n";
}

}  // namespace bough::cli
