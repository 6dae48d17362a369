// Probes against closed forms: lattices and blocks whose level, density, front and flow are known.
#include "sim/probes.h"

#include <cmath>

#include "base/error.h"
#include "sim/driver.h"
#include "solvers/make_solver.h"
#include "unit/devices.h"

namespace barchan {
namespace {

struct Values final : FrameSink {
  std::vector<std::map<std::string, double>> frames;
  void frame(Frame frame, const LedgerRow&) override { frames.push_back(frame.probes); }
  void checkpoint(Snapshot, CheckpointKind) override {}
};

const auto kNever = [] { return false; };
const auto kSilent = [](const Progress&) {};

// What the probes say in each frame.
std::vector<std::map<std::string, double>> run(const std::string& text, Device& device) {
  const Scene scene = read_scene(text, "probes.toml");
  const auto solver = make_solver(scene, device);
  Driver driver(scene, device, *solver);
  Values values;
  driver.run(values, kNever, kSilent);
  return values.frames;
}

const std::string kLattice =
    "resolution = 0.05\nduration = 0\nmaterial.mud.density = 1300\n"
    "[[fill]]\nsampling = \"lattice\"\nshape = { box = [[0, 0, 0], [1, 0.6, 1]] }\n";

using ProbeOnDevice = OnDevice;

TEST_P(ProbeOnDevice, LevelIsTheTopOfTheStack) {
  const std::string text =
      kLattice +
      "[[fill]]\nshape = { box = [[0.4, 0.8, 0.4], [0.6, 0.9, 0.6]] }\n"  // spray in the air
      "[[fill]]\nsampling = \"lattice\"\nshape = { box = [[2, 0, 0], [2.5, 0.2, 0.5]] }\n"
      "[[probe]]\nname = \"under_spray\"\nat = [0.5, 0, 0.5]\n"
      "[[probe]]\nname = \"from_above\"\nat = [0.12, 7, 0.81]\n"
      "[[probe]]\nname = \"low\"\nat = [2.2, 0, 0.3]\n"
      "[[probe]]\nname = \"beside\"\nat = [1.5, 0, 0.5]\n";
  const auto value = run(text, *device).at(0);
  EXPECT_NEAR(value.at("under_spray"), 0.6, 1e-6);
  EXPECT_NEAR(value.at("from_above"), 0.6, 1e-6);
  EXPECT_NEAR(value.at("low"), 0.2, 1e-6);
  EXPECT_TRUE(std::isnan(value.at("beside")));
}

TEST_P(ProbeOnDevice, LevelFollowsUp) {
  const std::string text =
      "up = \"z\"\nresolution = 0.05\nduration = 0\n[[fill]]\nsampling = \"lattice\"\n"
      "shape = { box = [[0, 0, 1], [1, 1, 1.4]] }\n[[probe]]\nname = \"p\"\nat = [0.5, 0.5, 0]\n";
  EXPECT_NEAR(run(text, *device).at(0).at("p"), 1.4, 1e-6);
}

TEST_P(ProbeOnDevice, DensityOfALatticeIsThatOfItsMaterial) {
  const std::string text =
      kLattice +
      "[[probe]]\nname = \"on\"\nkind = \"density\"\nat = [0.525, 0.325, 0.525]\n"
      "[[probe]]\nname = \"between\"\nkind = \"density\"\nat = [0.5, 0.3, 0.5]\n"
      "[[probe]]\nname = \"surface\"\nkind = \"density\"\nat = [0.5, 0.6, 0.5]\n"
      "[[probe]]\nname = \"out\"\nkind = \"density\"\nat = [3, 0.3, 0.5]\n";
  const auto value = run(text, *device).at(0);
  EXPECT_NEAR(value.at("on"), 1300.0, 0.1);
  EXPECT_NEAR(value.at("between"), 1300.0, 0.03 * 1300.0);
  EXPECT_NEAR(value.at("surface"), 650.0, 0.05 * 1300.0);
  EXPECT_EQ(value.at("out"), 0.0);
}

TEST_P(ProbeOnDevice, VelocityIsTheMeanAround) {
  // Two blocks side by side: amid one it has its velocity, on the border between them the mean.
  const std::string text =
      "resolution = 0.05\nduration = 0\n"
      "[[fill]]\nsampling = \"lattice\"\nshape = { box = [[0, 0, 0], [1, 1, 1]] }\n"
      "velocity = [2, -4, 0]\n"
      "[[fill]]\nsampling = \"lattice\"\nshape = { box = [[1, 0, 0], [2, 1, 1]] }\n"
      "[[probe]]\nname = \"amid\"\nkind = \"velocity\"\nat = [0.5, 0.5, 0.5]\naxis = \"x\"\n"
      "[[probe]]\nname = \"down\"\nkind = \"velocity\"\nat = [0.5, 0.5, 0.5]\naxis = \"-y\"\n"
      "[[probe]]\nname = \"border\"\nkind = \"velocity\"\nat = [1, 0.5, 0.5]\naxis = \"x\"\n"
      "[[probe]]\nname = \"out\"\nkind = \"velocity\"\nat = [9, 0.5, 0.5]\naxis = \"x\"\n";
  const auto value = run(text, *device).at(0);
  EXPECT_NEAR(value.at("amid"), 2.0, 1e-6);
  EXPECT_NEAR(value.at("down"), 4.0, 1e-6);
  EXPECT_NEAR(value.at("border"), 1.0, 1e-6);
  EXPECT_TRUE(std::isnan(value.at("out")));
}

TEST_P(ProbeOnDevice, FrontIsThePercentileOnTheFloor) {
  // On the floor a bar of 100 x 2 x 2 particles; above it matter that overhangs and must not count.
  const std::string text =
      "resolution = 0.01\nduration = 0\n"
      "[[fill]]\nsampling = \"lattice\"\nshape = { box = [[0, 0, 0], [1, 0.02, 0.02]] }\n"
      "[[fill]]\nsampling = \"lattice\"\nshape = { box = [[0, 0.04, 0], [3, 0.06, 0.02]] }\n"
      "[[probe]]\nname = \"right\"\nkind = \"front\"\naxis = \"x\"\n"
      "[[probe]]\nname = \"left\"\nkind = \"front\"\naxis = \"-x\"\n"
      "[[probe]]\nname = \"z\"\nkind = \"front\"\naxis = \"z\"\n";
  const auto value = run(text, *device).at(0);
  // 400 particles: rank 398, and the last four share x = 0.995.
  EXPECT_NEAR(value.at("right"), 0.995, 1e-6);
  EXPECT_NEAR(value.at("left"), -0.005, 1e-6);
  EXPECT_NEAR(value.at("z"), 0.015, 1e-6);
}

// A block of 1 x 0.4 x 0.4 m of density 1300 that flies along x at 2 m/s: rho A v through a window
// in its way.
std::string flying(const std::string& probe, const std::string& more = "") {
  return "resolution = 0.04\nduration = 0.4\nfps = 10\ngravity = [0, 0, 0]\n" + more +
         "material.mud.density = 1300\n"
         "[[fill]]\nsampling = \"lattice\"\nshape = { box = [[-1, 0, 0], [0, 0.4, 0.4]] }\n"
         "velocity = [2, 0, 0]\n[[probe]]\nname = \"gate\"\nkind = \"flow\"\n" +
         probe;
}

TEST_P(ProbeOnDevice, FlowOfABlockIsRhoAreaSpeed) {
  const struct {
    const char* probe;
    double area;  // of the block's section that goes through, with its sign [m^2]
  } cases[] = {
      {"from = [0.1, -1, -1]\nto = [0.1, 1, 1]\nnormal = [1, 0, 0]\n", 0.16},
      {"from = [0.1, -1, -1]\nto = [0.1, 1, 1]\nnormal = [-3, 0, 0]\n", -0.16},
      {"from = [0.1, 0, 0.2]\nto = [0.1, 0.2, 0]\nnormal = [1, 0, 0]\n", 0.04},
      {"from = [0.1, 1, 1]\nto = [0.1, 2, 2]\nnormal = [1, 0, 0]\n", 0.0},
      {"from = [0, 0.2, -1]\nto = [3, 0.2, 1]\nnormal = [0, 1, 0]\n", 0.0},  // along the flow
      // A window at 45 degrees sees the same section.
      {"from = [-0.6, -1, -0.5]\nto = [0.4, 1, 0.5]\nnormal = [1, 0, -1]\n", 0.16},
  };
  for (const auto& c : cases) {
    const auto frames = run(flying(c.probe), *device);
    ASSERT_EQ(frames.size(), 5u);
    EXPECT_TRUE(std::isnan(frames[0].at("gate"))) << "no time has passed";
    // In frames 3 and 4 the block is in the window all the time: 5 layers a frame of 0.1 s.
    for (const std::size_t f : {3, 4}) {
      EXPECT_NEAR(frames[f].at("gate"), 1300.0 * c.area * 2.0, 1e-3) << c.probe << f;
    }
  }
  // Frames that are not written count in the next one that is.
  const auto rare = run(flying(cases[0].probe, "cache.every = 2\n"), *device);
  ASSERT_EQ(rare.size(), 3u);
  EXPECT_NEAR(rare[2].at("gate"), 1300.0 * 0.16 * 2.0, 1e-3);
}

// Turns the rows around in every step, as a solver that sorts does.
class Reversing final : public Solver {
 public:
  double suggest_dt(const State&) const override { return 0.013; }
  StepReport step(const State& now, const SolidsView&, double dt, State& next,
                  BodyImpulses&) override {
    const HostColumn v = download(now.device(), now.column("velocity"));
    HostColumn x = download(now.device(), now.column("position"));
    std::vector<HostColumn> moved;
    for (const Column& column : now.columns()) moved.push_back(download(now.device(), column));
    for (int axis = 0; axis < 3; ++axis) {
      for (std::size_t i = 0; i < x.size; ++i) {
        moved[0].component<float>(axis)[i] += static_cast<float>(dt) * v.component<float>(axis)[i];
      }
    }
    next.assign(x.size, moved);
    std::vector<std::uint32_t> rows;
    for (std::size_t i = x.size; i > 0; --i) rows.push_back(static_cast<std::uint32_t>(i - 1));
    Buffer<std::uint32_t> order(now.device());
    order.upload(rows);
    next.reorder(std::as_const(order).view());
    StepReport report;
    report.dt_used = dt;
    report.max_speed = now.max_speed;
    return report;
  }
  double surface_radius() const override { return 0.02; }
};

TEST_P(ProbeOnDevice, FlowKnowsParticlesThroughSorting) {
  const Scene scene = read_scene(
      flying("from = [0.1, -1, -1]\nto = [0.1, 1, 1]\nnormal = [1, 0, 0]\n"), "sorted.toml");
  Reversing solver;
  Driver driver(scene, *device, solver);
  Values values;
  driver.run(values, kNever, kSilent);
  EXPECT_NEAR(values.frames[3].at("gate"), 1300.0 * 0.16 * 2.0, 1e-3);
}

TEST_P(ProbeOnDevice, FlowOfAnEmitterIsItsRate) {
  // The window is so near the mouth that newborns pass it in the step of their birth.
  const auto frames =
      run("resolution = 0.02\nduration = 1\nfps = 5\ngravity = [0, 0, 0]\n[[emitter]]\n"
          "shape = { box = [[0, 0, 0], [0.1, 0.2, 0.2]] }\nrate = 12\nvelocity = [3, 0, 0]\n"
          "[[probe]]\nname = \"gate\"\nkind = \"flow\"\n"
          "from = [0.021, -1, -1]\nto = [0.021, 1, 1]\nnormal = [1, 0, 0]\n",
          *device);
  double sum = 0.0;
  for (std::size_t f = 2; f < frames.size(); ++f) sum += frames[f].at("gate");
  EXPECT_NEAR(sum / static_cast<double>(frames.size() - 2), 12.0, 0.1);
}

// A solver with a pressure that grows downwards.
class Hydrostatic final : public Solver {
 public:
  std::vector<ColumnSpec> columns() const override { return {{"pressure", Type::f32, 1, true}}; }
  double suggest_dt(const State&) const override { return 1.0; }
  StepReport step(const State& now, const SolidsView&, double dt, State& next,
                  BodyImpulses&) override {
    std::vector<HostColumn> all;
    for (const Column& column : now.columns()) all.push_back(download(now.device(), column));
    for (std::size_t i = 0; i < all[0].size; ++i) {
      all[4].component<float>(0)[i] = 1000.0f * (1.0f - all[0].component<float>(1)[i]);
    }
    next.assign(all[0].size, all);
    StepReport report;
    report.dt_used = dt;
    return report;
  }
  double surface_radius() const override { return 0.02; }
};

TEST_P(ProbeOnDevice, PressureIsTheMeanAroundThePoint) {
  const Scene scene = read_scene(
      "resolution = 0.05\nduration = 0.2\nfps = 10\n[[fill]]\nsampling = \"lattice\"\n"
      "shape = { box = [[0, 0, 0], [1, 1, 1]] }\n"
      "[[probe]]\nname = \"p\"\nkind = \"pressure\"\nat = [0.5, 0.3, 0.5]\n"
      "[[probe]]\nname = \"away\"\nkind = \"pressure\"\nat = [5, 0.3, 0.5]\n",
      "pressure.toml");
  Hydrostatic solver;
  Driver driver(scene, *device, solver);
  Values values;
  driver.run(values, kNever, kSilent);
  EXPECT_NEAR(values.frames[1].at("p"), 700.0, 0.01);
  EXPECT_TRUE(std::isnan(values.frames[1].at("away")));

  const auto without = make_solver(scene, *device);
  try {
    Driver(scene, *device, *without);
    FAIL() << "ballistic has no pressure";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    EXPECT_STREQ(error.what(),
                 "pressure.toml:7:1: probe 'p' measures pressure, but solver = \"ballistic\" has "
                 "none; choose another kind or another solver");
  }
}

TEST_P(ProbeOnDevice, NobodyPaysWhereThereIsNone) {
  const Scene scene = read_scene(kLattice, "none.toml");
  const auto solver = make_solver(scene, *device);
  Driver driver(scene, *device, *solver);
  EXPECT_EQ(driver.state().columns().size(), 4u);
  device->profiler().clear();
  driver.step(0.01);
  for (const Profiler::Stage& stage : device->profiler().stages()) {
    EXPECT_NE(stage.label, std::string("flow probe"));
    EXPECT_NE(stage.label, std::string("select rows"));
  }
}

BARCHAN_ON_EACH_DEVICE(ProbeOnDevice);

}  // namespace
}  // namespace barchan
