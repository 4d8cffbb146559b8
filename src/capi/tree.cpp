// Head, labels, redaction, and the session as a tree.
#include "bough/tree.h"

#include "base/json/json_write.h"
#include "base/try.h"
#include "capi/json_options.h"
#include "capi/objects.h"

namespace bough::capi {
namespace {

constexpr std::size_t kPart = 256;  // entries in memory at a time

Result<std::vector<EntrySummary>> summaries(const SessionObject& session, const SessionTree& tree, Sequence from,
                                            std::vector<Sequence>& nodes) {
  nodes.clear();
  const auto end = static_cast<Sequence>(std::min<std::size_t>(from + kPart, tree.entryCount()));
  for (Sequence node = from; node < end; ++node) {
    if (tree.isNode(node)) nodes.push_back(node);
  }
  return describeEntries(session.store(), session.session.id())(nodes);
}

Outcome writeTree(const SessionObject& session, const SessionTree& tree, std::string& out) {
  json::Writer writer(out);
  // Parents come before their children, so a parent's id is already known.
  std::vector<std::string> ids(tree.entryCount());
  std::vector<Sequence> nodes;
  writer.beginObject().key("entries").beginArray();
  for (std::size_t from = 0; from < tree.entryCount(); from += kPart) {
    BOUGH_TRY(const auto described, summaries(session, tree, static_cast<Sequence>(from), nodes));
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const Sequence node = nodes[i];
      const Sequence parent = tree.parent(node);
      ids[node] = described[i].entryId;
      writer.beginObject().member("entryId", described[i].entryId).key("parentId");
      parent == kNoSequence ? writer.null() : writer.string(ids[parent]);
      writer.member("role", described[i].speaker).member("timestamp", described[i].timestamp);
      writer.member("text", described[i].text);
      writer.list("labels", tree.labelsOf(node));
      writer.endObject();
    }
  }
  writer.endArray().key("headId");
  tree.head() == kNoSequence ? writer.null() : writer.string(ids[tree.head()]);
  writer.endObject();
  return {};
}

Outcome writeIds(json::Writer& writer, std::string_view name, const Session& session,
                 const std::vector<Sequence>& nodes) {
  writer.key(name).beginArray();
  BOUGH_TRY(forEachEntryAt(session, nodes, [&](const Entry& entry) {
    writer.string(entry.id);
    return true;
  }));
  writer.endArray();
  return {};
}

}  // namespace
}  // namespace bough::capi

using namespace bough;
using namespace bough::capi;

extern "C" {

int32_t bough_move_head(bough_session* session, bough_text entry_id) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto entry, optionalText(entry_id, "entry_id"));
    if (entry_id.data != nullptr && entry.empty()) {
      return refuse("entry_id is empty; an absent one moves the head before the first entry");
    }
    BOUGH_TRY(object->session.moveHead(std::string(entry)));
    return {};
  });
}

int32_t bough_set_title(bough_session* session, bough_text title) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto text, requiredText(title, "title"));
    BOUGH_TRY(object->session.setTitle(std::string(text)));
    return {};
  });
}

int32_t bough_label_set(bough_session* session, bough_text entry_id, bough_text name) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto entry, requiredText(entry_id, "entry_id"));
    BOUGH_TRY(const auto label, requiredText(name, "name"));
    BOUGH_TRY(object->session.label(std::string(entry), std::string(label)));
    return {};
  });
}

int32_t bough_label_remove(bough_session* session, bough_text name) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto label, requiredText(name, "name"));
    BOUGH_TRY(object->session.removeLabel(std::string(label)));
    return {};
  });
}

int32_t bough_label_list(bough_session* session, bough_text* json) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto labels, object->session.labels());
    json::Writer writer;
    writer.beginObject().key("labels").beginArray();
    for (const SessionLabel& label : labels) {
      writer.beginObject().member("name", label.name).member("entryId", label.entryId);
      writer.member("timestamp", label.timestamp).member("sessionId", label.sessionId).endObject();
    }
    return returnText(writer.endArray().endObject().text(), json);
  });
}

int32_t bough_redact(bough_session* session, bough_text entry_id, bough_text by, bough_text reason) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto entry, requiredText(entry_id, "entry_id"));
    BOUGH_TRY(const auto who, requiredText(by, "by"));
    BOUGH_TRY(const auto why, requiredText(reason, "reason"));
    BOUGH_TRY(object->session.redact(std::string(entry), std::string(who), std::string(why)));
    return {};
  });
}

int32_t bough_tree(bough_session* session, bough_text* json) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto tree, object->session.tree());
    std::string out;
    BOUGH_TRY(writeTree(*object, tree, out));
    return returnText(out, json);
  });
}

int32_t bough_branches(bough_session* session, bough_text* json) {
  return runCallOn<SessionObject>(session, [&](const auto& object) -> Outcome {
    BOUGH_TRY(const auto branches, listBranches(object->store(), object->session.id()));
    json::Writer writer;
    writer.beginObject().key("branches").beginArray();
    for (const BranchListing& branch : branches) {
      writer.beginObject().member("leafId", branch.leafId).member("firstOwnId", branch.firstOwnId);
      writer.member("length", branch.length).member("timestamp", branch.timestamp);
      writer.member("role", branch.speaker).member("lastMessage", branch.lastMessage);
      writer.list("labels", branch.names);
      writer.member("isHead", branch.isHead).endObject();
    }
    return returnText(writer.endArray().endObject().text(), json);
  });
}

int32_t bough_diff(bough_session* session, bough_text entry_id, bough_session* other, bough_text other_entry_id,
                   bough_text* json) {
  return runCallOn<SessionObject>(session, [&](const auto& left) -> Outcome {
    BOUGH_TRY(const auto right, objectOf<SessionObject>(other));
    if (left->parent != right->parent) return refuse("the sessions are of different stores");
    BOUGH_TRY(const auto leftEnd, optionalText(entry_id, "entry_id"));
    BOUGH_TRY(const auto rightEnd, optionalText(other_entry_id, "other_entry_id"));
    BOUGH_TRY(const auto diff, left->session.diff(std::string(leftEnd), right->session, std::string(rightEnd)));
    json::Writer writer;
    writer.beginObject();
    BOUGH_TRY(writeIds(writer, "common", left->session, diff.common));
    writer.member("sameEntries", diff.sameEntries);
    BOUGH_TRY(writeIds(writer, "left", left->session, diff.left));
    BOUGH_TRY(writeIds(writer, "right", right->session, diff.right));
    return returnText(writer.endObject().text(), json);
  });
}

}  // extern "C"
