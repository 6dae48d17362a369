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

// toml++ 3.3 destroys nested tables recursively (and convert() walks them so), and a dotted key
// a.a.a.a... nests without limit: a small file could overflow the stack. So depth is checked before
// the text is parsed. The walk follows strings and comments as TOML has them; where the text is not
// TOML it may lose its way, but the parser stops there, too.
class DepthCheck {
 public:
  DepthCheck(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  void run() {
    int dots = 0;      // of the key, or of a value
    int brackets = 0;  // open here
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '.') {
        if (++dots > kMostDots) reject_here("this key has more than", kMostDots, "dots");
      } else if (c == '[' || c == '{') {
        if (++brackets > kMostBrackets) reject_here("brackets go more than", kMostBrackets, "deep");
        dots = 0;
      } else if (c == ']' || c == '}') {
        brackets = std::max(brackets - 1, 0);
        dots = 0;
      } else if (c == '=' || c == ',' || c == '\n') {
        dots = 0;
      } else if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        continue;
      } else if (c == '"' || c == '\'') {
        skip_string(c);
        continue;
      }
      ++at_;
    }
  }

 private:
  static constexpr int kMostDots = 16;
  static constexpr int kMostBrackets = 96;  // shapes take two a level, and go 32 deep

  void skip_string(char quote) {
    const std::string three(3, quote);
    const bool many_lines = text_.substr(at_, 3) == three;
    at_ += many_lines ? 3 : 1;
    while (at_ < text_.size()) {
      if (quote == '"' && text_[at_] == '\\') {
        at_ += 2;
      } else if (many_lines && text_.substr(at_, 3) == three) {
        at_ += 3;
        // Up to two quotes more belong to the text.
        while (at_ < text_.size() && text_[at_] == quote) ++at_;
        return;
      } else if (!many_lines && (text_[at_] == quote || text_[at_] == '\n')) {
        ++at_;
        return;
      } else {
        ++at_;
      }
    }
    at_ = text_.size();
  }

  [[noreturn]] void reject_here(const char* what, int most, const char* unit) const {
    const std::string_view before = text_.substr(0, at_);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t line_start = before.rfind('\n') + 1;  // 0 where there is none
    reject_at({file_, static_cast<int>(line), static_cast<int>(at_ - line_start) + 1},
              "{} {} {}", what, most, unit);
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
};

// What toml++ says of the two most frequent slips does not name them.
std::string_view hint_for(std::string_view description) {
  if (description.find("control characters") != std::string_view::npos) {
    return "; is a closing quote missing?";
  }
  if (description.find("could not determine value type") != std::string_view::npos) {
    return "; texts need quotes";
  }
  return "";
}

}  // namespace

Node parse_toml(std::string_view text, const std::string& file) {
  DepthCheck(text, file).run();
  try {
    return convert(toml::parse(text, file), file);
  } catch (const toml::parse_error& error) {
    const Source source = source_of(error.source(), file);
    reject_at(source, "not valid TOML: {}{}", error.description(), hint_for(error.description()));
  }
}

}  // namespace barchan
