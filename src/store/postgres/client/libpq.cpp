#include "store/postgres/client/libpq.h"

#include <dlfcn.h>

#include <string>

#include "base/check.h"

namespace bough::postgres {
namespace {

struct Loaded {
  Libpq functions;
  std::string problem;
};

Loaded load() {
  Loaded loaded;
  void* const library = ::dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    loaded.problem = ::dlerror();
    return loaded;
  }
#define BOUGH_LIBPQ_FIND(name)                                                                        \
  loaded.functions.name = reinterpret_cast<decltype(loaded.functions.name)>(::dlsym(library, #name)); \
  if (loaded.functions.name == nullptr) loaded.problem = "libpq.so.5 has no " #name;
  BOUGH_LIBPQ_FUNCTIONS(BOUGH_LIBPQ_FIND)
#undef BOUGH_LIBPQ_FIND
  return loaded;
}

const Loaded& loaded() {
  static const Loaded kLoaded = load();
  return kLoaded;
}

}  // namespace

Result<const Libpq*> loadLibpq() {
  if (loaded().problem.empty()) return &loaded().functions;
  return fail(ErrorCode::Unsupported, "PostgreSQL's client library cannot be used: " + loaded().problem,
              "install Debian's libpq5, version 14 or newer");
}

const Libpq& libpq() {
  return loaded().functions;
}

}  // namespace bough::postgres
