// Text to a tree of operations: the grammar of harness/expression.h.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "scene/node.h"

namespace barchan {

// "ledger.max_speed" is {"ledger", "max_speed"}.
using Name = std::vector<std::string>;
std::string joined(const Name& name);

struct Operation {
  enum class Kind { number, name, call };
  Kind kind = Kind::number;
  double number = 0.0;
  Name name;             // of a name
  std::string function;  // of a call; operators are calls, too: "+", "^", "negative" ...
  std::vector<Operation> arguments;
  std::size_t at = 0;  // the character where it begins, from 0
};

// "cases/fall.toml:12:9: character 5 of "max(t": ...".
[[noreturn]] void reject_character(const Source& source, const std::string& text, std::size_t at,
                                   const std::string& why);

//     sum     = product { ("+" | "-") product }
//     product = sign { ("*" | "/") sign }
//     sign    = "-" sign | power
//     power   = atom [ "^" sign ]                 so that -x^2 is -(x^2) and x^-2 is allowed
//     atom    = number | "(" sum ")" | name [ "(" sum { "," sum } ")" ]
//     name    = part { "." part }                 part: letters, digits, _; or anything in '...'
Operation parse_operations(const std::string& text, const Source& source);

}  // namespace barchan
