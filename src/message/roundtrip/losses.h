// Names what does not come back with what was edited.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "message/model/history.h"
#include "message/model/report.h"

namespace bough::message {

/// Of what was edited in a document, names what the document did not hold, or held in another form.
class LossNamer {
 public:
  /// `document`: its dialect.
  LossNamer(Dialect document, Reporter& reporter) : document_(document), reporter_(reporter) {}

  /// The results that the document says have failed.
  void setMarkedErrors(std::set<std::string> ids) { markedErrors_ = std::move(ids); }

  /// What a message, or a tool, has beside its blocks.
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
