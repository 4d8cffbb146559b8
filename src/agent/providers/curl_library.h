// Loads libcurl with the first request. libcurl brings thirty other libraries; linking it would make every command that
// needs no network start three times as slowly.
#pragma once

#include <curl/curl.h>

#include "bough/error.h"

namespace bough::agent {

/// The functions of libcurl that bough calls, with libcurl's own types.
struct CurlLibrary {
  decltype(&curl_global_init) globalInit = nullptr;
  decltype(&curl_getdate) getdate = nullptr;
  decltype(&curl_slist_append) slistAppend = nullptr;
  decltype(&curl_slist_free_all) slistFreeAll = nullptr;
  decltype(&curl_easy_init) easyInit = nullptr;
  decltype(&curl_easy_cleanup) easyCleanup = nullptr;
  decltype(&curl_easy_strerror) easyStrerror = nullptr;
  decltype(&curl_easy_setopt) easySetopt = nullptr;
  decltype(&curl_easy_getinfo) easyGetinfo = nullptr;
  decltype(&curl_multi_init) multiInit = nullptr;
  decltype(&curl_multi_cleanup) multiCleanup = nullptr;
  decltype(&curl_multi_add_handle) multiAddHandle = nullptr;
  decltype(&curl_multi_remove_handle) multiRemoveHandle = nullptr;
  decltype(&curl_multi_perform) multiPerform = nullptr;
  decltype(&curl_multi_info_read) multiInfoRead = nullptr;
  decltype(&curl_multi_poll) multiPoll = nullptr;
};

/// Loads libcurl once and returns its functions. Fails with Unsupported when libcurl is missing or too old.
Result<const CurlLibrary*> curlLibrary();

}  // namespace bough::agent
