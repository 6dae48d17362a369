// Emitters through the driver: how much comes, where it is, and that it comes again the same way.
#include "sim/emitters.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/error.h"
#include "sim/driver.h"
#include "sim/measures.h"
#include "sim/sinks.h"
#include "solvers/make_solver.h"
#include "unit/devices.h"

namespace barchan {
namespace {

constexpr double kSpacing = 0.02;
constexpr double kMass = 1000.0 * kSpacing * kSpacing * kSpacing;

const auto kNever = [] { return false; };
const auto kSilent = [](const Progress&) {};

// A jet of `rate` [kg/s] from a mouth of 0.2 x 0.2 m at 2 m/s: 80 kg/s is all it can carry.
Scene jet(double rate, const std::string& more = "", const std::string& head = "") {
  return read_scene(fmt::format("duration = 0.5\nfps = 50\nresolution = {}\n{}[[emitter]]\n"
                                "shape = {{ box = [[-0.1, 0, -0.1], [0.1, 0.1, 0.1]] }}\n"
                                "rate = {}\nvelocity = [0, 2, 0]\n{}",
                                kSpacing, head, rate, more),
                    "jet.toml");
}

struct Points {
  std::vector<Vec3> x, v;
  std::vector<std::uint64_t> id;
};

Points points_of(const State& state) {
  Points points;
  const HostColumn x = download(state.device(), state.column("position"));
  const HostColumn v = download(state.device(), state.column("velocity"));
  const HostColumn id = download(state.device(), state.column("id"));
  for (std::size_t i = 0; i < x.size; ++i) {
    points.x.push_back(
        {x.component<float>(0)[i], x.component<float>(1)[i], x.component<float>(2)[i]});
    points.v.push_back(
        {v.component<float>(0)[i], v.component<float>(1)[i], v.component<float>(2)[i]});
    points.id.push_back(id.component<std::uint64_t>(0)[i]);
  }
  return points;
}

// Of any newborn (id >= first) to any other particle, in spacings.
double nearest(const Points& points, std::uint64_t first_id) {
  double least = 1e9;
  for (std::size_t i = 0; i < points.x.size(); ++i) {
    if (points.id[i] < first_id) continue;
    for (std::size_t j = 0; j < points.x.size(); ++j) {
      if (i == j) continue;
      least = std::min(least, length(Vec3d(points.x[i]) - Vec3d(points.x[j])));
    }
  }
  return least / kSpacing;
}

using EmitterOnDevice = OnDevice;

TEST_P(EmitterOnDevice, DeliversItsRateToWithinOneParticleAtEveryFrame) {
  for (const double load : {0.1, 0.4, 0.6, 0.9, 1.0}) {
    // Gravity would slow the jet, and at full load leave no room.
    const Scene scene = jet(80.0 * load, "start = 0.1\nend = 0.4\n", "gravity = [0, 0, 0]\n");
    const auto solver = make_solver(scene, *device);
    Driver driver(scene, *device, *solver);
    EXPECT_NEAR(driver.emitters().capacity(0), 80.0, 1e-9);
    while (driver.state().frame < scene.frame_count()) {
      driver.step_within_frame();
      const double open = std::clamp(driver.state().time, 0.1, 0.4) - 0.1;
      const double due = 80.0 * load * open / kMass;
      ASSERT_NEAR(static_cast<double>(driver.state().size()), due, 1.0 + 1e-9)
          << load << " at " << driver.state().time;
    }
    const Totals totals = measure_totals(driver.state(), {kMass}, {});
    EXPECT_NEAR(totals.mass, 80.0 * load * 0.3, kMass);
    EXPECT_EQ(emitted_particles(driver.state()), driver.state().size());
  }
}

TEST_P(EmitterOnDevice, NewbornsKeepTheirDistanceAndIdsAreNew) {
  for (const double load : {0.3, 1.0}) {
    // The lower half of the jet flies into a block that is already there.
    const Scene scene = jet(80.0 * load, "",
                            "[[fill]]\nshape = { box = [[-0.2, 0.3, -0.2], [0.2, 0.5, 0.2]] }\n"
                            "velocity = [0, -3, 0]\n");
    const auto solver = make_solver(scene, *device);
    Driver driver(scene, *device, *solver);
    std::uint64_t known = driver.state().next_id;
    double least = 1e9;
    for (int step = 0; step < 40; ++step) {
      driver.step_within_frame();
      least = std::min(least, nearest(points_of(driver.state()), known));
      known = driver.state().next_id;
    }
    EXPECT_GE(least, Emitters::kApart - 1e-6) << load;
    EXPECT_LT(least, 1.5) << "the test must see neighbours";
    const Points points = points_of(driver.state());
    EXPECT_EQ(std::set<std::uint64_t>(points.id.begin(), points.id.end()).size(), points.id.size());
    EXPECT_EQ(known, points.id.size());
  }
}

TEST_P(EmitterOnDevice, TheStreamIsEvenWhateverTheSteps) {
  // In a jet that rises, a particle's velocity tells its age: v = 2 - g age. Births are m / rate
  // apart, so the n-th oldest has the age t - n m / rate. With one velocity a step, ages would come
  // in groups.
  for (const char* cfl : {"0.2", "1.3"}) {
    const Scene scene = jet(20.0, "", fmt::format("[ballistic]\ndt_max = 0.01\ncfl = {}\n", cfl));
    const auto solver = make_solver(scene, *device);
    Driver driver(scene, *device, *solver);
    while (driver.state().time < 0.17) driver.step_within_frame();
    const Points points = points_of(driver.state());
    ASSERT_GT(points.v.size(), 400u);
    for (std::size_t i = 0; i < points.v.size(); ++i) {
      const double age = (2.0 - static_cast<double>(points.v[i].y)) / 9.81;
      const double n = static_cast<double>(points.id[i]) + 1.0;
      ASSERT_NEAR(age, driver.state().time - n * kMass / 20.0, 2e-6) << cfl << " particle " << n;
      // It began within a spacing of the mouth.
      const double start = static_cast<double>(points.x[i].y) - 2.0 * age + 0.5 * 9.81 * age * age;
      ASSERT_GT(start, 0.0);
      ASSERT_LT(start, 1.1 * kSpacing);
    }
  }
}

TEST_P(EmitterOnDevice, NobodyIsBornOnALattice) {
  // Distances to the nearest neighbour of a thin stream vary by far more than rounding.
  const Scene scene = jet(24.0, "", "gravity = [0, 0, 0]\n");
  const auto solver = make_solver(scene, *device);
  Driver driver(scene, *device, *solver);
  while (driver.state().time < 0.1) driver.step_within_frame();
  const Points points = points_of(driver.state());
  // Places across the mouth, in cells of a tenth of a spacing: a lattice would use one in a
  // hundred.
  std::set<int> used;
  for (const Vec3& p : points.x) {
    const auto tenth = [](float c) {
      const double cell = (static_cast<double>(c) + 0.1) / kSpacing;
      return static_cast<int>((cell - std::floor(cell)) * 10.0);
    };
    used.insert(10 * tenth(p.x) + tenth(p.z));
  }
  EXPECT_GT(used.size(), 60u);
}

TEST_P(EmitterOnDevice, BlockedStreamsOweAndDeliverLater) {
  // A plate stands before the mouth until it moves away at 0.2 s.
  const Scene scene = jet(40.0, "end = 0.2\n",
                          "gravity = [0, 0, 0]\n"
                          "[[solid]]\nname = \"plate\"\nmotion = \"keyframes\"\n"
                          "shape = { box = [[-1, -0.5, -1], [1, 0.5, 1]] }\n"
                          "keyframes = [ { time = 0.2, position = [0, 0, 0] },\n"
                          "  { time = 0.21, position = [0, 0, 5] } ]\n");
  const auto solver = make_solver(scene, *device);
  Driver driver(scene, *device, *solver);
  testing::internal::CaptureStderr();
  while (driver.state().time < 0.2) driver.step_within_frame();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(driver.state().size(), 0u);
  EXPECT_NE(said.find("emitter 1 is blocked"), std::string::npos) << said;
  EXPECT_NE(said.find("clear the way"), std::string::npos) << said;
  EXPECT_EQ(said.find("blocked"), said.rfind("blocked")) << "said once";
  while (driver.state().frame < scene.frame_count()) driver.step_within_frame();
  EXPECT_EQ(driver.state().size(), static_cast<std::size_t>(40.0 * 0.2 / kMass + 1e-6));
}

TEST_P(EmitterOnDevice, MoreThanTheMouthCarriesIsForetold) {
  const Scene scene = jet(100.0);
  const Emitters emitters(scene, *device);
  ASSERT_EQ(emitters.overloads().size(), 1u);
  const std::string said = emitters.overloads()[0];
  for (const char* part : {"jet.toml:4:1: emitter 1", "100 kg/s", "80 kg/s", "2.5 m/s"}) {
    EXPECT_NE(said.find(part), std::string::npos) << said;
  }
  EXPECT_TRUE(Emitters(jet(80.0), *device).overloads().empty());
  // And what comes is what was foretold, to a few per cent of packing.
  const Scene still = jet(100.0, "", "gravity = [0, 0, 0]\n");
  const auto solver = make_solver(still, *device);
  Driver driver(still, *device, *solver);
  while (driver.state().frame < still.frame_count()) driver.step_within_frame();
  const double delivered = static_cast<double>(driver.state().size()) * kMass / 0.5;
  EXPECT_GT(delivered, 0.93 * 80.0);
  EXPECT_LT(delivered, 80.0 / Emitters::kApart * 1.02);
}

TEST_P(EmitterOnDevice, MouthsOfAnyShapeAndDirection) {
  for (const char* shape : {"sphere = { center = [0, 1, 0], radius = 0.1 }",
                            "cylinder = { from = [0, 1, 0], to = [0.1, 1.2, 0], radius = 0.08 }",
                            "torus = { center = [0, 1, 0], axis = [1, 2, 0], major = 0.1, minor = "
                            "0.04 }"}) {
    const Scene scene = read_scene(
        fmt::format("duration = 0.2\nfps = 50\nresolution = {}\ngravity = [0, 0, 0]\n[[emitter]]\n"
                    "shape = {{ {} }}\nrate = 20\nvelocity = [1, 2, 0]\n",
                    kSpacing, shape),
        "mouth.toml");
    const auto solver = make_solver(scene, *device);
    Driver driver(scene, *device, *solver);
    while (driver.state().frame < scene.frame_count()) driver.step_within_frame();
    const Points points = points_of(driver.state());
    EXPECT_NEAR(static_cast<double>(points.x.size()), 20.0 * 0.2 / kMass, 1.0) << shape;
    EXPECT_GE(nearest(points, 0), Emitters::kApart - 1e-6) << shape;
    // Without gravity every particle is ahead of its place of birth, which is in the shape.
    const Shape& mouth = scene.emitters[0].shape.shape;
    for (const Vec3& p : points.x) {
      bool passed = false;
      for (double s = 0.0; s < 0.7 && !passed; s += 0.002) {
        passed = deeper_than(mouth, Vec3d(p) - s * normalized(Vec3d(1, 2, 0)), 0.0);
      }
      ASSERT_TRUE(passed) << shape;
    }
  }
}

TEST_P(EmitterOnDevice, StepsAreShortFromTheStart) {
  // Before the first birth nothing moves, and the solver alone would take a step as long as it may.
  const Scene scene = jet(10.0, "", "[ballistic]\ndt_max = 1\ncfl = 1000\n");
  const auto solver = make_solver(scene, *device);
  Driver driver(scene, *device, *solver);
  EXPECT_EQ(driver.state().size(), 0u);
  driver.step_within_frame();
  EXPECT_EQ(driver.state().last_dt, 0.02) << "one frame";
  const Scene fast = jet(10.0, "",
                         "[ballistic]\ndt_max = 1\ncfl = 1000\n[[emitter]]\nshape = { sphere "
                         "= { center = [3, 0, 0], radius = 0.1 } }\nvelocity = [80, 0, 0]\n");
  const auto second = make_solver(fast, *device);
  Driver faster(fast, *device, *second);
  faster.step_within_frame();
  EXPECT_LE(80.0 * faster.state().last_dt, 4.0 * kSpacing * (1 + 1e-9));
  while (faster.state().time < 0.01) faster.step_within_frame();
  EXPECT_GE(faster.state().max_speed, 80.0) << "the newborn counts";
}

BARCHAN_ON_EACH_DEVICE(EmitterOnDevice);

}  // namespace
}  // namespace barchan
