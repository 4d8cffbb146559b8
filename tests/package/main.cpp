#include <bough/bough.h>

#include <cstdio>

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
