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
          text("label", &P::label, "The scene's own run in plots."),
          texts("quick", &P::quick, "Changes for --quick, as after --set."),
          special("variant", ParamKind::nested, "Other runs of the scene: [[paper.variant]]."),
          special("number", ParamKind::nested, "The paper's numbers: [[paper.number]]."),
          special("plot", ParamKind::nested, "The paper's plots: [[paper.plot]]."),
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
          optional(number("theirs", &P::theirs, "", any(),
                          "What the paper says; may be left out where it shows but does not say.")),
          text("unit", &P::unit, "Of both."),
          expression("ours", &P::ours, "How to get ours from the run: see docs/validation.md."),
      }};
  return table;
}

template <>
const ParamTable& table_of<PaperVariantParams>() {
  using P = PaperVariantParams;
  static const ParamTable table{
      "[paper.variant]",
      "Another run of the scene, to stand beside its own.",
      {
          name_field("name", &P::name, "Its values are NAME.ledger.volume and so on."),
          text("label", &P::label, "In plots; its name where not given."),
          texts("set", &P::set, "How it differs, as after --set; comes after `quick`."),
      }};
  return table;
}

template <>
const ParamTable& table_of<PaperPlotParams>() {
  using P = PaperPlotParams;
  static const ParamTable table{
      "[paper.plot]",
      "A plot of the paper, with a curve for each run.",
      {
          name_field("name", &P::name, "Of its file: plots/NAME.png."),
          choice("kind", &P::kind, {"time", "histogram", "ratio", "iterations"},
                 "time: an expression over time; histogram: how a quantity is spread over the "
                 "particles; ratio: a quantity of each particle over what it was at first, against "
                 "that; "
                 "iterations: the density error after each iteration of a step."),
          text("title", &P::title, "Above it."),
          text("axis", &P::axis, "At its upright axis, with the unit."),
          expression("value", &P::value,
                     "time: an expression; histogram, ratio: a quantity of the particles."),
          number("at", &P::at, "s", between(0, 1e6),
                 "histogram, ratio, iterations: when; the last frame up to then."),
          words("runs", &P::runs,
                "Names of variants, \"run\" for the scene's own; all where not given."),
      }};
  return table;
}

}  // namespace barchan
