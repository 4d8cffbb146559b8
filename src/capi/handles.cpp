#include "capi/handles.h"

#include <pthread.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <unordered_map>

#include "bough/version.h"

namespace bough::capi {
namespace {

// All handles of the process. Never destroyed, because a program may close handles at any time, even at exit.
struct Table {
  std::shared_mutex mutex;
  std::unordered_map<std::uintptr_t, std::shared_ptr<Object>> objects;
  std::uintptr_t last = 0x1000;  // not a small number, which a wrong program is more likely to pass
};

Table& table() {
  static Table* const only = [] {
    auto* made = new Table;
    // fork(2) takes the lock first, so that the table is consistent in the child. The child gets a new lock, because
    // its only thread is not the thread that locked the old one.
    pthread_atfork([] { table().mutex.lock(); }, [] { table().mutex.unlock(); },
                   [] { new (&table().mutex) std::shared_mutex; });
    return made;
  }();
  return *only;
}

struct LastError {
  const void* handle = nullptr;
  std::int32_t code = BOUGH_OK;
  std::uint64_t number = 0;  // counts the failures of the thread
  Error error;
};

// The last failures of a thread's handles. A failure stays in its place until the next call with the handle, because
// the caller has borrowed its texts. A handle that is never used again would keep its failure forever, so the number of
// places is limited.
class LastErrors {
 public:
  LastError* find(const void* handle) noexcept {
    if (failing_ == 0) return nullptr;
    for (LastError& error : errors_) {
      if (error.code != BOUGH_OK && error.handle == handle) return &error;
    }
    return nullptr;
  }
  void forget(const void* handle) noexcept {
    LastError* const error = find(handle);
    if (error == nullptr) return;
    error->code = BOUGH_OK;
    --failing_;
  }
  /// Returns a free place, or the place of the oldest failure.
  LastError& add(const void* handle, std::int32_t code) noexcept {
    forget(handle);
    LastError* place = &errors_.front();
    for (LastError& error : errors_) {
      if (error.code == BOUGH_OK) {
        place = &error;
        break;
      }
      if (error.number < place->number) place = &error;
    }
    if (place->code == BOUGH_OK) ++failing_;
    place->handle = handle;
    place->code = code;
    place->number = ++count_;
    return *place;
  }

 private:
  std::array<LastError, 16> errors_;
  std::size_t failing_ = 0;
  std::uint64_t count_ = 0;
};

LastErrors& lastErrors() noexcept {
  thread_local LastErrors last;
  return last;
}

constexpr std::array kCodes = {
    std::pair{ErrorCode::InvalidArgument, BOUGH_INVALID_ARGUMENT},
    std::pair{ErrorCode::NotFound, BOUGH_NOT_FOUND},
    std::pair{ErrorCode::AlreadyExists, BOUGH_ALREADY_EXISTS},
    std::pair{ErrorCode::Conflict, BOUGH_CONFLICT},
    std::pair{ErrorCode::IdConflict, BOUGH_ID_CONFLICT},
    std::pair{ErrorCode::HasForks, BOUGH_HAS_FORKS},
    std::pair{ErrorCode::Damaged, BOUGH_DAMAGED},
    std::pair{ErrorCode::NewerFormat, BOUGH_NEWER_FORMAT},
    std::pair{ErrorCode::MigrationNeeded, BOUGH_MIGRATION_NEEDED},
    std::pair{ErrorCode::ReadOnly, BOUGH_READ_ONLY},
    std::pair{ErrorCode::NoSpace, BOUGH_NO_SPACE},
    std::pair{ErrorCode::Busy, BOUGH_BUSY},
    std::pair{ErrorCode::Poisoned, BOUGH_POISONED},
    std::pair{ErrorCode::Closed, BOUGH_CLOSED},
    std::pair{ErrorCode::Unsupported, BOUGH_UNSUPPORTED},
    std::pair{ErrorCode::Io, BOUGH_IO},
    std::pair{ErrorCode::Unavailable, BOUGH_UNAVAILABLE},
    std::pair{ErrorCode::Timeout, BOUGH_TIMEOUT},
    std::pair{ErrorCode::OutcomeUnknown, BOUGH_OUTCOME_UNKNOWN},
};

std::string_view fixedMessage(std::int32_t code) {
  return code == BOUGH_NO_MEMORY ? "memory ran out" : "an unexpected exception: a bug in bough";
}

bough_text viewOf(std::string_view text) {
  return {text.data() == nullptr ? "" : text.data(), text.size()};
}

}  // namespace

void* addObject(std::shared_ptr<Object> object) {
  Table& all = table();
  const std::unique_lock lock(all.mutex);
  const std::uintptr_t number = all.last + 1;
  all.objects.emplace(number, std::move(object));
  all.last = number;
  return reinterpret_cast<void*>(number);
}

std::shared_ptr<Object> findObject(const void* handle) {
  Table& all = table();
  const std::shared_lock lock(all.mutex);
  const auto found = all.objects.find(reinterpret_cast<std::uintptr_t>(handle));
  return found == all.objects.end() ? nullptr : found->second;
}

std::shared_ptr<Object> removeObject(const void* handle) {
  Table& all = table();
  const std::unique_lock lock(all.mutex);
  const auto found = all.objects.find(reinterpret_cast<std::uintptr_t>(handle));
  if (found == all.objects.end()) return nullptr;
  auto object = std::move(found->second);
  all.objects.erase(found);
  if (object->isInterruptedByFork()) new std::shared_ptr(object);  // never freed
  return object;
}

Failure::Failure(Error from) : error(std::move(from)) {
  for (const auto& [known, number] : kCodes) {
    if (known == error.code) code = number;
  }
}

Failure::Failure(std::int32_t number, std::string_view message) : code(number) {
  error.code = ErrorCode::InvalidArgument;
  error.message = message;
}

std::int32_t saveError(const void* handle, Failure failure) noexcept {
  lastErrors().add(handle, failure.code).error = std::move(failure.error);
  return failure.code;
}

std::int32_t saveErrorCode(const void* handle, std::int32_t code) noexcept {
  lastErrors().add(handle, code).error = Error{};
  return code;
}

void clearError(const void* handle) noexcept {
  lastErrors().forget(handle);
}

CallResult<std::string_view> requiredText(bough_text text, std::string_view name) {
  auto view = optionalText(text, name);
  if (view && text.data == nullptr) return refuse(std::string(name) + " is missing");
  return view;
}

CallResult<std::string_view> optionalText(bough_text text, std::string_view name) {
  if (text.data == nullptr && text.size > 0) return refuse(std::string(name) + " has a size but no bytes");
  constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 40;
  if (text.size > kMaxBytes) return refuse(std::string(name) + " is longer than any memory");
  return text.data == nullptr ? std::string_view() : std::string_view(text.data, text.size);
}

Outcome requireOutParameter(const void* out) {
  if (out == nullptr) return refuse("there is no place for the result");
  return {};
}

Outcome returnText(std::string_view text, bough_text* out) {
  BOUGH_TRY(requireOutParameter(out));
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.data() == nullptr ? "" : text.data(), text.size());
  copy[text.size()] = '\0';  // helps debuggers, and callers that expect a terminator
  *out = {copy, text.size()};
  return {};
}

ResultText::ResultText(std::size_t maxBytes)
    : bytes_(static_cast<char*>(std::malloc(maxBytes + 1))), maxBytes_(maxBytes) {
  if (bytes_ == nullptr) throw std::bad_alloc();
  text_.reserve(maxBytes);
}

void ResultText::moveTo(bough_text* out) {
  if (text_.size() > maxBytes_) bytes_ = ResultText(text_.size()).bytes_;
  std::memcpy(bytes_.get(), text_.c_str(), text_.size() + 1);
  *out = {bytes_.release(), text_.size()};
}

void ResultText::Free::operator()(char* bytes) const {
  std::free(bytes);
}

}  // namespace bough::capi

using namespace bough::capi;

extern "C" {

uint32_t bough_c_version(void) {
  return BOUGH_C_VERSION;
}

const char* bough_library_version(void) {
  return bough::kVersion;
}

const char* bough_code_name(int32_t code) {
  if (code == BOUGH_OK) return "ok";
  if (code == BOUGH_BAD_HANDLE) return "bad_handle";
  if (code == BOUGH_NO_MEMORY) return "no_memory";
  if (code == BOUGH_INTERNAL) return "internal";
  for (const auto& [known, number] : kCodes) {
    if (number == code) return bough::toString(known).data();  // literals, so they are terminated
  }
  return "unknown";
}

bough_text bough_text_of(const char* text) {
  return {text, text == nullptr ? 0 : std::strlen(text)};
}

void bough_free(bough_text text) {
  std::free(const_cast<char*>(text.data));
}

void bough_error(const void* handle, bough_error_info* out) {
  if (out == nullptr) return;
  *out = {BOUGH_OK, 0, viewOf(""), viewOf(""), viewOf(""), 0};
  const LastError* const found = lastErrors().find(handle);
  if (found == nullptr) return;
  const LastError& last = *found;
  const bool plain = last.code == BOUGH_NO_MEMORY || last.code == BOUGH_INTERNAL;
  out->code = last.code;
  out->retryable = last.error.retryable ? 1 : 0;
  out->message = viewOf(plain ? fixedMessage(last.code) : std::string_view(last.error.message));
  out->hint = viewOf(last.error.hint);
  out->tail = viewOf(last.error.actualTail);
  out->batch_place = last.error.batchPlace;
}

}  // extern "C"
