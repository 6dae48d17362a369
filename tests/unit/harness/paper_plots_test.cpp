// Plots of a figure, from run folders made by hand.
#include "harness/paper_plots.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/atomic_file.h"
#include "base/error.h"
#include "harness/particle_series.h"

namespace barchan {
namespace {

namespace fs = std::filesystem;

class PaperPlotsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    top_ = fs::temp_directory_path() / ("barchan-plots-" + std::to_string(::getpid()));
    put("run", 1.0);
    put("other", 3.0);
    runs_.push_back({"run", "ours", RunRecord(top_ / "run")});
    runs_.push_back({"other", "theirs", RunRecord(top_ / "other")});
  }
  void TearDown() override { fs::remove_all(top_); }

  void put(const char* name, double scale) {
    const fs::path folder = top_ / name;
    fs::create_directories(folder);
    LedgerRow first, second;
    second.frame = 1, second.time = 0.5, second.max_speed = 2.0 * scale;
    second.density_errors = {0.5 * scale, 0.25 * scale};
    write_file_atomic(folder / "ledger.csv",
                      std::string(kLedgerHeader) + "\n" + ledger_row(first) + ledger_row(second));
    write_file_atomic(
        folder / "iterations.csv",
        std::string(kIterationsHeader) + "\n" + iterations_rows(first) + iterations_rows(second));
    write_file_atomic(folder / "run.json", "{}");
  }

  fs::path top_;
  std::vector<FigureRun> runs_;
};

TEST_F(PaperPlotsTest, ValuesOfVariantsBeginWithTheirNames) {
  EXPECT_EQ(last(std::get<Series>(figure_value(runs_, {"ledger", "max_speed"}))), 2.0);
  EXPECT_EQ(last(std::get<Series>(figure_value(runs_, {"other", "ledger", "max_speed"}))), 6.0);
  EXPECT_THROW(figure_value(runs_, {"none", "ledger", "max_speed"}), Error);
}

TEST_F(PaperPlotsTest, ACurveForEachRunThatIsNamed) {
  PaperPlotParams plot;
  plot.name = "speed", plot.title = "Speed", plot.value = "2*ledger.max_speed";
  const Page both = paper_page(plot, runs_);
  EXPECT_EQ(both.title, "Speed");
  ASSERT_EQ(both.panels.at(0).curves.size(), 2u);
  EXPECT_EQ(both.panels[0].curves[1].label, "theirs");
  EXPECT_EQ(both.panels[0].curves[1].series.value, (std::vector<double>{0.0, 12.0}));
  plot.runs = {"other"};
  EXPECT_EQ(paper_page(plot, runs_).panels.at(0).curves.size(), 1u);
}

TEST_F(PaperPlotsTest, IterationsOfTheLastFrameUpToATime) {
  PaperPlotParams plot;
  plot.name = "convergence", plot.kind = "iterations", plot.at = 0.7;
  const Series series = paper_page(plot, runs_).panels.at(0).curves.at(0).series;
  EXPECT_EQ(series.time, (std::vector<double>{1, 2}));
  EXPECT_EQ(series.value, (std::vector<double>{0.5, 0.25}));
  plot.at = 0.4;  // before the first step ended: there is nothing to show
  EXPECT_THROW(paper_page(plot, runs_), Error);
}

TEST(PaperExpressions, MisspeltNamesAreFoundBeforeTheRuns) {
  PaperParams paper;
  paper.variants.push_back({"calm", "", {}});
  paper.numbers.push_back({"speed", 1.0, "", "max(calm.ledger.max_speed)"});
  EXPECT_EQ(read_expressions(paper).size(), 1u);
  paper.numbers[0].ours = "max(clam.ledger.max_speed)";
  EXPECT_THROW(read_expressions(paper), Error);
  paper.numbers[0].ours = "1";
  PaperPlotParams plot;
  plot.name = "p", plot.value = "ledger.max_sped";
  paper.plots.push_back(plot);
  EXPECT_THROW(read_expressions(paper), Error);
}

// A lattice has its spacing to the nearest, whatever the spacing is; a lone particle has none near.
TEST(ParticleValues, NearestInSpacings) {
  LoadedFrame frame;
  frame.spacing = 0.25;
  for (int i = 0; i < 64; ++i) {
    frame.position.push_back(0.25f * Vec3(static_cast<float>(i % 4), static_cast<float>(i / 4 % 4),
                                          static_cast<float>(i / 16)));
  }
  for (const double value : particle_values(frame, "nearest")) EXPECT_DOUBLE_EQ(value, 1.0);
  frame.position[63] += Vec3(5, 0, 0);
  frame.position[0] += Vec3(0.125f, 0, 0);
  const std::vector<double> values = particle_values(frame, "nearest");
  EXPECT_DOUBLE_EQ(values[63], 2.0);
  EXPECT_DOUBLE_EQ(values[0], 0.5);
  EXPECT_DOUBLE_EQ(values[1], 0.5);
  EXPECT_DOUBLE_EQ(values[2], 1.0);
}

}  // namespace
}  // namespace barchan
