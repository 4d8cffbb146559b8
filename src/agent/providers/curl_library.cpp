#include "agent/providers/curl_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace bough::agent {
namespace {

template <typename Function>
void find(void* library, const char* name, Function& function, bool& foundAll) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  foundAll = foundAll && function != nullptr;
}

Result<CurlLibrary> open() {
  void* const library = ::dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return fail(ErrorCode::Unsupported, fmt::format("libcurl cannot be opened: {}", ::dlerror()),
                "install Debian's libcurl4");
  }
  CurlLibrary curl;
  bool foundAll = true;
  find(library, "curl_global_init", curl.globalInit, foundAll);
  find(library, "curl_getdate", curl.getdate, foundAll);
  find(library, "curl_slist_append", curl.slistAppend, foundAll);
  find(library, "curl_slist_free_all", curl.slistFreeAll, foundAll);
  find(library, "curl_easy_init", curl.easyInit, foundAll);
  find(library, "curl_easy_cleanup", curl.easyCleanup, foundAll);
  find(library, "curl_easy_strerror", curl.easyStrerror, foundAll);
  find(library, "curl_easy_setopt", curl.easySetopt, foundAll);
  find(library, "curl_easy_getinfo", curl.easyGetinfo, foundAll);
  find(library, "curl_multi_init", curl.multiInit, foundAll);
  find(library, "curl_multi_cleanup", curl.multiCleanup, foundAll);
  find(library, "curl_multi_add_handle", curl.multiAddHandle, foundAll);
  find(library, "curl_multi_remove_handle", curl.multiRemoveHandle, foundAll);
  find(library, "curl_multi_perform", curl.multiPerform, foundAll);
  find(library, "curl_multi_info_read", curl.multiInfoRead, foundAll);
  find(library, "curl_multi_poll", curl.multiPoll, foundAll);
  if (!foundAll)
    return fail(ErrorCode::Unsupported, "the installed libcurl is too old", "install libcurl 7.85 or newer");
  if (curl.globalInit(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    return fail(ErrorCode::Unsupported, "libcurl cannot be used: it does not start");
  }
  return curl;
}

}  // namespace

Result<const CurlLibrary*> curlLibrary() {
  static const Result<CurlLibrary> kLibrary = open();
  if (!kLibrary) return std::unexpected(kLibrary.error());
  return &*kLibrary;
}

}  // namespace bough::agent
