// What [paper] of a scene asks for beside the run itself: values of its variants, and its plots.
#pragma once

#include <string>
#include <vector>

#include "harness/plot.h"
#include "harness/run_record.h"
#include "params/paper_params.h"

namespace barchan {

// A run of a figure: "run" is the scene's own, the others are its variants.
struct FigureRun {
  std::string name;
  std::string label;  // in plots
  RunRecord record;
};

// VARIANT.ledger.volume is the variant's, ledger.volume the scene's own (`runs.front()`).
Value figure_value(const std::vector<FigureRun>& runs, const Name& name);

// The expressions behind `ours` of the numbers. Rejects what is misspelt in them and in the plots,
// so that it is found before the runs and not after them.
std::vector<Expression> read_expressions(const PaperParams& paper);

// One panel with a curve for each run that the plot names.
Page paper_page(const PaperPlotParams& plot, const std::vector<FigureRun>& runs);

}  // namespace barchan
