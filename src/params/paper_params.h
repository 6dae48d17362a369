// [paper]: the published figure that a scene repeats, with the paper's numbers. The simulation does
// not look at it; `barchan paper` does.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "params/field.h"

namespace barchan {

struct PaperNumberParams {
  std::string name;
  double theirs = std::numeric_limits<double>::quiet_NaN();  // NaN where the paper does not say
  std::string unit;
  std::string ours;  // an expression over what the run leaves behind
};

// Another run of the scene, to stand beside its own.
struct PaperVariantParams {
  std::string name;
  std::string label;             // in plots; its name where not given
  std::vector<std::string> set;  // as after --set
};

struct PaperPlotParams {
  std::string name;           // of the file: plots/NAME.png
  std::string kind = "time";  // what the axis is: see plot kinds in docs/validation.md
  std::string title;
  std::string axis;               // what stands at the value's axis
  std::string value;              // time: an expression; histogram, ratio: a quantity of particles
  double at = 0.0;                // histogram, ratio, iterations: when [s]
  std::vector<std::string> runs;  // names of variants, "run" for the scene's own; all if none
};

struct PaperParams {
  std::string figure;              // "Bell 6"
  std::string note;                // what must be seen
  std::string label = "run";       // of the scene's own run, in plots
  std::vector<std::string> quick;  // as after --set, for the reduced version
  std::vector<PaperVariantParams> variants;
  std::vector<PaperNumberParams> numbers;
  std::vector<PaperPlotParams> plots;
};

}  // namespace barchan
