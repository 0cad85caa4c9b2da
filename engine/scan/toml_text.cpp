#include "engine/scan/toml_text.h"

#include <algorithm>

#include "compute/error.h"

namespace echolux {
namespace {

constexpr int deepest = 16;

// Skips strings and comments, and counts the depth of brackets and dotted keys (a.b.c). It may overestimate; invalid
// TOML is reported by the parser.
class Nesting {
  public:
    explicit Nesting(std::string_view text) : text_(text) {}

    bool is_too_deep() {
        while (at_ < text_.size() && !too_deep_) step();
        return too_deep_;
    }

  private:
    void step() {
        const char c = text_[at_];
        if (c == '"' || c == '\'') return skip_text(c);
        if (c == '#') return skip_to("\n");
        ++at_;
        if (c == '[' || c == '{') deepen(brackets_);
        if (c == ']' || c == '}') brackets_ = std::max(0, brackets_ - 1);
        if (c == '.') deepen(dots_);
        if (std::string_view("=,[]{}\n").find(c) != std::string_view::npos) dots_ = 0;
    }

    void deepen(int& count) { too_deep_ = ++count > deepest; }

    void skip_to(std::string_view end) { at_ = std::min(text_.find(end, at_), text_.size()); }

    // Skips "...", '...' and their multi-line forms with three quotes.
    void skip_text(char quote) {
        const std::string three(3, quote);
        const bool is_long = text_.substr(at_, 3) == three;
        const std::string_view end = is_long ? std::string_view(three) : std::string_view(three).substr(0, 1);
        at_ += end.size();
        while (at_ < text_.size() && text_.substr(at_, end.size()) != end) {
            if (!is_long && text_[at_] == '\n') return;  // unterminated
            at_ += quote == '"' && text_[at_] == '\\' ? 2 : 1;
        }
        at_ = std::min(at_ + end.size(), text_.size());
        if (is_long) skip_quotes_before_the_end(quote);
    }

    // A multi-line string may end with up to two additional quotes: """a quote: """".
    void skip_quotes_before_the_end(char quote) {
        for (int more = 0; more < 2 && at_ < text_.size() && text_[at_] == quote; ++more) ++at_;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    int brackets_ = 0, dots_ = 0;
    bool too_deep_ = false;
};

}  // namespace

toml::table parsed_toml(std::string_view text, const std::string& where) {
    if (Nesting(text).is_too_deep()) {
        throw Error(ErrorCode::bad_file, "is nested more than " + std::to_string(deepest) + " deep", where,
                    "the file must be TOML: [section], then key = value");
    }
    try {
        return toml::parse(text);
    } catch (const toml::parse_error& error) {
        const toml::source_position& at = error.source().begin;
        const std::string line =
            at.line == 0 ? "" : " line " + std::to_string(at.line) + " column " + std::to_string(at.column);
        throw Error(ErrorCode::bad_file, std::string(error.description()), where + line,
                    "the file must be TOML: [section], then key = value");
    }
}

}  // namespace echolux
