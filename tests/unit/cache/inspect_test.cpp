#include "cache/inspect.h"

#include "cache/frame_writer.h"
#include "cache_fixture.h"

namespace barchan::test {
namespace {

class Inspect : public CacheTest {
 protected:
  void write_run(RunState state) {
    const RunFolder run = RunFolder::claim(folder / "run", RunMode::create);
    RunInfo info;
    info.version = "0.1.0";
    info.command = {"barchan", "run", "x"};
    info.device = "cpu";
    info.frames_planned = 5;
    run.start(info, "");
    WriterOptions options;
    options.checkpoint_every = 4;
    options.probes = {"gate"};
    FrameWriter writer(run, options);
    for (int i = 0; i < 5; ++i) {
      writer.frame(make_frame(static_cast<std::size_t>(100 * (i + 1)), i), make_row(i));
    }
    writer.checkpoint(make_snapshot(10, 4, 40, 4 / 24.0), CheckpointKind::regular);
    writer.finish();
    EXPECT_EQ(inspect(folder / "run").state, "running");  // the lock is held
    info.state = state;
    info.why = state == RunState::failed ? "it blew up" : "";
    write_run_info(run.run_info(), info);
  }
  RunReport report(bool verify = false) { return inspect(folder / "run", verify); }
};

TEST_F(Inspect, AWholeRun) {
  write_run(RunState::done);
  const RunReport found = report(true);
  EXPECT_TRUE(found.whole);
  EXPECT_TRUE(found.verified);
  EXPECT_EQ(found.state, "done");
  EXPECT_EQ(found.frames.size(), 5u);
  EXPECT_EQ(found.last_time, 4 / 24.0);
  EXPECT_EQ(found.first_particles, 100u);
  EXPECT_EQ(found.most_particles, 500u);
  EXPECT_EQ(found.probes, std::vector<std::string>{"gate"});
  ASSERT_EQ(found.checkpoints.size(), 1u);
  EXPECT_EQ(found.checkpoints[0].summary.step, 40);
  EXPECT_GT(found.bytes, 100000u);
  EXPECT_TRUE(contains(text(found), "5 (0 to 4) of 5 planned")) << text(found);
  EXPECT_TRUE(contains(text(found), "whole        yes, every checksum matches"));
  EXPECT_TRUE(contains(json(found), "\"whole\": true"));
}

TEST_F(Inspect, StatesOfRunsThatDidNotEnd) {
  write_run(RunState::running);
  EXPECT_EQ(report().state, "killed");
  EXPECT_TRUE(contains(text(report()), "go on with --resume"));
  RunInfo info = read_run_info(folder / "run" / "run.json");
  info.state = RunState::interrupted;
  write_run_info(folder / "run" / "run.json", info);
  EXPECT_EQ(report().state, "interrupted");
  EXPECT_FALSE(report().whole);
  info.state = RunState::failed;
  info.why = "it blew up";
  write_run_info(folder / "run" / "run.json", info);
  EXPECT_TRUE(contains(text(report()), "failed: it blew up"));
  put(folder / "run" / "run.json", "{");
  EXPECT_EQ(report().state, "unknown");
  fs::remove(folder / "run" / "run.json");
  EXPECT_EQ(report().state, "unknown");
}

TEST_F(Inspect, MissingAndBrokenFilesAreNamed) {
  write_run(RunState::done);
  const RunFolder run(folder / "run");
  fs::remove(run.frame(4));
  fs::resize_file(run.frame(1), 5000);
  put(run.probe("gate"), std::string(kProbeHeader) + "\n1,2\n");
  std::string bytes = read_text_file(run.frame(2));
  const Frame frame = make_frame(300, 2);
  const std::string value(reinterpret_cast<const char*>(frame.columns[4].component<float>(0)), 40);
  bytes[bytes.find(value)] ^= 1;
  put(run.frame(2), bytes);
  fs::resize_file(run.checkpoint(4), 100);
  RunReport found = report();
  EXPECT_FALSE(found.whole);
  EXPECT_FALSE(found.can_resume);
  EXPECT_EQ(found.missing, std::vector<std::string>{"frames/frame_000004.h5"});
  ASSERT_EQ(found.broken.size(), 2u);
  EXPECT_EQ(found.broken[0].name, "frames/frame_000001.h5");
  EXPECT_EQ(found.broken[1].name, "probes/gate.csv");
  found = report(true);  // checksums, too
  ASSERT_EQ(found.broken.size(), 3u);
  EXPECT_EQ(found.broken[1].name, "frames/frame_000002.h5");
  EXPECT_TRUE(contains(text(found), "BROKEN       frames/frame_000002.h5"));
  EXPECT_TRUE(contains(json(found), "\"name\": \"frames/frame_000001.h5\""));
}

TEST_F(Inspect, NoRun) {
  EXPECT_TRUE(contains(error_of([&] { inspect(folder); }), "holds no run"));
  EXPECT_TRUE(contains(error_of([&] { inspect(folder / "none"); }), "not a folder"));
}

}  // namespace
}  // namespace barchan::test
