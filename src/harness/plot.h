// Curves, most of them over time, on a page of panels, drawn by gnuplot.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/series.h"

namespace barchan {

struct Curve {
  enum class Style { line, dashes, points, marked };  // marked: a line with points on it
  std::string label;  // "" where the panel has one curve and its title says it
  Series series;
  Style style = Style::line;
};

struct Panel {
  std::string title;
  std::string y_label;  // quantity and unit: "energy [J]"
  std::vector<Curve> curves;
  std::string x_label = "time [s]";  // what Series::time of the curves is
};

struct Page {
  std::string title;
  std::vector<Panel> panels;
};

// Writes a PNG, or an SVG where `out` ends so; aside, then renamed. The same page gives the same
// bytes. Rejects other endings and pages without panels; fails without gnuplot.
void draw_page(const Page& page, const std::filesystem::path& out);

// The pixels of a page with so many panels, which stand in two columns where there is more than
// one.
struct PageSize {
  int columns, rows;
  int width, height;
};
PageSize page_size(std::size_t panels);

}  // namespace barchan
