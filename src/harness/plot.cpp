#include "harness/plot.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/program.h"

namespace barchan {

namespace fs = std::filesystem;

namespace {

// Okabe and Ito's colours: told apart by every eye, and in print.
constexpr std::array<const char*, 7> kColors = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                "#E69F00", "#56B4E9", "#000000"};

// A text for gnuplot: in single quotes, where a quote is doubled and nothing else is special.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    out += c;
    if (c == '\'') out += c;
  }
  return out + "'";
}

std::string block_name(std::size_t panel, std::size_t curve) {
  return fmt::format("$curve_{}_{}", panel, curve);
}

// The rows of all curves as named blocks of the script; what is not known leaves a gap.
std::string data_blocks(const Page& page) {
  std::string out;
  for (std::size_t p = 0; p < page.panels.size(); ++p) {
    for (std::size_t c = 0; c < page.panels[p].curves.size(); ++c) {
      const Series& series = page.panels[p].curves[c].series;
      out += block_name(p, c) + " << END\n";
      for (std::size_t i = 0; i < series.size(); ++i) {
        const bool known = std::isfinite(series.value[i]);
        out += fmt::format("{} {}\n", series.time[i],
                           known ? fmt::format("{}", series.value[i]) : std::string("NaN"));
      }
      out += "END\n";
    }
  }
  return out;
}

std::string style_of(Curve::Style style, const char* color) {
  switch (style) {
    case Curve::Style::line:
      return fmt::format("with lines lw 2 lc rgb '{}'", color);
    case Curve::Style::dashes:
      return fmt::format("with lines lw 2 dt (10,6) lc rgb '{}'", color);
    case Curve::Style::points:
      return fmt::format("with points pt 7 ps 0.9 lc rgb '{}'", color);
    case Curve::Style::marked:
      return fmt::format("with linespoints lw 2 pt 7 ps 0.9 lc rgb '{}'", color);
  }
  return "";
}

// A range for curves that are level: gnuplot would zoom into rounding, or complain.
std::string y_range(const Panel& panel) {
  double lo = HUGE_VAL, hi = -HUGE_VAL;
  for (const Curve& curve : panel.curves) {
    for (const double value : curve.series.value) {
      if (std::isfinite(value)) lo = std::min(lo, value), hi = std::max(hi, value);
    }
  }
  const double size = std::max(std::abs(lo), std::abs(hi));
  if (!(hi >= lo)) return "set yrange [0:1]\n";
  if (hi - lo > 1e-6 * size) return "set yrange [*:*]\n";
  if (size == 0.0) return "set yrange [0:1]\n";
  return fmt::format("set yrange [{}:{}]\n", std::min(0.0, 1.25 * lo), std::max(0.0, 1.25 * hi));
}

std::string panel_script(const Panel& panel, std::size_t number) {
  bool labelled = false;
  std::string curves;
  for (std::size_t c = 0; c < panel.curves.size(); ++c) {
    const Curve& curve = panel.curves[c];
    labelled = labelled || !curve.label.empty();
    curves += fmt::format("{}{} using 1:2 {} {}", c == 0 ? "plot " : ", ", block_name(number, c),
                          style_of(curve.style, kColors[c % kColors.size()]),
                          curve.label.empty() ? "notitle" : "title " + quoted(curve.label));
  }
  // Beside the title the curves' names can hide no curve.
  const char* key =
      labelled ? "set key at graph 1, graph 1.155 right top horizontal Left reverse samplen 2\n"
               : "unset key\n";
  return fmt::format(
      "set label 1 {} at graph 0, graph 1.09 left font 'DejaVu Sans Bold,11'\nset xlabel "
      "{}\nset ylabel {}\n{}{}{}\n",
      quoted(panel.title), quoted(panel.x_label), quoted(panel.y_label), y_range(panel), key,
      curves);
}

std::string script_of(const Page& page, bool svg, const fs::path& out) {
  const PageSize size = page_size(page.panels.size());
  const std::string font = "DejaVu Sans,11";
  std::string script =
      svg ? fmt::format("set terminal svg size {},{} font '{}' background '#ffffff' noenhanced\n",
                        size.width, size.height, font)
          : fmt::format(
                "set terminal pngcairo size {},{} font '{}' background '#ffffff' "
                "noenhanced\n",
                size.width, size.height, font);
  script += "set output " + quoted(out.string()) + "\n";
  script +=
      "set border 3 lw 1 lc rgb '#555555'\n"
      "set tics nomirror out scale 0.6 textcolor rgb '#333333'\n"
      "set grid lt 1 lw 1 lc rgb '#d9d9d9'\n"
      "set format y '%.6g'\n"
      "set xrange [* < 0 : *] noextend\n"
      "set ytics autofreq\n"
      "set lmargin 12\n"
      "set rmargin 3\nset tmargin 4\n";
  script += data_blocks(page);
  script += fmt::format("set multiplot layout {},{} title {} font 'DejaVu Sans Bold,13'\n",
                        size.rows, size.columns, quoted(page.title));
  for (std::size_t p = 0; p < page.panels.size(); ++p) script += panel_script(page.panels[p], p);
  return script + "unset multiplot\n";
}

}  // namespace

PageSize page_size(std::size_t panels) {
  if (panels <= 1) return {1, 1, 960, 540};
  const int rows = static_cast<int>((panels + 1) / 2);
  return {2, rows, 1360, 60 + 340 * rows};
}

void draw_page(const Page& page, const fs::path& out) {
  const std::string ending = out.extension().string();
  if (ending != ".png" && ending != ".svg") {
    reject("{}: plots are written as .png or .svg", out.string());
  }
  if (page.panels.empty()) reject("{}: there is nothing to plot", out.string());
  if (out.has_parent_path()) fs::create_directories(out.parent_path());
  const fs::path goal = fs::absolute(out);
  const TemporaryFile script(goal.string() + ".gnuplot"), part(goal.string() + ".part");
  write_file_atomic(script.path, script_of(page, ending == ".svg", part.path));
  run_tool({"gnuplot", "--default-settings", script.path.string()}, "cannot make " + out.string(),
           "gnuplot-nox");
  std::error_code error;
  fs::rename(part.path, goal, error);
  if (error) fail("cannot write {}: {}", out.string(), error.message());
}

}  // namespace barchan
