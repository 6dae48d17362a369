#include "harness/check.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "scene/field_reader.h"

namespace barchan {

template <>
const ParamTable& table_of<CheckParams>() {
  using P = CheckParams;
  static const ParamTable table{
      "[check]",
      "What a run must meet.",
      {
          text("name", &P::name, "For the table of results."),
          expression("value", &P::value, "What is measured."),
          optional(expression("expected", &P::expected, "What it should be.")),
          optional(expression("at_least", &P::at_least, "What it may not fall below.")),
          optional(expression("at_most", &P::at_most, "What it may not exceed.")),
          special("table", ParamKind::nested, "Published rows [[time, value], ..]."),
          optional(expression("tolerance", &P::tolerance,
                              "Largest error: absolute, or \"5 %\" of what is expected.")),
          choice("error", &P::error, {"auto", "largest", "rms"},
                 "Of a series: the largest error (auto) or their rms (auto with a table)."),
          optional(expression("from", &P::from, "Where the part that counts begins.")),
          optional(expression("to", &P::to, "Where it ends.")),
          expression("time_unit", &P::time_unit, "Of the table's times [s]."),
          number("shift", &P::shift, "", at_least(0),
                 "By how much the table may be moved in time, in its own unit."),
      }};
  return table;
}

namespace {

double difference(double a, double b) {
  return a - b;
}

Expression expression_at(const Node& node, const char* key, const std::string& text) {
  const Node::Member* member = node.find(key);
  return Expression(text, member ? member->value.source : node.source);
}

std::optional<Expression> optional_at(const Node& node, const char* key, const std::string& text) {
  if (text.empty()) return std::nullopt;
  return expression_at(node, key, text);
}

std::vector<std::pair<double, double>> read_table(const Node& node) {
  std::vector<std::pair<double, double>> rows;
  if (node.kind != Node::Kind::list || node.items.empty()) {
    reject_at(node.source, "'table' must be a list of rows [time, value], not {}", describe(node));
  }
  for (const Node& row : node.items) {
    if (row.kind != Node::Kind::list || row.items.size() != 2) {
      reject_at(row.source, "a row of 'table' must be [time, value], not {}", describe(row));
    }
    rows.emplace_back(read_number(row.items[0], "a time of 'table'"),
                      read_number(row.items[1], "a value of 'table'"));
  }
  return rows;
}

// What a check expects must be said once, and how near is near enough.
void check_whole(const Check& check) {
  const bool has_bound = check.at_least || check.at_most;
  const int ways = (check.expected ? 1 : 0) + (check.table.empty() ? 0 : 1) + (has_bound ? 1 : 0);
  if (ways != 1) {
    reject_at(check.source,
              "[[check]] '{}' needs one of: expected, table, or the bounds at_least and at_most",
              check.params.name);
  }
  if (!has_bound && !check.tolerance) {
    reject_at(check.source, "[[check]] '{}' needs a tolerance, such as 0.01 or \"2 %\"",
              check.params.name);
  }
  if (has_bound && check.tolerance) {
    reject_at(check.source, "[[check]] '{}': a bound has no tolerance", check.params.name);
  }
}

// ---- The verdict

struct Limit {
  double size;  // what the error may be
  std::string in_words;
};

Limit limit_of(const Check& check, const Expression::Scope& scope, double reference) {
  const double given = check.tolerance->number(scope);
  if (!check.is_relative) return {given, fmt::format("{:.4g}", given)};
  return {given / 100.0 * std::abs(reference), fmt::format("{:.4g} %", given)};
}

Series window(const Check& check, const Expression::Scope& scope, const Series& series) {
  return within(series, check.from ? check.from->number(scope) : -HUGE_VAL,
                check.to ? check.to->number(scope) : HUGE_VAL);
}

void compare_numbers(const Check& check, const Expression::Scope& scope, double measured,
                     double expected, Verdict& verdict) {
  const Limit limit = limit_of(check, scope, expected);
  verdict.measured = measured;
  verdict.measured_text = fmt::format("{:.6g}", measured);
  verdict.expected_text = fmt::format("{:.6g} +- {}", expected, limit.in_words);
  verdict.passed = std::abs(measured - expected) <= limit.size;
}

// At each of the table's rows; a row that the run does not reach is an error without a number.
Series table_error(const Series& measured, const Series& table) {
  Series error = table;
  for (std::size_t i = 0; i < table.size(); ++i) {
    error.value[i] = value_at(measured, table.time[i]) - table.value[i];
  }
  return error;
}

double largest_size(const Series& series) {
  return std::max(std::abs(smallest(series)), std::abs(largest(series)));
}

void compare_series(const Check& check, const Expression::Scope& scope, Verdict& verdict) {
  const bool by_rms =
      check.params.error == "rms" || (check.params.error == "auto" && !check.table.empty());
  const Series error = verdict.is_table
                           ? table_error(verdict.measured_series, verdict.expected_series)
                           : combine(verdict.measured_series, verdict.expected_series, difference);
  const Limit limit = limit_of(check, scope, largest_size(verdict.expected_series));
  verdict.measured = by_rms ? rms(error) : largest_size(error);
  verdict.measured_text =
      fmt::format("{} error {:.4g}", by_rms ? "rms" : "largest", verdict.measured);
  verdict.expected_text = fmt::format("within {}", limit.in_words);
  verdict.passed = verdict.measured <= limit.size;
}

void compare_bounds(const Check& check, const Expression::Scope& scope, const Value& value,
                    Verdict& verdict) {
  const Series* series = std::get_if<Series>(&value);
  const Series rows =
      series ? window(check, scope, *series) : Series{{0.0}, {std::get<double>(value)}};
  if (series) verdict.measured_series = rows;
  const double lo = smallest(rows), hi = largest(rows);
  verdict.passed = lo == lo;  // no rows, or some that are no numbers
  if (check.at_least) {
    const double bound = check.at_least->number(scope);
    verdict.passed = verdict.passed && lo >= bound;
    verdict.expected_text = fmt::format("at least {:.6g}", bound);
  }
  if (check.at_most) {
    const double bound = check.at_most->number(scope);
    verdict.passed = verdict.passed && hi <= bound;
    verdict.expected_text += fmt::format("{}at most {:.6g}", check.at_least ? ", " : "", bound);
  }
  verdict.measured = check.at_most ? hi : lo;
  verdict.measured_text = check.at_least && check.at_most && lo != hi
                              ? fmt::format("{:.6g} .. {:.6g}", lo, hi)
                              : fmt::format("{:.6g}", verdict.measured);
}

// The table's rows in seconds, moved by the shift within its limits that fits best.
Series fitted_table(const Check& check, const Expression::Scope& scope, const Series& measured) {
  const double unit = check.time_unit.number(scope);
  const double from = check.from ? check.from->number(scope) : -HUGE_VAL;
  const double to = check.to ? check.to->number(scope) : HUGE_VAL;
  constexpr int kSteps = 200;  // to each side
  Series best;
  double best_error = HUGE_VAL;
  for (int k = -kSteps; k <= kSteps; ++k) {
    const double shift = check.params.shift * k / kSteps;
    Series moved;
    for (const auto& [time, value] : check.table) {
      if (time < from || time > to) continue;
      moved.time.push_back((time + shift) * unit);
      moved.value.push_back(value);
    }
    const double error = rms(table_error(measured, moved));
    if (best.empty() || error < best_error) best = moved, best_error = error;
    if (check.params.shift == 0.0) break;
  }
  return best;
}

}  // namespace

Check read_check(const Node& node) {
  CheckParams params;
  read_section(node, table_of<CheckParams>(), "[check]", &params);
  for (const char* key : {"name", "value"}) {
    if (!node.find(key)) reject_at(node.source, "[[check]] needs '{}'", key);
  }
  std::string tolerance = params.tolerance;
  const std::size_t percent = tolerance.find_last_not_of(' ');
  const bool is_relative = percent != std::string::npos && tolerance[percent] == '%';
  if (is_relative) tolerance.resize(percent);
  Check check{params,
              node.source,
              expression_at(node, "value", params.value),
              optional_at(node, "expected", params.expected),
              optional_at(node, "at_least", params.at_least),
              optional_at(node, "at_most", params.at_most),
              optional_at(node, "from", params.from),
              optional_at(node, "to", params.to),
              optional_at(node, "tolerance", tolerance),
              is_relative,
              expression_at(node, "time_unit", params.time_unit),
              {}};
  if (const Node::Member* table = node.find("table")) check.table = read_table(table->value);
  check_whole(check);
  return check;
}

Verdict judge(const Check& check, const Expression::Scope& scope) {
  Verdict verdict;
  verdict.name = check.params.name;
  const Value value = check.value.evaluate(scope);
  const Series* series = std::get_if<Series>(&value);
  if (!check.expected && check.table.empty()) {
    compare_bounds(check, scope, value, verdict);
    return verdict;
  }
  if (!check.table.empty()) {
    if (!series) reject_at(check.source, "a table is compared with a series, not with a number");
    verdict.measured_series = *series;
    verdict.expected_series = fitted_table(check, scope, *series);
    verdict.is_table = true;
    compare_series(check, scope, verdict);
    return verdict;
  }
  const Value expected = check.expected->evaluate(scope);
  const double* number = std::get_if<double>(&expected);
  if (!series && number) {
    compare_numbers(check, scope, std::get<double>(value), *number, verdict);
    return verdict;
  }
  if (!series) reject_at(check.source, "the value is a number, but what is expected is a series");
  verdict.measured_series = window(check, scope, *series);
  const Series& rows = verdict.measured_series;
  verdict.expected_series = number ? Series{rows.time, std::vector<double>(rows.size(), *number)}
                                   : window(check, scope, std::get<Series>(expected));
  compare_series(check, scope, verdict);
  return verdict;
}

}  // namespace barchan
