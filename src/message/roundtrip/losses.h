// Reports what is lost together with what was edited.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "message/model/history.h"
#include "message/model/report.h"

namespace bough::message {

/// For edited parts of a document, reports what the document did not hold, or held in another form.
class LossReporter {
 public:
  /// `document` is the dialect of the document.
  LossReporter(Dialect document, Reporter& reporter) : document_(document), reporter_(reporter) {}

  /// Sets the results that are marked as failed in the document.
  void setMarkedErrors(std::set<std::string> ids) { markedErrors_ = std::move(ids); }

  /// Reports the members of a message or a tool other than its blocks.
  void message(const Original& original) const;
  void block(const Original& original, const Block& block) const;

 private:
  void within(const Original& original, const Block& block, const Block* inside) const;
  void form(const Original& original, const Block& block, const Block* inside) const;
  void lost(const Original& original, const Block* block, std::string_view field) const;

  Dialect document_;
  std::set<std::string> markedErrors_;
  Reporter& reporter_;
};

}  // namespace bough::message
