#include "agent/providers/curl_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace bough::agent {
namespace {

template <typename Function>
void find(void* library, const char* name, Function& function, bool& complete) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  complete = complete && function != nullptr;
}

Result<CurlLibrary> open() {
  void* const library = ::dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return fail(ErrorCode::Unsupported, fmt::format("libcurl cannot be opened: {}", ::dlerror()),
                "install Debian's libcurl4");
  }
  CurlLibrary curl;
  bool complete = true;
  find(library, "curl_global_init", curl.globalInit, complete);
  find(library, "curl_getdate", curl.getdate, complete);
  find(library, "curl_slist_append", curl.slistAppend, complete);
  find(library, "curl_slist_free_all", curl.slistFreeAll, complete);
  find(library, "curl_easy_init", curl.easyInit, complete);
  find(library, "curl_easy_cleanup", curl.easyCleanup, complete);
  find(library, "curl_easy_strerror", curl.easyStrerror, complete);
  find(library, "curl_easy_setopt", curl.easySetopt, complete);
  find(library, "curl_easy_getinfo", curl.easyGetinfo, complete);
  find(library, "curl_multi_init", curl.multiInit, complete);
  find(library, "curl_multi_cleanup", curl.multiCleanup, complete);
  find(library, "curl_multi_add_handle", curl.multiAddHandle, complete);
  find(library, "curl_multi_remove_handle", curl.multiRemoveHandle, complete);
  find(library, "curl_multi_perform", curl.multiPerform, complete);
  find(library, "curl_multi_info_read", curl.multiInfoRead, complete);
  find(library, "curl_multi_poll", curl.multiPoll, complete);
  if (!complete)
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
