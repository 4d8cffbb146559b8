// From the messages of a session, each in the dialect it was stored in, to one request that an API accepts.
//
// Unlike a conversion (convert.h) nothing has to come back from a request, so nothing is kept that must not be in it:
// what the target's own provider wrote is regrouped where its API demands it, and copied byte for byte where not.
#pragma once

#include <bough/convert.h>

#include <string>
#include <vector>

#include "message/model/history.h"
#include "message/model/report.h"

namespace bough::message {

struct Request {
  std::string system;    ///< The value of the request's own member; empty when there is none.
  std::string tools;     ///< The list; empty when there are none.
  std::string messages;  ///< The list.
  struct Part {
    std::size_t begin = 0;  ///< In `messages`.
    std::size_t end = 0;
    std::vector<std::int32_t> originals{};  ///< What it came from, once each; empty when it was added.
    bool verbatim = false;
  };
  std::vector<Part> parts;  ///< One a planned message; some dialects write several values for one.
};

Request writeRequest(History& history, Dialect target, const ConvertOptions& options, Reporter& reporter);

}  // namespace bough::message
