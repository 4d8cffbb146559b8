// libcurl, loaded with the first request. With the thirty libraries that it needs, it would make the start of every
// command three times as long, and only `chat` talks to anybody.
//
// The functions of libcurl that http.cpp calls are defined here and passed on. A system without libcurl gets the same
// treatment as from the linker: a message, and the end.

#include <curl/curl.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>

#undef curl_easy_setopt
#undef curl_easy_getinfo

// libcurl's own declarations put an enumeration before the variable arguments; it stays what it is when it is passed.
#pragma GCC diagnostic ignored "-Wvarargs"

namespace {

void* library() {
  static void* const kHandle = ::dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (kHandle == nullptr) {
    std::fprintf(stderr, "bough: %s\n  → install Debian's libcurl4\n", ::dlerror());
    ::_exit(1);
  }
  return kHandle;
}

template <typename Function>
Function* find(const char* name) {
  void* const found = ::dlsym(library(), name);
  if (found == nullptr) {
    std::fprintf(stderr, "bough: %s\n  → install a newer libcurl4\n", ::dlerror());
    ::_exit(1);
  }
  return reinterpret_cast<Function*>(found);
}

}  // namespace

extern "C" {

CURLcode curl_global_init(long flags) {
  return find<decltype(curl_global_init)>("curl_global_init")(flags);
}

time_t curl_getdate(const char* text, const time_t* unused) {
  return find<decltype(curl_getdate)>("curl_getdate")(text, unused);
}

curl_slist* curl_slist_append(curl_slist* list, const char* text) {
  return find<decltype(curl_slist_append)>("curl_slist_append")(list, text);
}

void curl_slist_free_all(curl_slist* list) {
  find<decltype(curl_slist_free_all)>("curl_slist_free_all")(list);
}

CURL* curl_easy_init() {
  return find<decltype(curl_easy_init)>("curl_easy_init")();
}

void curl_easy_cleanup(CURL* handle) {
  find<decltype(curl_easy_cleanup)>("curl_easy_cleanup")(handle);
}

const char* curl_easy_strerror(CURLcode code) {
  return find<decltype(curl_easy_strerror)>("curl_easy_strerror")(code);
}

// The number of an option says what its value is.
CURLcode curl_easy_setopt(CURL* handle, CURLoption option, ...) {
  static auto* const kSet = find<decltype(curl_easy_setopt)>("curl_easy_setopt");
  va_list values;
  va_start(values, option);
  CURLcode code = CURLE_OK;
  // NOLINTNEXTLINE(bugprone-branch-clone): the types differ
  if (option < CURLOPTTYPE_OBJECTPOINT) {
    code = kSet(handle, option, va_arg(values, long));
  } else if (option >= CURLOPTTYPE_OFF_T && option < CURLOPTTYPE_BLOB) {
    code = kSet(handle, option, va_arg(values, curl_off_t));
  } else {
    code = kSet(handle, option, va_arg(values, void*));
  }
  va_end(values);
  return code;
}

CURLcode curl_easy_getinfo(CURL* handle, CURLINFO info, ...) {
  va_list values;
  va_start(values, info);
  const CURLcode code = find<decltype(curl_easy_getinfo)>("curl_easy_getinfo")(handle, info, va_arg(values, void*));
  va_end(values);
  return code;
}

CURLM* curl_multi_init() {
  return find<decltype(curl_multi_init)>("curl_multi_init")();
}

CURLMcode curl_multi_cleanup(CURLM* multi) {
  return find<decltype(curl_multi_cleanup)>("curl_multi_cleanup")(multi);
}

CURLMcode curl_multi_add_handle(CURLM* multi, CURL* handle) {
  return find<decltype(curl_multi_add_handle)>("curl_multi_add_handle")(multi, handle);
}

CURLMcode curl_multi_remove_handle(CURLM* multi, CURL* handle) {
  return find<decltype(curl_multi_remove_handle)>("curl_multi_remove_handle")(multi, handle);
}

CURLMcode curl_multi_perform(CURLM* multi, int* running) {
  return find<decltype(curl_multi_perform)>("curl_multi_perform")(multi, running);
}

CURLMsg* curl_multi_info_read(CURLM* multi, int* left) {
  return find<decltype(curl_multi_info_read)>("curl_multi_info_read")(multi, left);
}

CURLMcode curl_multi_poll(CURLM* multi, curl_waitfd* more, unsigned count, int timeoutMs, int* ready) {
  return find<decltype(curl_multi_poll)>("curl_multi_poll")(multi, more, count, timeoutMs, ready);
}

}  // extern "C"
