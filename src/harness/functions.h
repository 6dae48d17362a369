// The functions and operators of the expression language (harness/expression.h).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "harness/series.h"

namespace barchan {

using Value = std::variant<double, Series>;

// "" where `function` is one that takes so many arguments; else what is wrong with the call.
std::string fault_of_call(const std::string& function, std::size_t arguments);

// Applies a function or an operator. Rejects arguments that it cannot take.
Value call_function(const std::string& function, std::span<const Value> arguments);

}  // namespace barchan
