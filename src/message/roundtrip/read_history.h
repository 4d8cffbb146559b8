// Reads a document into a history; with a way back, into the originals that the document was made from.
#pragma once

#include <bough/convert.h>

#include <string_view>

#include "message/model/history.h"
#include "message/model/report.h"

namespace bough::message {

/// Fails as convertHistory does. `document` and `wayBack` must outlive the history.
Result<void> readHistory(std::string_view document, Dialect from, const ConvertOptions& options, const WayBack* wayBack,
                         History& history, Reporter& reporter);

}  // namespace bough::message
