// Tool definitions of a request: a name, a description and a schema in four spellings.
#pragma once

#include "message/dialect/writers.h"
#include "message/model/history.h"
#include "message/model/report.h"

namespace bough::message {

/// Appends one original a tool. Gemini groups functions in lists; each function is an original of its own.
void readTools(Dialect dialect, const json::Tree& tree, json::Tree::Index list, History& history);

/// Reads an original that is one tool already.
void readTool(Original& original, History& history);

/// The value of the request's `tools`; empty when there are none to write.
std::string writeTools(Dialect target, History& history, Records& records, Reporter& reporter);

}  // namespace bough::message
