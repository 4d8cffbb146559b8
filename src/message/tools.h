// Tool definitions of a request: a name, a description and a schema in four spellings.
#pragma once

#include "message/history.h"
#include "message/report.h"
#include "message/writers.h"

namespace bough::message {

/// Appends one native a tool. Gemini groups functions in lists; each function is a native of its own.
void readTools(Dialect dialect, const json::Tree& tree, json::Tree::Index list, History& history);

/// Reads a native that is one tool already.
void readTool(Native& native, History& history);

/// The value of the request's `tools`; empty when there are none to write.
std::string writeTools(Dialect target, History& history, Records& records, Reporter& reporter);

}  // namespace bough::message
