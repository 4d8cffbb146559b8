// The objects of the handles of bough_c.h, and how a call crosses the border: arguments in, results out, every
// error and exception turned into a code.
//
// A handle is a number in a table, so a closed or foreign handle is found out and nothing is read through it. A call
// works on a shared copy of the object: closing it meanwhile on another thread takes only the number away.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "base/try.h"
#include "bough/bough_c.h"
#include "bough/error.h"

namespace bough::capi {

/// Something that has a handle.
class Object {
 public:
  virtual ~Object() = default;
  /// Whether fork(2) cut a call that was changing it on another thread: then it is left as it is, and not destroyed.
  [[nodiscard]] virtual bool cutByFork() const { return false; }
};

/// Makes a handle. Never the same one twice in a process.
void* addObject(std::shared_ptr<Object> object);
/// Null when there is no such handle.
std::shared_ptr<Object> findObject(const void* handle);
/// Takes the number away; null when there is no such handle.
std::shared_ptr<Object> removeObject(const void* handle);

/// Why a call failed.
struct Failure {
  std::int32_t code = BOUGH_INTERNAL;
  Error error;

  Failure(Error from);  // NOLINT(google-explicit-constructor): so that BOUGH_TRY passes a library's error on
  Failure(std::int32_t number, std::string_view message);
};

using Outcome = std::expected<void, Failure>;
template <typename T>
using Given = std::expected<T, Failure>;

inline std::unexpected<Failure> refuse(std::string_view message) {
  return std::unexpected(Failure(BOUGH_INVALID_ARGUMENT, message));
}

/// Remembers how a handle's call on this thread failed, for bough_error, until its next one. Returns the code.
std::int32_t remember(const void* handle, Failure failure) noexcept;
std::int32_t rememberPlain(const void* handle, std::int32_t code) noexcept;
void forgetError(const void* handle) noexcept;

/// Runs a call: nothing is thrown across the border.
template <typename Body>
std::int32_t guarded(const void* handle, Body body) noexcept {
  forgetError(handle);
  try {
    Outcome outcome = body();
    return outcome ? BOUGH_OK : remember(handle, std::move(outcome).error());
  } catch (const std::bad_alloc&) {
    return rememberPlain(handle, BOUGH_NO_MEMORY);
  } catch (...) {
    return rememberPlain(handle, BOUGH_INTERNAL);
  }
}

/// The object of a handle, if it is of that kind.
template <typename Kind>
Given<std::shared_ptr<Kind>> objectOf(const void* handle) {
  auto object = std::dynamic_pointer_cast<Kind>(findObject(handle));
  if (!object) return std::unexpected(Failure(BOUGH_BAD_HANDLE, "the handle is closed, or is not one of this kind"));
  return object;
}

/// Runs a call on the object of its handle.
template <typename Kind, typename Body>
std::int32_t guardedOn(const void* handle, Body body) noexcept {
  return guarded(handle, [&]() -> Outcome {
    BOUGH_TRY(const auto object, objectOf<Kind>(handle));
    return body(object);
  });
}

/// A text that must be there.
Given<std::string_view> given(bough_text text, std::string_view name);
/// A text that may be absent: empty then.
Given<std::string_view> givenOr(bough_text text, std::string_view name);

/// Refuses a null place for a result. Asked before a call changes anything.
Outcome needPlace(const void* out);

/// Hands a text to the caller, who frees it. Refuses a null place.
Outcome give(std::string_view text, bough_text* out);

/// A text for the caller with the memory for it, taken before a call changes anything: so that what was changed is also
/// answered.
class Answer {
 public:
  /// `mostBytes`: as long as it can be.
  explicit Answer(std::size_t mostBytes);

  /// Writes up to that length need no memory.
  [[nodiscard]] std::string& text() { return text_; }
  /// Cannot fail unless the text is longer than was said. `out` is a place.
  void give(bough_text* out);

 private:
  struct Free {
    void operator()(char* bytes) const;
  };

  std::string text_;
  std::unique_ptr<char, Free> bytes_;
  std::size_t mostBytes_;
};

/// Room for an object of a few numbers.
inline constexpr std::size_t kNumbersBytes = 512;

/// Hands an object to the caller.
template <typename Handle>
Outcome giveObject(std::shared_ptr<Object> object, Handle** out) {
  BOUGH_TRY(needPlace(out));
  *out = static_cast<Handle*>(addObject(std::move(object)));
  return {};
}

/// Reads a struct of options that may be shorter than ours, as an older program has it. A size that no header ever gave
/// it could cut a pointer or a size in two.
template <typename Options>
Given<Options> givenOptions(const Options* options, void (*init)(Options*, std::uint32_t)) {
  Options whole;
  init(&whole, sizeof whole);
  if (options == nullptr) return whole;
  const std::uint32_t size = options->struct_size;
  if (size == 0 || size > sizeof whole || size % alignof(Options) != 0) {
    return refuse("struct_size is not that of these options; call their init function first");
  }
  const char* from = reinterpret_cast<const char*>(options);
  std::copy(from, from + size, reinterpret_cast<char*>(&whole));
  return whole;
}

/// Fills in the defaults of options, as far as the caller's struct reaches.
template <typename Options>
void initOptions(Options* options, std::uint32_t structSize, const Options& defaults) {
  if (options == nullptr || structSize < sizeof(std::uint32_t)) return;
  const std::uint32_t size = structSize < sizeof defaults ? structSize : std::uint32_t{sizeof defaults};
  const char* from = reinterpret_cast<const char*>(&defaults);
  std::copy(from, from + size, reinterpret_cast<char*>(options));
  options->struct_size = size;
}

}  // namespace bough::capi
