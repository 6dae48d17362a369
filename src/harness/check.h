// One expectation of a case, and the verdict on a run: a number against a number, a series against
// a closed form or a published table, or a bound that nothing may pass.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/expression.h"
#include "harness/series.h"
#include "params/field.h"

namespace barchan {

// As the file has it: [[check]].
struct CheckParams {
  std::string name;
  std::string value, expected, at_least, at_most;  // expressions
  std::string tolerance;                           // an expression, relative where "%" follows
  std::string error = "auto";                      // of a series: how rows become one number
  std::string from, to;                            // expressions: the part that counts
  std::string time_unit = "1";                     // of a table's first column [s]
  double shift = 0.0;                              // free shift of a table, in its own time unit
};

struct Check {
  CheckParams params;
  Source source;
  Expression value;
  std::optional<Expression> expected, at_least, at_most, from, to, tolerance;
  bool is_relative = false;  // the tolerance is in percent
  Expression time_unit;
  std::vector<std::pair<double, double>> table;
};

// Reads one [[check]]; faults name file, line and column.
Check read_check(const Node& node);

struct Verdict {
  std::string name;
  bool passed = false;
  double measured = 0.0;
  std::string measured_text;  // "9.8102", "largest error 1.2e-05"
  std::string expected_text;  // "9.81 +- 0.0981", "at most 0"
  // Where the check is over time: what was measured and what was expected, for a plot.
  Series measured_series, expected_series;
  bool is_table = false;
};

// Whatever is not a number fails.
Verdict judge(const Check& check, const Expression::Scope& scope);

}  // namespace barchan
