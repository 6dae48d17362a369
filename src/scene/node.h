// A parsed TOML value that remembers where it stood, so that every complaint can name the place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace barchan {

// "column.toml:12:1", or "--set pbf.iterations=4" (line 0).
struct Source {
  std::string file;
  int line = 0;
  int column = 0;
  std::string text() const;
};

struct Node {
  enum class Kind { boolean, integer, number, text, list, table, other };
  struct Member;

  Kind kind = Kind::table;
  Source source;
  bool boolean = false;
  std::int64_t integer = 0;
  double number = 0.0;  // of an integer, too
  std::string text;
  std::vector<Node> items;
  std::vector<Member> members;  // in the order of the file

  bool is_number() const { return kind == Kind::integer || kind == Kind::number; }
  const Member* find(std::string_view key) const;
  Member* find(std::string_view key);
};

struct Node::Member {
  std::string key;
  Source source;  // of the key
  Node value;
};

// "a number", "a list of 2 values", "the text \"abc\"" ...: what was found, for messages.
std::string describe(const Node& node);

// The value as TOML on one line; reading it back gives the same bits.
std::string inline_toml(const Node& node);
std::string toml_string(std::string_view text);
std::string toml_number(double value);

// Parses a whole document. Faults are Errors (Fault::input) of the form file:line:column: message.
Node parse_toml(std::string_view text, const std::string& file);

// The text with control characters written as \u000A: keys and texts of a scene may hold any of
// them, a message is one line.
std::string one_line(std::string_view text);

template <class... Args>
[[noreturn]] void reject_at(const Source& source, fmt::format_string<Args...> text,
                            Args&&... args) {
  throw Error(Fault::input,
              one_line(source.text() + ": " + fmt::format(text, std::forward<Args>(args)...)));
}

}  // namespace barchan
