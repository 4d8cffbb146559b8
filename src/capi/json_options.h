// Options that are passed as one JSON object. Every member must be known and of the right type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capi/handles.h"

namespace bough::capi {

/// Reads options. Call read() for every member that the C function accepts, then outcome().
class JsonOptions {
 public:
  /// An absent text is an object without members. `text` must outlive this object.
  explicit JsonOptions(std::string_view text);

  void read(std::string_view name, std::string& value);
  void read(std::string_view name, std::optional<std::string>& value);
  void read(std::string_view name, bool& value);
  void read(std::string_view name, std::uint64_t& value);
  void read(std::string_view name, std::optional<std::uint64_t>& value);
  void read(std::string_view name, std::vector<std::string>& values);
  /// Reads the raw value, of any type.
  void readRaw(std::string_view name, std::optional<std::string>& value);

  /// Fails when a member is unknown or has the wrong type; the error names it.
  [[nodiscard]] Outcome outcome() const;

 private:
  struct Member {
    std::string name;
    std::string_view value;
    bool isKnown = false;
  };
  Member* find(std::string_view name);
  void setProblem(std::string_view name, std::string_view what);

  std::vector<Member> members_;
  std::string problem_;
};

}  // namespace bough::capi
