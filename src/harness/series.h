// A measured quantity over time, and the little arithmetic that checks and plots need. A value that
// is not known is NaN; NaN goes through every operation, so that a check which meets one fails.
#pragma once

#include <cstddef>
#include <vector>

namespace barchan {

struct Series {
  std::vector<double> time;  // [s], growing
  std::vector<double> value;

  std::size_t size() const { return time.size(); }
  bool empty() const { return time.empty(); }
};

// f(a, b) row by row. Where the times differ, those of the shorter series are kept as far as the
// other one reaches, and the other is read between its rows along a straight line.
Series combine(const Series& a, const Series& b, double (*f)(double, double));

// On the straight line between two rows; NaN outside of the series, but for rounding.
double value_at(const Series& series, double time);

// The rows from `from` to `to` [s], both included, but for rounding.
Series within(const Series& series, double from, double to);

// ---- To one number. A series without rows has none: NaN.

double first(const Series& series);
double last(const Series& series);
double smallest(const Series& series);
double largest(const Series& series);
double mean(const Series& series);
double rms(const Series& series);
double slope(const Series& series);     // of the least-squares line [1/s]
double max_rise(const Series& series);  // largest step up from one row to the next; 0 where none

// ---- To others

Series rate(const Series& series);                                  // d/dt by central differences
std::vector<double> crossings(const Series& series, double level);  // times [s], in order

}  // namespace barchan
