// The only file that knows toml++.
#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "scene/node.h"

namespace barchan {

namespace {

Source source_of(const toml::source_region& region, const std::string& file) {
  return {file, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

Node convert(const toml::node& from, const std::string& file) {
  Node node;
  node.source = source_of(from.source(), file);
  if (const auto* table = from.as_table()) {
    node.kind = Node::Kind::table;
    for (const auto& [key, value] : *table) {
      node.members.push_back(
          {std::string(key.str()), source_of(key.source(), file), convert(value, file)});
    }
    // toml++ keeps keys sorted by name; the order of the file is easier to follow in messages.
    std::stable_sort(node.members.begin(), node.members.end(),
                     [](const Node::Member& a, const Node::Member& b) {
                       return std::pair(a.source.line, a.source.column) <
                              std::pair(b.source.line, b.source.column);
                     });
  } else if (const auto* list = from.as_array()) {
    node.kind = Node::Kind::list;
    for (const auto& item : *list) node.items.push_back(convert(item, file));
  } else if (const auto* text = from.as_string()) {
    node.kind = Node::Kind::text;
    node.text = text->get();
  } else if (const auto* integer = from.as_integer()) {
    node.kind = Node::Kind::integer;
    node.integer = integer->get();
    node.number = static_cast<double>(node.integer);
  } else if (const auto* number = from.as_floating_point()) {
    node.kind = Node::Kind::number;
    node.number = number->get();
  } else if (const auto* boolean = from.as_boolean()) {
    node.kind = Node::Kind::boolean;
    node.boolean = boolean->get();
  } else {
    node.kind = Node::Kind::other;
  }
  return node;
}

// Turns down what toml++ 3.3 does not survive, before it sees the text:
// - It destroys nested tables recursively (and convert() walks them so), and a dotted key
// a.a.a.a...
//   nests without limit: a small file could overflow the stack.
// - It runs into undefined behaviour where it asks whether a character from U+00A1 to U+0499 is a
//   space: wherever one stands outside of texts and comments (which is not TOML anyway), and after
//   a backslash in a text of many lines.
// The walk follows texts and comments as TOML has them; where the document is not TOML it may lose
// its way, but the parser stops there, too.
class TextCheck {
 public:
  TextCheck(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  void run() {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;  // a byte order mark
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '"' || c == '\'') {
        skip_text(c);
      } else {
        check_depth(c);
        if (is_beyond_ascii()) {
          reject_here("not valid TOML: only ASCII may stand outside of quotes and comments");
        }
        ++at_;
      }
    }
  }

 private:
  void check_depth(char c) {
    constexpr int kMostDots = 16;
    constexpr int kMostBrackets = 96;  // shapes take two a level, and go 32 deep
    if (c == '.') {
      if (++dots_ > kMostDots) {
        reject_here(fmt::format("this key has more than {} dots", kMostDots));
      }
    } else if (c == '[' || c == '{') {
      if (++brackets_ > kMostBrackets) {
        reject_here(fmt::format("brackets go more than {} deep", kMostBrackets));
      }
    } else if (c == ']' || c == '}') {
      brackets_ = std::max(brackets_ - 1, 0);
    }
    if (std::string_view("[]{}=,\n").find(c) != std::string_view::npos) dots_ = 0;
  }

  void skip_text(char quote) {
    const std::string three(3, quote);
    const bool many_lines = text_.substr(at_, 3) == three;
    at_ += many_lines ? 3 : 1;
    while (at_ < text_.size()) {
      if (quote == '"' && text_[at_] == '\\') {
        skip_escape(many_lines);
      } else if (many_lines && text_.substr(at_, 3) == three) {
        // Up to two quotes more belong to the text.
        at_ = std::min(text_.find_first_not_of(quote, at_), text_.size());
        return;
      } else if (!many_lines && (text_[at_] == quote || text_[at_] == '\n')) {
        ++at_;
        return;
      } else {
        ++at_;
      }
    }
  }

  // In a text of many lines a backslash swallows all space up to the next character.
  void skip_escape(bool many_lines) {
    ++at_;
    if (many_lines) {
      const std::size_t next = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
      const bool swallowed = next > at_;
      at_ = next;
      if (at_ < text_.size() && is_beyond_ascii()) {
        reject_here("only ASCII may follow a backslash; put this character before it");
      }
      if (swallowed) return;
    }
    at_ = std::min(at_ + 1, text_.size());
  }

  bool is_beyond_ascii() const { return static_cast<unsigned char>(text_[at_]) >= 0x80; }

  [[noreturn]] void reject_here(const std::string& why) const {
    const std::string_view before = text_.substr(0, at_);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::string_view in_line = before.substr(before.rfind('\n') + 1);  // npos + 1 is 0
    // Columns count characters: in UTF-8, bytes 10xxxxxx go on with one.
    const auto column =
        std::count_if(in_line.begin(), in_line.end(), [](char c) { return (c & 0xc0) != 0x80; }) +
        1;
    reject_at({file_, static_cast<int>(line), static_cast<int>(column)}, "{}", why);
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  int dots_ = 0;      // of the key so far, or of a value
  int brackets_ = 0;  // open here
};

// What toml++ says of the two most frequent slips does not name them.
std::string_view hint_for(std::string_view description) {
  if (description.find("control characters") != std::string_view::npos) {
    return "; is a closing quote missing?";
  }
  if (description.find("could not determine value type") != std::string_view::npos) {
    return "; texts need quotes";
  }
  if (description.find("cannot redefine existing table") != std::string_view::npos) {
    return "; of fills, solids and other lists each begins with two brackets, as in [[fill]]";
  }
  if (description.find("whitespace, saw ','") != std::string_view::npos) {
    return "; numbers have a decimal point, and lists stand in brackets";
  }
  return "";
}

}  // namespace

Node parse_toml(std::string_view text, const std::string& file) {
  TextCheck(text, file).run();
  try {
    return convert(toml::parse(text, file), file);
  } catch (const toml::parse_error& error) {
    const Source source = source_of(error.source(), file);
    reject_at(source, "not valid TOML: {}{}", error.description(), hint_for(error.description()));
  }
}

}  // namespace barchan
