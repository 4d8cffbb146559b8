// Options that come as one JSON object: every member must be known and of the right kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capi/handles.h"

namespace bough::capi {

/// Take every member that the call knows, then ask for the outcome.
class JsonOptions {
 public:
  /// An absent text is an object without members. `text` must outlive this.
  explicit JsonOptions(std::string_view text);

  void take(std::string_view name, std::string& value);
  void take(std::string_view name, std::optional<std::string>& value);
  void take(std::string_view name, bool& value);
  void take(std::string_view name, std::uint64_t& value);
  void take(std::string_view name, std::optional<std::uint64_t>& value);
  void take(std::string_view name, std::vector<std::string>& values);
  /// The raw value, whatever it is.
  void takeRaw(std::string_view name, std::optional<std::string>& value);

  /// Says which member is unknown or wrong, if one is.
  [[nodiscard]] Outcome outcome() const;

 private:
  struct Member {
    std::string name;
    std::string_view value;
    bool taken = false;
  };
  Member* find(std::string_view name);
  void refuseMember(std::string_view name, std::string_view what);

  std::vector<Member> members_;
  std::string problem_;
};

}  // namespace bough::capi
