#include "harness/series.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace barchan {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Times are sums and quotients of decimal fractions: equal up to rounding.
double rounding(const Series& series) {
  return series.empty() ? 0.0 : 1e-9 * std::max(1.0, std::abs(series.time.back()));
}

bool same_times(const Series& a, const Series& b) {
  if (a.size() != b.size()) return false;
  const double close = rounding(a);
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(std::abs(a.time[i] - b.time[i]) <= close)) return false;
  }
  return true;
}

// min and max of the standard library lose a NaN or not, by the order of the arguments.
template <class Better>
double extreme(const Series& series, Better better) {
  if (series.empty()) return kNaN;
  double best = series.value.front();
  for (const double value : series.value) {
    if (std::isnan(value)) return kNaN;
    if (better(value, best)) best = value;
  }
  return best;
}

}  // namespace

Series combine(const Series& a, const Series& b, double (*f)(double, double)) {
  const bool same = same_times(a, b);
  const Series& rows = a.size() <= b.size() ? a : b;
  Series out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double t = rows.time[i];
    if (!same) {
      const Series& other = &rows == &a ? b : a;
      const double close = rounding(other);
      if (other.empty() || t < other.time.front() - close || t > other.time.back() + close) {
        continue;
      }
    }
    out.time.push_back(t);
    out.value.push_back(same ? f(a.value[i], b.value[i]) : f(value_at(a, t), value_at(b, t)));
  }
  return out;
}

double value_at(const Series& series, double time) {
  if (series.empty() || std::isnan(time)) return kNaN;
  const double close = rounding(series);
  if (time < series.time.front() - close || time > series.time.back() + close) return kNaN;
  const auto after = std::lower_bound(series.time.begin(), series.time.end(), time - close);
  const auto i = static_cast<std::size_t>(after - series.time.begin());
  if (i == series.size()) return series.value.back();
  if (i == 0 || std::abs(series.time[i] - time) <= close) return series.value[i];
  const double part = (time - series.time[i - 1]) / (series.time[i] - series.time[i - 1]);
  return series.value[i - 1] + part * (series.value[i] - series.value[i - 1]);
}

Series within(const Series& series, double from, double to) {
  const double close = rounding(series);
  Series out;
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (series.time[i] < from - close || series.time[i] > to + close) continue;
    out.time.push_back(series.time[i]);
    out.value.push_back(series.value[i]);
  }
  return out;
}

double first(const Series& series) {
  return series.empty() ? kNaN : series.value.front();
}

double last(const Series& series) {
  return series.empty() ? kNaN : series.value.back();
}

double smallest(const Series& series) {
  return extreme(series, [](double a, double b) { return a < b; });
}

double largest(const Series& series) {
  return extreme(series, [](double a, double b) { return a > b; });
}

double mean(const Series& series) {
  double sum = 0.0;
  for (const double value : series.value) sum += value;
  return series.empty() ? kNaN : sum / static_cast<double>(series.size());
}

double rms(const Series& series) {
  double sum = 0.0;
  for (const double value : series.value) sum += value * value;
  return series.empty() ? kNaN : std::sqrt(sum / static_cast<double>(series.size()));
}

double slope(const Series& series) {
  if (series.size() < 2) return kNaN;
  // sum (t - <t>)(v - <v>) / sum (t - <t>)^2: about the means, so that late times cost no digits.
  double middle = 0.0;
  for (const double t : series.time) middle += t / static_cast<double>(series.size());
  const double level = mean(series);
  double tv = 0.0, tt = 0.0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const double t = series.time[i] - middle;
    tv += t * (series.value[i] - level);
    tt += t * t;
  }
  return tv / tt;
}

double max_rise(const Series& series) {
  double most = 0.0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (std::isnan(series.value[i])) return kNaN;
    if (i > 0) most = std::max(most, series.value[i] - series.value[i - 1]);
  }
  return series.empty() ? kNaN : most;
}

Series rate(const Series& series) {
  Series out;
  for (std::size_t i = 0; i < series.size() && series.size() > 1; ++i) {
    const std::size_t a = i == 0 ? 0 : i - 1, b = std::min(i + 1, series.size() - 1);
    out.time.push_back(series.time[i]);
    out.value.push_back((series.value[b] - series.value[a]) / (series.time[b] - series.time[a]));
  }
  return out;
}

std::vector<double> crossings(const Series& series, double level) {
  // A row that lies on the level counts as above it: each passage is met once.
  std::vector<double> times;
  for (std::size_t i = 1; i < series.size(); ++i) {
    const double a = series.value[i - 1] - level, b = series.value[i] - level;
    if ((a < 0.0) == (b < 0.0) || std::isnan(a) || std::isnan(b)) continue;
    times.push_back(series.time[i - 1] + a / (a - b) * (series.time[i] - series.time[i - 1]));
  }
  return times;
}

}  // namespace barchan
