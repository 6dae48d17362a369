#include "harness/functions.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/nearest_name.h"
#include "base/units.h"

namespace barchan {

namespace {

using Arguments = std::span<const Value>;

struct Function {
  const char* name;
  std::size_t least, most;  // arguments
  Value (*apply)(Arguments);
};

const Series& series_of(const Value& value) {
  const Series* series = std::get_if<Series>(&value);
  if (!series) reject("it takes a series over time, not a number");
  return *series;
}

double number_of(const Value& value) {
  const double* number = std::get_if<double>(&value);
  if (!number) {
    reject("it takes a number here, not a series; use at(), mean(), last() or the like");
  }
  return *number;
}

// ---- Row by row

template <double (*f)(double)>
Value each(Arguments arguments) {
  if (const double* number = std::get_if<double>(&arguments[0])) return f(*number);
  Series series = std::get<Series>(arguments[0]);
  for (double& value : series.value) value = f(value);
  return series;
}

Value pairwise(const Value& a, const Value& b, double (*f)(double, double)) {
  const double* left = std::get_if<double>(&a);
  const double* right = std::get_if<double>(&b);
  if (left && right) return f(*left, *right);
  if (!left && !right) return combine(std::get<Series>(a), std::get<Series>(b), f);
  Series series = std::get<Series>(left ? b : a);
  for (double& value : series.value) value = left ? f(*left, value) : f(value, *right);
  return series;
}

template <double (*f)(double, double)>
Value fold(Arguments arguments) {
  Value result = arguments[0];
  for (std::size_t i = 1; i < arguments.size(); ++i) result = pairwise(result, arguments[i], f);
  return result;
}

double add(double a, double b) {
  return a + b;
}
double subtract(double a, double b) {
  return a - b;
}
double multiply(double a, double b) {
  return a * b;
}
double divide(double a, double b) {
  return a / b;
}
double power(double a, double b) {
  return std::pow(a, b);
}
double arc(double y, double x) {
  return std::atan2(y, x);
}
// A NaN goes through both.
double lesser(double a, double b) {
  return std::isnan(a) || a < b ? a : b;
}
double greater(double a, double b) {
  return std::isnan(a) || a > b ? a : b;
}

double negative(double x) {
  return -x;
}
double absolute(double x) {
  return std::abs(x);
}
double square_root(double x) {
  return std::sqrt(x);
}
double sine(double x) {
  return std::sin(x);
}
double cosine(double x) {
  return std::cos(x);
}
double tangent(double x) {
  return std::tan(x);
}
double arc_sine(double x) {
  return std::asin(x);
}
double arc_cosine(double x) {
  return std::acos(x);
}
double arc_tangent(double x) {
  return std::atan(x);
}
double exponential(double x) {
  return std::exp(x);
}
double logarithm(double x) {
  return std::log(x);
}
double to_degrees(double x) {
  return degrees(x);
}
double to_radians(double x) {
  return radians(x);
}

// ---- Over time. What a run does not reach (a crossing, a time, a window) is NaN, no fault of the
// case: its check fails.

template <double (*f)(const Series&)>
Value reduce(Arguments arguments) {
  return f(series_of(arguments[0]));
}

// min and max: of one series over time, of several values row by row.
template <double (*over_time)(const Series&), double (*f)(double, double)>
Value extreme(Arguments arguments) {
  return arguments.size() == 1 ? reduce<over_time>(arguments) : fold<f>(arguments);
}

Value at_time(Arguments arguments) {
  return value_at(series_of(arguments[0]), number_of(arguments[1]));
}

Value part_of(Arguments arguments) {
  return within(series_of(arguments[0]), number_of(arguments[1]), number_of(arguments[2]));
}

Value count_crossings(Arguments arguments) {
  return static_cast<double>(crossings(series_of(arguments[0]), number_of(arguments[1])).size());
}

Value nth_crossing(Arguments arguments) {
  const std::vector<double> times = crossings(series_of(arguments[0]), number_of(arguments[1]));
  const double n = number_of(arguments[2]);
  if (!(n >= 1.0) || n != std::floor(n)) reject("crossings are counted from 1");
  if (n > static_cast<double>(times.size())) return std::nan("");
  return times[static_cast<std::size_t>(n) - 1];
}

Value derivative(Arguments arguments) {
  return rate(series_of(arguments[0]));
}

Value rows(Arguments arguments) {
  return static_cast<double>(series_of(arguments[0]).size());
}

constexpr std::size_t kAny = 16;
constexpr Function kFunctions[] = {
    {"+", 2, 2, fold<add>},
    {"-", 2, 2, fold<subtract>},
    {"*", 2, 2, fold<multiply>},
    {"/", 2, 2, fold<divide>},
    {"^", 2, 2, fold<power>},
    {"negative", 1, 1, each<negative>},
    {"abs", 1, 1, each<absolute>},
    {"sqrt", 1, 1, each<square_root>},
    {"sin", 1, 1, each<sine>},
    {"cos", 1, 1, each<cosine>},
    {"tan", 1, 1, each<tangent>},
    {"asin", 1, 1, each<arc_sine>},
    {"acos", 1, 1, each<arc_cosine>},
    {"atan", 1, 1, each<arc_tangent>},
    {"atan2", 2, 2, fold<arc>},
    {"exp", 1, 1, each<exponential>},
    {"log", 1, 1, each<logarithm>},
    {"degrees", 1, 1, each<to_degrees>},
    {"radians", 1, 1, each<to_radians>},
    {"min", 1, kAny, extreme<smallest, lesser>},
    {"max", 1, kAny, extreme<largest, greater>},
    {"first", 1, 1, reduce<first>},
    {"last", 1, 1, reduce<last>},
    {"mean", 1, 1, reduce<mean>},
    {"rms", 1, 1, reduce<rms>},
    {"slope", 1, 1, reduce<slope>},
    {"max_rise", 1, 1, reduce<max_rise>},
    {"at", 2, 2, at_time},
    {"within", 3, 3, part_of},
    {"crossing", 3, 3, nth_crossing},
    {"crossings", 2, 2, count_crossings},
    {"rate", 1, 1, derivative},
    {"count", 1, 1, rows},
};

const Function* find(const std::string& name) {
  const auto* found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                   [&](const Function& f) { return name == f.name; });
  return found == std::end(kFunctions) ? nullptr : found;
}

}  // namespace

std::string fault_of_call(const std::string& function, std::size_t arguments) {
  const Function* known = find(function);
  if (!known) {
    std::vector<std::string> names;
    for (const Function& f : kFunctions) names.emplace_back(f.name);
    const std::string nearest = nearest_name(function, names);
    return fmt::format("unknown function '{}'{}", function,
                       nearest.empty() ? "" : "; did you mean '" + nearest + "'?");
  }
  if (arguments >= known->least && arguments <= known->most) return "";
  return fmt::format("{}() takes {}{} argument{}, not {}", function,
                     known->least == known->most ? "" : "at least ", known->least,
                     known->least == 1 ? "" : "s", arguments);
}

Value call_function(const std::string& function, Arguments arguments) {
  return find(function)->apply(arguments);
}

}  // namespace barchan
