// The objects of the handles in bough_c.h, and the conversion at the C boundary: arguments in, results out, and every
// error and exception turned into a code.
//
// A handle is a number in a table, so a closed or foreign handle is detected and nothing is read through it. A call
// works on a shared copy of the object; when another thread closes the handle meanwhile, only the table entry is
// removed.
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

/// The base of everything that has a handle.
class Object {
 public:
  virtual ~Object() = default;
  /// Returns true when fork(2) interrupted a call on another thread that was changing this object. In the child the
  /// object is then neither used nor destroyed.
  [[nodiscard]] virtual bool isInterruptedByFork() const { return false; }
};

/// Adds an object and returns its handle. A handle is never reused within a process.
void* addObject(std::shared_ptr<Object> object);
/// Returns the object of a handle; null when there is no such handle.
std::shared_ptr<Object> findObject(const void* handle);
/// Removes a handle from the table and returns its object; null when there is no such handle.
std::shared_ptr<Object> removeObject(const void* handle);

/// The reason why a call failed.
struct Failure {
  std::int32_t code = BOUGH_INTERNAL;
  Error error;

  Failure(Error from);  // NOLINT(google-explicit-constructor): lets BOUGH_TRY pass on errors of the library
  Failure(std::int32_t number, std::string_view message);
};

using Outcome = std::expected<void, Failure>;
template <typename T>
using CallResult = std::expected<T, Failure>;

inline std::unexpected<Failure> refuse(std::string_view message) {
  return std::unexpected(Failure(BOUGH_INVALID_ARGUMENT, message));
}

/// Stores the failure of a handle's call on this thread for bough_error, until the next call. Returns the code.
std::int32_t saveError(const void* handle, Failure failure) noexcept;
std::int32_t saveErrorCode(const void* handle, std::int32_t code) noexcept;
void clearError(const void* handle) noexcept;

/// Runs a call and turns exceptions into codes, so that nothing is thrown across the C boundary.
template <typename Body>
std::int32_t runCall(const void* handle, Body body) noexcept {
  clearError(handle);
  try {
    Outcome outcome = body();
    return outcome ? BOUGH_OK : saveError(handle, std::move(outcome).error());
  } catch (const std::bad_alloc&) {
    return saveErrorCode(handle, BOUGH_NO_MEMORY);
  } catch (...) {
    return saveErrorCode(handle, BOUGH_INTERNAL);
  }
}

/// Returns the object of a handle if it has the expected kind.
template <typename Kind>
CallResult<std::shared_ptr<Kind>> objectOf(const void* handle) {
  auto object = std::dynamic_pointer_cast<Kind>(findObject(handle));
  if (!object) return std::unexpected(Failure(BOUGH_BAD_HANDLE, "the handle is closed, or is not one of this kind"));
  return object;
}

/// Runs a call on the object of its handle.
template <typename Kind, typename Body>
std::int32_t runCallOn(const void* handle, Body body) noexcept {
  return runCall(handle, [&]() -> Outcome {
    BOUGH_TRY(const auto object, objectOf<Kind>(handle));
    return body(object);
  });
}

/// Returns a text that must be present.
CallResult<std::string_view> requiredText(bough_text text, std::string_view name);
/// Returns a text that may be absent; empty then.
CallResult<std::string_view> optionalText(bough_text text, std::string_view name);

/// Refuses a null pointer for a result. Call it before anything is changed.
Outcome requireOutParameter(const void* out);

/// Passes a copy of a text to the caller, who frees it. Refuses a null pointer.
Outcome returnText(std::string_view text, bough_text* out);

/// A result text whose memory is allocated before the call changes anything. So a call that changed something cannot
/// fail to return its result.
class ResultText {
 public:
  /// `maxBytes`: the greatest length of the text.
  explicit ResultText(std::size_t maxBytes);

  /// Returns the text; writing up to the greatest length allocates nothing.
  [[nodiscard]] std::string& text() { return text_; }
  /// Passes the text to the caller. Cannot fail unless the text exceeds the greatest length. `out` must not be null.
  void moveTo(bough_text* out);

 private:
  struct Free {
    void operator()(char* bytes) const;
  };

  std::string text_;
  std::unique_ptr<char, Free> bytes_;
  std::size_t maxBytes_;
};

/// Enough for a JSON object with a few numbers.
inline constexpr std::size_t kNumbersBytes = 512;

/// Passes an object to the caller as a new handle.
template <typename Handle>
Outcome returnObject(std::shared_ptr<Object> object, Handle** out) {
  BOUGH_TRY(requireOutParameter(out));
  *out = static_cast<Handle*>(addObject(std::move(object)));
  return {};
}

/// Reads a struct of options that may be shorter than the current one, because an older program was compiled with it.
/// Refuses a size that no header ever had, because it could cut a pointer or a number in two.
template <typename Options>
CallResult<Options> completeOptions(const Options* options, void (*init)(Options*, std::uint32_t)) {
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

/// Sets the default options, up to the size of the caller's struct.
template <typename Options>
void initOptions(Options* options, std::uint32_t structSize, const Options& defaults) {
  if (options == nullptr || structSize < sizeof(std::uint32_t)) return;
  const std::uint32_t size = structSize < sizeof defaults ? structSize : std::uint32_t{sizeof defaults};
  const char* from = reinterpret_cast<const char*>(&defaults);
  std::copy(from, from + size, reinterpret_cast<char*>(options));
  options->struct_size = size;
}

}  // namespace bough::capi
