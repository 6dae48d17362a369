// Emitters, sinks and flow probes together: nobody is lost, and every run repeats.
#include <cmath>
#include <set>

#include "sim/driver.h"
#include "sim/emitters.h"
#include "sim/sinks.h"
#include "solvers/make_solver.h"
#include "unit/devices.h"

namespace barchan {
namespace {

const auto kNever = [] { return false; };
const auto kSilent = [](const Progress&) {};

struct Collect final : FrameSink {
  std::vector<std::map<std::string, double>> probes;
  std::vector<LedgerRow> rows;
  std::vector<Snapshot> checkpoints;
  void frame(Frame frame, const LedgerRow& row) override {
    probes.push_back(frame.probes);
    rows.push_back(row);
  }
  void checkpoint(Snapshot snapshot, CheckpointKind) override {
    checkpoints.push_back(std::move(snapshot));
  }
};

// Two jets through a window into a drain, and no particle at the start.
Scene fountain() {
  return read_scene(
      "duration = 0.8\nfps = 20\nresolution = 0.03\n"
      "[[emitter]]\nshape = { sphere = { center = [0, 0.1, 0], radius = 0.1 } }\nrate = 25\n"
      "velocity = [0.3, 3, 0]\nend = 0.6\n"
      "[[emitter]]\nshape = { box = [[-0.5, 1, -0.1], [-0.4, 1.2, 0.1]] }\nrate = 40\n"
      "velocity = [2, 0, 0]\nstart = 0.13\n"
      "[[sink]]\nshape = { plane = { point = [0, -0.2, 0], normal = [0, 1, 0] } }\n"
      "[[sink]]\nshape = { sphere = { center = [0.6, 0.9, 0], radius = 0.3 } }\n"
      "[[probe]]\nname = \"up\"\nkind = \"flow\"\nfrom = [-1, 0.3, -1]\nto = [1, 0.3, 1]\n"
      "normal = [0, 1, 0]\n",
      "fountain.toml");
}

using ExchangeOnDevice = OnDevice;

TEST_P(ExchangeOnDevice, EmittedLessRemovedIsAlive) {
  const Scene scene = fountain();
  const auto solver = make_solver(scene, *device);
  Driver driver(scene, *device, *solver);
  while (driver.state().frame < scene.frame_count()) {
    driver.step_within_frame();
    const State& state = driver.state();
    ASSERT_EQ(emitted_particles(state) - removed_particles(state), state.size());
    ASSERT_EQ(emitted_particles(state), state.next_id);
  }
  EXPECT_GT(removed_particles(driver.state()), 300u);
  // Nobody is left inside, and those left are in the order of their births.
  const HostColumn x = download(*device, driver.state().column("position"));
  const HostColumn id = download(*device, driver.state().column("id"));
  std::set<std::uint64_t> ids;
  for (std::size_t i = 0; i < x.size; ++i) {
    const Vec3d p(x.component<float>(0)[i], x.component<float>(1)[i], x.component<float>(2)[i]);
    for (const Sink& sink : scene.sinks) EXPECT_FALSE(deeper_than(sink.shape.shape, p, 1e-6));
    ids.insert(ids.end(), id.component<std::uint64_t>(0)[i]);
    if (i > 0) {
      ASSERT_LT(id.component<std::uint64_t>(0)[i - 1], id.component<std::uint64_t>(0)[i]);
    }
  }
  EXPECT_EQ(ids.size(), x.size);
}

TEST_P(ExchangeOnDevice, SinksTakeWhatIsInsideAndNothingElse) {
  const Scene scene = read_scene(
      "resolution = 0.1\ngravity = [0, 0, 0]\n[[fill]]\nsampling = \"lattice\"\n"
      "shape = { box = [[0, 0, 0], [1, 1, 1]] }\n"
      "[[sink]]\nshape = { box = [[0, 0, 0], [0.3, 1, 1]] }\n"
      "[[sink]]\nshape = { box = [[0.2, 0, 0], [0.5, 1, 0.5]] }\n",
      "sink.toml");
  const auto solver = make_solver(scene, *device);
  Driver driver(scene, *device, *solver);
  EXPECT_EQ(driver.state().size(), 1000u);
  driver.step(0.001);
  EXPECT_EQ(driver.state().size(), 1000u - 300u - 100u);
  EXPECT_EQ(removed_particles(driver.state()), 400u);
  driver.step(0.001);
  EXPECT_EQ(removed_particles(driver.state()), 400u);
}

TEST_P(ExchangeOnDevice, StoppedAnywhereAndRestoredItGoesOnWithTheSameBytes) {
  const Scene scene = fountain();
  const auto solver = make_solver(scene, *device);
  Driver whole(scene, *device, *solver);
  Collect expected;
  whole.run(expected, kNever, kSilent);
  for (const int stop_after : {1, 7, 31, 80}) {
    int asked = 0;
    Driver first(scene, *device, *solver);
    Collect part;
    ASSERT_EQ(first.run(
                  part, [&] { return ++asked > stop_after; }, kSilent),
              Outcome::interrupted);
    Driver second(scene, *device, *solver);
    second.restore(part.checkpoints.back());
    second.run(part, kNever, kSilent);
    EXPECT_EQ(hash_of(second.state()), hash_of(whole.state())) << stop_after;
    EXPECT_EQ(second.state().scalars.at("emitter 2 born"),
              whole.state().scalars.at("emitter 2 born"));
    ASSERT_EQ(part.probes.size(), expected.probes.size());
    for (std::size_t f = 1; f < part.probes.size(); ++f) {
      EXPECT_EQ(part.probes[f], expected.probes[f]) << f;
      EXPECT_EQ(part.rows[f].particles, expected.rows[f].particles);
      EXPECT_EQ(part.rows[f].volume, expected.rows[f].volume);
    }
  }
  EXPECT_GT(expected.probes[8].at("up"), 20.0) << "the probe sees the jet";
}

TEST(Exchange, SameBytesForAnyNumberOfThreads) {
  std::vector<std::uint64_t> hashes;
  std::vector<double> flows;
  const Scene scene = fountain();
  for (const int threads : {1, 2, 4}) {
    const auto device = make_cpu_device(threads);
    const auto solver = make_solver(scene, *device);
    Driver driver(scene, *device, *solver);
    Collect collect;
    driver.run(collect, kNever, kSilent);
    hashes.push_back(hash_of(driver.state()));
    flows.push_back(collect.probes[9].at("up"));
  }
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_EQ(hashes[0], hashes[2]);
  EXPECT_EQ(flows[0], flows[1]);
  EXPECT_EQ(flows[0], flows[2]);
}

TEST(Exchange, SeedsGiveOtherStreams) {
  const auto device = make_cpu_device(1);
  std::vector<std::uint64_t> hashes;
  for (const std::uint64_t seed : {1, 2}) {
    Scene scene = fountain();
    scene.general.seed = seed;
    const auto solver = make_solver(scene, *device);
    Driver driver(scene, *device, *solver);
    while (driver.state().time < 0.2) driver.step_within_frame();
    hashes.push_back(hash_of(driver.state()));
  }
  EXPECT_NE(hashes[0], hashes[1]);
}

BARCHAN_ON_EACH_DEVICE(ExchangeOnDevice);

}  // namespace
}  // namespace barchan
