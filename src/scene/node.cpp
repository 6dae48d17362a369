#include "scene/node.h"

#include <algorithm>
#include <cmath>

namespace barchan {

std::string Source::text() const {
  return line > 0 ? fmt::format("{}:{}:{}", file, line, column) : file;
}

const Node::Member* Node::find(std::string_view key) const {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const Member& member) { return member.key == key; });
  return found == members.end() ? nullptr : &*found;
}

Node::Member* Node::find(std::string_view key) {
  return const_cast<Member*>(std::as_const(*this).find(key));
}

namespace {

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

std::string escaped(char c) {
  return fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
}

// At most `most` bytes, without half a character at the end (UTF-8: 10xxxxxx goes on).
std::string beginning(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  return text.substr(0, most);
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_control(c)) {
      out += escaped(c);
    } else {
      out += c;
    }
  }
  return out;
}

std::string describe(const Node& node) {
  constexpr std::size_t kLongest = 40;
  switch (node.kind) {
    case Node::Kind::boolean:
      return node.boolean ? "true" : "false";
    case Node::Kind::integer:
    case Node::Kind::number:
      return "the number " + inline_toml(node);
    case Node::Kind::text:
      return "the text " + toml_string(beginning(node.text, kLongest)) +
             (node.text.size() > kLongest ? "..." : "");
    case Node::Kind::list:
      if (node.items.empty()) return "an empty list";
      return fmt::format("a list of {} value{}", node.items.size(),
                         node.items.size() == 1 ? "" : "s");
    case Node::Kind::table:
      return "a table";
    case Node::Kind::other:
      return "a date or time";
  }
  return "something else";
}

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (is_control(c)) {
      out += escaped(c);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string toml_number(double value) {
  std::string text = fmt::format("{}", value);  // shortest form that reads back to the same bits
  if (text.find_first_of(".einf") == std::string::npos) text += ".0";
  return text;
}

std::string inline_toml(const Node& node) {
  switch (node.kind) {
    case Node::Kind::boolean:
      return node.boolean ? "true" : "false";
    case Node::Kind::integer:
      return std::to_string(node.integer);
    case Node::Kind::number:
      return toml_number(node.number);
    case Node::Kind::text:
      return toml_string(node.text);
    case Node::Kind::other:
      return "\"\"";
    case Node::Kind::list: {
      std::string out = "[";
      for (std::size_t i = 0; i < node.items.size(); ++i) {
        out += (i ? ", " : "") + inline_toml(node.items[i]);
      }
      return out + "]";
    }
    case Node::Kind::table: {
      std::string out = "{ ";
      for (std::size_t i = 0; i < node.members.size(); ++i) {
        out += (i ? ", " : "") + node.members[i].key + " = " + inline_toml(node.members[i].value);
      }
      return out + " }";
    }
  }
  return "";
}

}  // namespace barchan
