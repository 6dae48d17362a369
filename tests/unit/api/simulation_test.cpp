// The public door, used as an outsider would: public headers only.
#include "barchan/simulation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <set>

#include "barchan/error.h"

namespace barchan {
namespace {

constexpr const char* kDrop = R"(
solver = "ballistic"
resolution = 0.1
[material.stone]
density = 2000
[[fill]]
shape = { box = [[0, 2, 0], [1, 3, 1]] }
[[solid]]
name = "floor"
shape = { box = [[-2, -1, -2], [3, 0, 3]] }
)";

std::vector<float> heights(const Field& positions) {
  const float* y = positions.component<float>(1);
  return {y, y + positions.size};
}

TEST(Simulation, RunsAShippedScene) {
  Simulation simulation("spinning-drop", {"cpu", 2, {"resolution=0.08"}});
  const Field start = simulation.positions();
  ASSERT_EQ(start.size, simulation.size());
  ASSERT_EQ(start.components, 3);
  simulation.advance_frame();
  EXPECT_EQ(simulation.frame(), 1);
  EXPECT_EQ(simulation.time(), 1.0 / 24.0);
  EXPECT_GT(simulation.step().dt, 0.0);
  EXPECT_GT(simulation.time(), 1.0 / 24.0);
  EXPECT_LT(heights(simulation.positions())[0], heights(start)[0]) << "it falls";
  const Field ids = simulation.ids();
  const auto* id = ids.component<std::uint64_t>(0);
  EXPECT_EQ(std::set<std::uint64_t>(id, id + ids.size).size(), simulation.size());
}

TEST(Simulation, ReadsASceneFromText) {
  Simulation simulation = Simulation::from_toml(kDrop);
  EXPECT_EQ(simulation.size(), 1000u);
  EXPECT_EQ(simulation.spacing(), 0.1);
  EXPECT_EQ(simulation.material_names(), std::vector<std::string>{"stone"});
  ASSERT_EQ(simulation.bodies().size(), 1u);
  EXPECT_EQ(simulation.bodies()[0].name, "floor");
  EXPECT_EQ(Simulation::from_toml(simulation.scene()).scene(), simulation.scene());
}

TEST(Simulation, FieldsAreNotCopiesAndKeepTheirMoment) {
  std::optional<Simulation> simulation = Simulation::from_toml(kDrop);
  const Field first = simulation->positions();
  EXPECT_EQ(first.data, simulation->positions().data) << "the simulation's own memory";
  const std::vector<float> then = heights(first);
  simulation->run_until(0.3);
  EXPECT_NE(first.data, simulation->positions().data);
  EXPECT_EQ(heights(first), then);
  const Field last = simulation->positions();
  // Free fall for 0.3 s, or a little longer: steps end where frames do.
  const double fallen = heights(first)[0] - heights(last)[0];
  EXPECT_NEAR(fallen, 0.5 * 9.81 * std::pow(simulation->time(), 2), 1e-3);
  const std::vector<float> now = heights(last);
  simulation.reset();
  EXPECT_EQ(heights(first), then) << "fields outlive the simulation";
  EXPECT_EQ(heights(last), now);
}

TEST(Simulation, OnAGpuFieldsAreCopiesThatStayToo) {
  std::optional<Simulation> simulation;
  try {
    simulation = Simulation::from_toml(kDrop, "scene", {"cuda", 0, {}});
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const Field first = simulation->positions();
  const std::vector<float> then = heights(first);
  simulation->run_until(0.3);
  const double fallen = then[0] - heights(simulation->positions())[0];
  EXPECT_NEAR(fallen, 0.5 * 9.81 * std::pow(simulation->time(), 2), 1e-3);
  simulation->set_velocities(std::vector<float>(3 * simulation->size(), 1.0f));
  EXPECT_EQ(simulation->velocities().component<float>(2)[5], 1.0f);
  simulation.reset();
  EXPECT_EQ(heights(first), then);
}

TEST(Simulation, RunsUntilItIsToldToStop) {
  Simulation simulation = Simulation::from_toml(kDrop);
  int steps = 0;
  simulation.run_until(10.0, [&] { return ++steps < 3; });
  EXPECT_EQ(steps, 3);
  EXPECT_LT(simulation.time(), 1.0);
}

TEST(Simulation, TakesVelocities) {
  Simulation simulation = Simulation::from_toml(kDrop);
  std::vector<float> up(3 * simulation.size(), 0.0f);
  for (std::size_t i = 0; i < simulation.size(); ++i) up[3 * i + 1] = 5.0f;
  const std::vector<float> start = heights(simulation.positions());
  simulation.set_velocities(up);
  EXPECT_EQ(simulation.velocities().component<float>(1)[7], 5.0f);
  simulation.run_until(0.2);
  const double t = simulation.time();
  EXPECT_NEAR(heights(simulation.positions())[7] - start[7], 5.0 * t - 0.5 * 9.81 * t * t, 1e-3);
  EXPECT_THROW(simulation.set_velocities({1.0f, 2.0f}), Error);
  up[4] = NAN;
  EXPECT_THROW(simulation.set_velocities(up), Error);
}

TEST(Simulation, ThrowsErrorsThatSayWhatToDo) {
  const auto message = [](auto&& make) -> std::string {
    try {
      make();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message([] { Simulation("dam-braek"); }).find("did you mean 'dam-break'"),
            std::string::npos);
  EXPECT_NE(message([] {
              Simulation("spinning-drop", {"cpu", 1, {"resolutoin=1"}});
            }).find("'resolution'"),
            std::string::npos);
  EXPECT_NE(message([] { Simulation::from_toml("solvr = 1", "mine"); }).find("mine:1:1:"),
            std::string::npos);
  const Simulation simulation = Simulation::from_toml(kDrop);
  EXPECT_NE(message([&] { simulation.field("velocty"); }).find("did you mean 'velocity'"),
            std::string::npos);
}

}  // namespace
}  // namespace barchan
