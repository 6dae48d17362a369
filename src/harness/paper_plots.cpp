#include "harness/paper_plots.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "harness/particle_series.h"

namespace barchan {

namespace {

constexpr int kBins = 80;
constexpr double kRounding = 1e-9;  // [s]

Expression expression_of(const PaperPlotParams& plot) {
  return {plot.value, Source{"'value' of plot '" + plot.name + "'", 0, 0}};
}

bool is_wanted(const PaperPlotParams& plot, const std::string& run) {
  return plot.runs.empty() || std::find(plot.runs.begin(), plot.runs.end(), run) != plot.runs.end();
}

// The last frame up to a time: runs that ended earlier show their end.
LoadedFrame frame_at(const RunFolder& run, double time) {
  const std::vector<std::int64_t> frames = run.frames();
  if (frames.empty()) reject("{} holds no frames", run.path().string());
  std::int64_t found = frames.front();
  for (const std::int64_t frame : frames) {
    if (summarize_frame(run.frame(frame)).time <= time + kRounding) found = frame;
  }
  return read_frame(run.frame(found));
}

// Share of the particles [%] in each of kBins equal parts of [lo, hi].
Series histogram(const std::vector<double>& values, double lo, double hi) {
  const double width = (hi - lo) / kBins;
  Series shares;
  for (int b = 0; b < kBins; ++b) {
    shares.time.push_back(lo + (b + 0.5) * width);
    shares.value.push_back(0.0);
  }
  for (const double value : values) {
    const int bin = std::clamp(static_cast<int>((value - lo) / width), 0, kBins - 1);
    shares.value[static_cast<std::size_t>(bin)] += 100.0 / static_cast<double>(values.size());
  }
  return shares;
}

// All curves have the bins of the widest spread, or they could not be compared.
void add_histograms(const PaperPlotParams& plot, const std::vector<FigureRun>& runs, Panel& panel) {
  std::vector<std::pair<std::string, std::vector<double>>> spreads;
  double lo = HUGE_VAL, hi = -HUGE_VAL;
  for (const FigureRun& run : runs) {
    if (!is_wanted(plot, run.name)) continue;
    spreads.emplace_back(run.label,
                         particle_values(frame_at(run.record.folder(), plot.at), plot.value));
    for (const double value : spreads.back().second) lo = std::min(lo, value);
    for (const double value : spreads.back().second) hi = std::max(hi, value);
  }
  if (!(hi > lo)) reject("plot '{}': all particles have the same '{}'", plot.name, plot.value);
  for (const auto& [label, values] : spreads) {
    panel.curves.push_back({label, histogram(values, lo, hi)});
  }
}

// For each particle `value` in the last frame up to `at` over that in the first one, against that.
Series ratios(const PaperPlotParams& plot, const RunFolder& run) {
  const LoadedFrame first = read_frame(run.frame(run.frames().front()));
  const LoadedFrame last = frame_at(run, plot.at);
  const std::vector<double> before = particle_values(first, plot.value);
  const std::vector<double> after = particle_values(last, plot.value);
  std::map<std::uint64_t, double> then;
  for (std::size_t i = 0; i < last.size(); ++i) then[last.id[i]] = after[i];
  std::vector<std::pair<double, double>> points;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const auto found = then.find(first.id[i]);
    if (found != then.end() && before[i] != 0.0) {
      points.emplace_back(before[i], found->second / before[i]);
    }
  }
  if (points.empty()) reject("plot '{}': no particle is in both frames", plot.name);
  std::sort(points.begin(), points.end());
  Series series;
  for (const auto& [x, y] : points) {
    series.time.push_back(x);
    series.value.push_back(y);
  }
  return series;
}

// The density error after each iteration, of the step that ended the last frame up to `at`.
Series convergence(const RunFolder& run, double at) {
  const Table table = read_csv(run.iterations());
  const std::vector<double>& time = table.column("time");
  double found = -HUGE_VAL;
  for (const double t : time) {
    if (t <= at + kRounding) found = std::max(found, t);
  }
  Series series;
  for (std::size_t i = 0; i < time.size(); ++i) {
    if (time[i] != found) continue;
    series.time.push_back(table.column("iteration")[i]);
    series.value.push_back(table.column("density_error")[i]);
  }
  if (series.empty()) reject("{} has no row up to t = {} s", run.iterations().string(), at);
  return series;
}

}  // namespace

Value figure_value(const std::vector<FigureRun>& runs, const Name& name) {
  for (std::size_t v = 1; v < runs.size(); ++v) {
    if (runs[v].name == name.front() && name.size() > 1) {
      return runs[v].record.value(Name(name.begin() + 1, name.end()));
    }
  }
  return runs.front().record.value(name);
}

std::vector<Expression> read_expressions(const PaperParams& paper) {
  const auto check = [&](const Name& name) {
    const bool of_variant =
        name.size() > 1 &&
        std::any_of(paper.variants.begin(), paper.variants.end(),
                    [&](const PaperVariantParams& v) { return v.name == name.front(); });
    check_record_name(of_variant ? Name(name.begin() + 1, name.end()) : name);
  };
  std::vector<Expression> ours;
  for (const PaperNumberParams& number : paper.numbers) {
    ours.emplace_back(number.ours, Source{"'ours' of '" + number.name + "'", 0, 0});
    ours.back().visit_names(check);
  }
  for (const PaperPlotParams& plot : paper.plots) {
    if (plot.kind == "time") expression_of(plot).visit_names(check_record_name);
  }
  return ours;
}

Page paper_page(const PaperPlotParams& plot, const std::vector<FigureRun>& runs) {
  // Above the page: a long title would run into the curves' names beside the panel's.
  const std::string title = plot.title.empty() ? plot.name : plot.title;
  Panel panel{"", plot.axis, {}};
  if (plot.kind == "histogram") {
    panel.x_label = plot.value + (plot.value == "nearest" ? " [spacings]" : " (SI)");
    if (plot.axis.empty()) panel.y_label = "particles [%]";
    add_histograms(plot, runs, panel);
    return {title, {panel}};
  }
  for (const FigureRun& run : runs) {
    if (!is_wanted(plot, run.name)) continue;
    if (plot.kind == "iterations") {
      panel.x_label = "iteration";
      panel.curves.push_back(
          {run.label, convergence(run.record.folder(), plot.at), Curve::Style::marked});
      continue;
    }
    if (plot.kind == "ratio") {
      panel.x_label = plot.value + " at first (SI)";
      panel.curves.push_back({run.label, ratios(plot, run.record.folder())});
      continue;
    }
    const Value value =
        expression_of(plot).evaluate([&](const Name& name) { return run.record.value(name); });
    const Series* series = std::get_if<Series>(&value);
    if (!series) reject("plot '{}': \"{}\" is one number, not a series", plot.name, plot.value);
    panel.curves.push_back({run.label, *series});
  }
  return {title, {panel}};
}

}  // namespace barchan
