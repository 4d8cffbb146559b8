#include <bough/bough.h>

#include <cstdio>
#include <utility>

// Arguments that are kept must not be temporaries.
template <typename Serializer>
concept MakesBackends = requires(Serializer&& serializer) {
  bough::makeMemoryBackend(std::forward<Serializer>(serializer));
  bough::makeFileBackend("folder", {}, std::forward<Serializer>(serializer));
};
static_assert(MakesBackends<bough::EntrySerializer&> && !MakesBackends<bough::EntrySerializer>);

int main(int, char** argv) {
  auto store = bough::SessionStore::open(argv[1]);
  if (!store) return 1;
  auto session = (*store)->createSession({.key = "main:cli:user"});
  if (!session) return 2;
  bough::Entry entry;
  entry.type = bough::entry_type::kMessage;
  entry.payload = R"({"dialect":"bough","message":{"role":"user","content":"Hello"}})";
  if (!(*store)->appendSessionEntries(session->sessionId, {entry})) return 3;
  auto entries = (*store)->loadSessionEntries(session->sessionId);
  if (!entries || entries->size() != 2) return 4;
  std::printf("%s\n", entries->back().payload.c_str());
  return 0;
}
