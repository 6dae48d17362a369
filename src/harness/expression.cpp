#include "harness/expression.h"

#include "base/error.h"
#include "base/units.h"

namespace barchan {

Expression::Expression(const std::string& text, const Source& source)
    : text_(text), source_(source), root_(parse_operations(text, source)) {}

Value Expression::evaluate(const Scope& scope) const {
  return evaluate(root_, scope);
}

double Expression::number(const Scope& scope) const {
  const Value value = evaluate(scope);
  const double* number = std::get_if<double>(&value);
  if (!number) {
    reject_at(source_, "\"{}\" is a series over time, but a number is needed here", text_);
  }
  return *number;
}

Value Expression::evaluate(const Operation& operation, const Scope& scope) const {
  if (operation.kind == Operation::Kind::number) return operation.number;
  std::vector<Value> arguments;
  for (const Operation& argument : operation.arguments) {
    arguments.push_back(evaluate(argument, scope));
  }
  try {
    if (operation.kind == Operation::Kind::call)
      return call_function(operation.function, arguments);
    if (operation.name == Name{"pi"}) return kPi;
    return scope(operation.name);
  } catch (const Error& error) {
    const bool is_call = operation.kind == Operation::Kind::call;
    const std::string in = is_call ? "in " + operation.function + ": " : "";
    if (error.fault() == Fault::input) {
      reject_character(source_, text_, operation.at, in + error.what());
    }
    throw;
  }
}

void Expression::visit_names(const std::function<void(const Name&)>& check) const {
  visit(root_, check);
}

void Expression::visit(const Operation& operation,
                       const std::function<void(const Name&)>& check) const {
  for (const Operation& argument : operation.arguments) visit(argument, check);
  if (operation.kind != Operation::Kind::name || operation.name == Name{"pi"}) return;
  try {
    check(operation.name);
  } catch (const Error& error) {
    reject_character(source_, text_, operation.at, error.what());
  }
}

}  // namespace barchan
