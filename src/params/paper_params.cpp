#include "params/paper_params.h"

namespace barchan {

template <>
const ParamTable& table_of<PaperParams>() {
  using P = PaperParams;
  static const ParamTable table{
      "paper",
      "The published figure that the scene repeats; for `barchan paper`.",
      {
          text("figure", &P::figure, "Paper and figure."),
          text("note", &P::note, "What must be seen in it."),
          texts("quick", &P::quick, "Changes for --quick, as after --set."),
          special("number", ParamKind::nested, "The paper's numbers: [[paper.number]]."),
      }};
  return table;
}

template <>
const ParamTable& table_of<PaperNumberParams>() {
  using P = PaperNumberParams;
  static const ParamTable table{
      "[paper.number]",
      "A number of the paper, to stand beside ours.",
      {
          text("name", &P::name, "What it is."),
          number("theirs", &P::theirs, "", any(), "What the paper says."),
          text("unit", &P::unit, "Of both."),
          expression("ours", &P::ours, "How to get ours from the run: see docs/validation.md."),
      }};
  return table;
}

}  // namespace barchan
