// Tool definitions of a request: a name, a description and a schema in four forms.
#pragma once

#include "message/dialect/writers.h"
#include "message/model/history.h"
#include "message/model/report.h"

namespace bough::message {

/// Appends one original per tool. Gemini groups functions in lists; each function becomes an original.
void readTools(Dialect dialect, const json::Tree& tree, json::Tree::Index list, History& history);

/// Reads an original that already is a single tool.
void readTool(Original& original, History& history);

/// Returns the value of the request's `tools`; empty when there are none to write.
std::string writeTools(Dialect target, History& history, Records& records, Reporter& reporter);

}  // namespace bough::message
