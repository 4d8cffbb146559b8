// normalize and denormalize: one message, without the history around it.
#include <bough/message.h>
#include <fmt/format.h>

#include "base/json_scan.h"
#include "message/plan.h"
#include "message/reader.h"
#include "message/writers.h"

namespace bough {
namespace {

struct DialectName {
  Dialect dialect;
  std::string_view name;
};
constexpr DialectName kDialects[] = {{Dialect::Anthropic, "anthropic"},
                                     {Dialect::OpenaiChat, "openai-chat"},
                                     {Dialect::OpenaiResponses, "openai-responses"},
                                     {Dialect::Gemini, "gemini"},
                                     {Dialect::Plain, "plain"},
                                     {Dialect::Bough, "bough"}};

}  // namespace

std::string_view toString(Dialect dialect) {
  for (const DialectName& each : kDialects) {
    if (each.dialect == dialect) return each.name;
  }
  return "bough";
}

Result<Dialect> parseDialect(std::string_view name) {
  std::string all;
  for (const DialectName& each : kDialects) {
    if (each.name == name) return each.dialect;
    all += (all.empty() ? "" : ", ") + std::string(each.name);
  }
  return fail(ErrorCode::InvalidArgument, fmt::format("unknown dialect \"{}\"", name), "one of " + all);
}

std::string_view toString(Role role) {
  switch (role) {
    case Role::System: return "system";
    case Role::User: return "user";
    case Role::Assistant: return "assistant";
    case Role::Tool: return "tool";
  }
  return "user";
}

std::string_view toString(BlockKind kind) {
  switch (kind) {
    case BlockKind::Text: return "text";
    case BlockKind::Thinking: return "thinking";
    case BlockKind::RedactedThinking: return "redacted_thinking";
    case BlockKind::ToolCall: return "tool_call";
    case BlockKind::ToolResult: return "tool_result";
    case BlockKind::Image: return "image";
    case BlockKind::Document: return "document";
    case BlockKind::Refusal: return "refusal";
    case BlockKind::Citation: return "citation";
    case BlockKind::Unknown: return "unknown";
  }
  return "unknown";
}

std::string TextView::decode() const {
  std::string out;
  out.reserve(escaped.size());
  json::appendDecoded(out, escaped);
  return out;
}

Result<Message> normalize(std::string_view stored, Dialect dialect) {
  json::Tree tree;
  if (const auto error = tree.parse(stored)) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("no message of {}: offset {}: {}", toString(dialect), error->offset, error->reason));
  }
  Message message;
  const auto problem = message::readMessage(dialect, tree, 0, message);
  if (problem) {
    return fail(ErrorCode::InvalidArgument, fmt::format("no message of {}: {}", toString(dialect), *problem));
  }
  message.raw = stored;
  return message;
}

Result<Denormalized> denormalize(const Message& original, Dialect dialect) {
  using namespace message;
  if (dialect == Dialect::Plain) {
    return fail(ErrorCode::Unsupported, "plain entries are only read", "write bough instead");
  }
  Denormalized out;
  if (original.dialect == dialect && !original.raw.empty()) {
    out.messages.emplace_back(original.raw);
    return out;
  }
  History history;
  Native& native = history.natives.emplace_back();
  // Planned as if it came from elsewhere, so that it is written anew even in its own dialect.
  native.dialect = original.dialect == dialect ? Dialect::Plain : original.dialect;
  native.message.role = original.role;
  native.message.roleName = original.roleName;
  native.message.blocks = original.blocks;
  native.message.extras = original.extras;
  CompatibilityReport report;
  Reporter reporter(report);
  const Plan plan = makePlan(history, dialect, {}, reporter, PlanMode::Fragment);
  auto write = [&](const OutMessage& each) {
    std::string text;
    Records records;
    Sink sink(text, records, Section::Messages);
    writeMessage(dialect, each, sink);
    out.messages.push_back(std::move(text));
  };
  if (plan.hasSystem) {
    OutMessage system{.role = Role::System};
    system.pieces = plan.system.pieces;
    write(system);
  }
  for (const OutMessage& each : plan.messages) {
    // Results and items are messages of their own there.
    const bool splits =
        dialect == Dialect::OpenaiResponses || (dialect == Dialect::OpenaiChat && each.role == Role::Tool);
    if (!splits || (each.role != Role::Assistant && each.role != Role::Tool)) {
      write(each);
      continue;
    }
    for (const Piece& piece : each.pieces) {
      OutMessage single{.role = each.role, .roleName = each.roleName};
      single.pieces.push_back(piece);
      write(single);
    }
  }
  for (const Finding& finding : report.findings) {
    std::size_t block = 0;
    for (std::size_t i = 0; i < native.message.blocks.size(); ++i) {
      if (finding.path == pathOf(native, &native.message.blocks[i])) block = i;
    }
    out.leftOut.push_back({.block = block, .field = finding.field, .reason = finding.reason});
  }
  return out;
}

}  // namespace bough
