// The public door, used as an outsider would: public headers only.
#include "barchan/simulation.h"

#include <gtest/gtest.h>

#include <set>

#include "barchan/error.h"

namespace barchan {
namespace {

TEST(Simulation, RunsAShippedScene) {
  Simulation simulation("spinning-drop", {"cpu", 2, {"resolution=0.08"}});
  const std::vector<float> start = simulation.positions();
  ASSERT_EQ(start.size(), 3 * simulation.size());
  simulation.advance_frame();
  EXPECT_EQ(simulation.frame(), 1);
  EXPECT_EQ(simulation.time(), 1.0 / 24.0);
  simulation.step();
  EXPECT_GT(simulation.time(), 1.0 / 24.0);
  const std::vector<float> now = simulation.positions();
  EXPECT_LT(now[1], start[1]) << "it falls";
  const std::vector<std::uint64_t> ids = simulation.ids();
  EXPECT_EQ(std::set<std::uint64_t>(ids.begin(), ids.end()).size(), simulation.size());
}

TEST(Simulation, ThrowsErrorsThatSayWhatToDo) {
  EXPECT_THROW(Simulation("no-such-scene"), Error);
  EXPECT_THROW(Simulation("spinning-drop", {"cpu", 1, {"resolutoin=1"}}), Error);
}

}  // namespace
}  // namespace barchan
