// Makes one request that an API accepts from the messages of a session, each in the dialect in which it was stored.
//
// Unlike in a conversion (convert.h), nothing has to come back from a request, so nothing is kept that the request does
// not need. What the target's own provider wrote is regrouped where its API requires that, and copied byte for byte
// otherwise.
#pragma once

#include <bough/convert.h>

#include <string>
#include <vector>

#include "message/model/history.h"
#include "message/model/report.h"

namespace bough::message {

struct Request {
  std::string system;    ///< The value of the request's own member; empty when there is none.
  std::string tools;     ///< The list; empty when there are no tools.
  std::string messages;  ///< The list.
  struct Part {
    std::size_t begin = 0;  ///< In `messages`.
    std::size_t end = 0;
    std::vector<std::int32_t> originals{};  ///< The originals that it came from, each once; empty when it was added.
    bool verbatim = false;
  };
  std::vector<Part> parts;  ///< One per planned message; some dialects write several values for a message.
};

Request writeRequest(History& history, Dialect target, const ConvertOptions& options, Reporter& reporter);

}  // namespace bough::message
