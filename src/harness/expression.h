// The small language in which cases say what is measured and what is expected:
//
//     max(body.ball.position_y) - g*t^2/2
//
// Values are numbers and series over time; docs/validation.md lists names and functions. An
// expression is read once and evaluated for each run.
#pragma once

#include <functional>
#include <string>

#include "harness/expression_parser.h"
#include "harness/functions.h"

namespace barchan {

class Expression {
 public:
  // Faults are Errors (Fault::input) that begin with `source` and name the character.
  Expression(const std::string& text, const Source& source);

  const std::string& text() const { return text_; }

  // What a name stands for. Rejects names that stand for nothing; the place of the name is put in
  // front of the message.
  using Scope = std::function<Value(const Name&)>;
  Value evaluate(const Scope& scope) const;
  // The same where only a number will do.
  double number(const Scope& scope) const;

  // Calls `check` with each name, so that misspelt ones are found before anything is simulated.
  void visit_names(const std::function<void(const Name&)>& check) const;

 private:
  Value evaluate(const Operation& operation, const Scope& scope) const;
  void visit(const Operation& operation, const std::function<void(const Name&)>& check) const;

  std::string text_;
  Source source_;
  Operation root_;
};

}  // namespace barchan
