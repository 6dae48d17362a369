// [paper]: the published figure that a scene repeats, with the paper's numbers. The simulation does
// not look at it; `barchan paper` does.
#pragma once

#include <string>
#include <vector>

#include "params/field.h"

namespace barchan {

struct PaperNumberParams {
  std::string name;
  double theirs = 0.0;
  std::string unit;
  std::string ours;  // an expression over what the run leaves behind
};

struct PaperParams {
  std::string figure;              // "Bell 6"
  std::string note;                // what must be seen
  std::vector<std::string> quick;  // as after --set, for the reduced version
  std::vector<PaperNumberParams> numbers;
};

}  // namespace barchan
