#include <fmt/format.h>

#include <algorithm>

#include "cli/views/markdown/blocks.h"
#include "cli/views/markdown/highlight.h"

namespace bough::cli {
namespace {

// Returns the CSS class of a Highlighter style.
std::string_view classOf(unsigned style) {
  if ((style & kKeyword) != 0) return "k";
  if ((style & kString) != 0) return "s";
  if ((style & kNumber) != 0) return "n";
  if ((style & kComment) != 0) return "c";
  if ((style & kAdded) != 0) return "a";
  if ((style & kRemoved) != 0) return "r";
  return {};
}

bool isSafeTarget(std::string_view target) {
  return target.starts_with("https://") || target.starts_with("http://") || target.starts_with("mailto:");
}

std::string htmlSpan(const Span& span) {
  std::string out = escapeHtml(span.text);
  const auto wrap = [&](unsigned style, std::string_view tag) {
    if ((span.style & style) != 0) out = fmt::format("<{0}>{1}</{0}>", tag, out);
  };
  wrap(kCodeSpan, "code");
  wrap(kBold, "strong");
  wrap(kItalic, "em");
  wrap(kStrike, "del");
  if (const std::string_view name = classOf(span.style); !name.empty()) {
    out = fmt::format("<span class=\"{}\">{}</span>", name, out);
  }
  if (span.target.empty()) return out;
  const std::string title = span.title.empty() ? "" : fmt::format(" title=\"{}\"", escapeHtml(span.title));
  if (!isSafeTarget(span.target)) return fmt::format("{} ({})", out, escapeHtml(span.target));
  return fmt::format("<a href=\"{}\"{} rel=\"noreferrer noopener\">{}</a>", escapeHtml(span.target), title, out);
}

std::string htmlSpans(const std::vector<Span>& spans) {
  std::string out;
  for (const Span& span : spans) out += htmlSpan(span);
  return out;
}

class HtmlMaker {
 public:
  void add(const MarkdownBlock& block) {
    setQuotes(block.quotes);
    if (block.kind == MarkdownBlock::Kind::Item) {
      item(block);
      return;
    }
    if (block.kind == MarkdownBlock::Kind::Blank) {
      endText();
      return;
    }
    const bool inItem = !lists_.empty() && block.indent > 0;
    if (!inItem) endLists();
    if (block.kind == MarkdownBlock::Kind::Line) {
      out_ += inItem || text_ ? "<br>\n" : "<p>";
      text_ = text_ || !inItem;
      out_ += htmlSpans(block.spans);
      return;
    }
    endText();
    switch (block.kind) {
      case MarkdownBlock::Kind::Heading:
        out_ += fmt::format("<h{0}>{1}</h{0}>\n", std::min<std::size_t>(block.level + 2, 6), htmlSpans(block.spans));
        break;
      case MarkdownBlock::Kind::Rule: out_ += "<hr>\n"; break;
      case MarkdownBlock::Kind::Code: code(block); break;
      case MarkdownBlock::Kind::Table: table(block); break;
      default: break;
    }
  }

  std::string take() {
    setQuotes(0);
    endLists();
    endText();
    return std::move(out_);
  }

 private:
  struct List {
    std::size_t indent;
    bool numbered;
  };

  void setQuotes(std::size_t quotes) {
    if (quotes == quotes_) return;
    endLists();
    endText();
    for (; quotes_ < quotes; ++quotes_) out_ += "<blockquote>\n";
    for (; quotes_ > quotes; --quotes_) out_ += "</blockquote>\n";
  }

  void endText() {
    if (text_) out_ += "</p>\n";
    text_ = false;
  }

  void endList() {
    out_ += lists_.back().numbered ? "</li></ol>\n" : "</li></ul>\n";
    lists_.pop_back();
  }

  void endLists() {
    while (!lists_.empty()) endList();
  }

  void item(const MarkdownBlock& block) {
    endText();
    constexpr std::size_t kDeepest = 20;
    while (!lists_.empty() && lists_.back().indent > block.indent) endList();
    if (lists_.empty() || (lists_.back().indent < block.indent && lists_.size() < kDeepest)) {
      const bool numbered = block.marker.ends_with('.') || block.marker.ends_with(')');
      lists_.push_back({block.indent, numbered});
      out_ += !numbered ? "<ul><li>"
                        : fmt::format("<ol start=\"{}\"><li>", block.marker.substr(0, block.marker.size() - 1));
    } else {
      out_ += "</li>\n<li>";
    }
    if (block.marker == "☐" || block.marker == "☑") out_ += block.marker + " ";
    out_ += htmlSpans(block.spans);
  }

  void code(const MarkdownBlock& block) {
    Highlighter highlighter(block.language);
    out_ += "<pre><code>";
    for (const std::string& line : block.lines) out_ += htmlSpans(highlighter.line(line)) + "\n";
    out_ += "</code></pre>\n";
  }

  void table(const MarkdownBlock& block) {
    out_ += "<table>\n";
    for (std::size_t r = 0; r < block.rows.size(); ++r) {
      out_ += "<tr>";
      for (std::size_t c = 0; c < block.rows[r].size(); ++c) {
        const char* align = block.aligns[c] == MarkdownBlock::Align::Right    ? " class=\"right\""
                            : block.aligns[c] == MarkdownBlock::Align::Center ? " class=\"center\""
                                                                              : "";
        out_ += fmt::format("<{0}{1}>{2}</{0}>", r == 0 ? "th" : "td", align, htmlSpans(block.rows[r][c]));
      }
      out_ += "</tr>\n";
    }
    out_ += "</table>\n";
  }

  std::string out_;
  std::vector<List> lists_;
  bool text_ = false;
  std::size_t quotes_ = 0;
};

}  // namespace

std::string escapeHtml(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string markdownAsHtml(std::string_view text) {
  HtmlMaker made;
  for (const MarkdownBlock& block : parseMarkdown(text)) made.add(block);
  return made.take();
}

}  // namespace bough::cli
