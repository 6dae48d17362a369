#include "cache/run_folder.h"

#include <cmath>

#include "base/log.h"
#include "cache/h5_file.h"
#include "cache/ledger.h"
#include "cache_fixture.h"

namespace barchan::test {
namespace {

class RunFolderTest : public CacheTest {
 protected:
  void SetUp() override {
    CacheTest::SetUp();
    set_log_quiet(true);
    out = folder / "out" / "x";
  }
  void TearDown() override {
    set_log_quiet(false);
    CacheTest::TearDown();
  }
  fs::path out;
};

TEST_F(RunFolderTest, Names) {
  const RunFolder run("out/x");
  EXPECT_EQ(run.frame(12), "out/x/frames/frame_000012.h5");
  EXPECT_EQ(run.frame(1234567), "out/x/frames/frame_1234567.h5");
  EXPECT_EQ(run.checkpoint(0), "out/x/checkpoints/checkpoint_000000.h5");
  EXPECT_EQ(run.interrupted(), "out/x/checkpoints/interrupted.h5");
  EXPECT_EQ(run.probe("gate"), "out/x/probes/gate.csv");
  EXPECT_EQ(run.scene(), "out/x/scene.toml");
}

TEST_F(RunFolderTest, RunInfoRoundTrip) {
  RunInfo info;
  info.version = "0.1.0";
  info.command = {"barchan", "run", "it's \"x\"", "\xff"};
  info.device = "cpu";
  info.threads = 2;
  info.state = RunState::failed;
  info.why = "it blew up";
  info.timings = {{"neighbours", 1.5}, {"lost", std::nan("")}};
  info.frames = 12;
  info.particles = 1u << 31;
  info.time = 0.1;
  write_run_info(folder / "run.json", info);
  const RunInfo read = read_run_info(folder / "run.json");
  EXPECT_EQ(read.version, info.version);
  EXPECT_EQ(read.command[2], info.command[2]);
  EXPECT_EQ(read.state, RunState::failed);
  EXPECT_EQ(read.why, info.why);
  EXPECT_EQ(read.timings.at("neighbours"), 1.5);
  EXPECT_TRUE(std::isnan(read.timings.at("lost")));
  EXPECT_EQ(read.frames, 12);
  EXPECT_EQ(read.particles, info.particles);
  EXPECT_EQ(read.time, 0.1);
  for (const char* bad : {"", "{", "[]", "{\"state\": \"odd\"}", "{\"state\": 3}",
                          "{\"state\": \"done\", \"threads\": \"x\"}"}) {
    put(folder / "run.json", bad);
    EXPECT_TRUE(contains(error_of([&] { read_run_info(folder / "run.json"); }), "run.json")) << bad;
  }
}

TEST_F(RunFolderTest, ASecondRunIsRefused) {
  {
    const RunFolder run = RunFolder::claim(out, RunMode::create);
    EXPECT_FALSE(run.holds_run());
    run.start(RunInfo(), "title = \"a\"\n");
    EXPECT_TRUE(run.holds_run());
    EXPECT_TRUE(FolderLock::is_held(out));
    EXPECT_TRUE(contains(error_of([&] { RunFolder::claim(out, RunMode::resume); }), "another run"));
  }
  EXPECT_FALSE(FolderLock::is_held(out));
  try {
    RunFolder::claim(out, RunMode::create);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    EXPECT_EQ(
        std::string(error.what()),
        out.string() + " already holds a run; use --resume to go on or --overwrite to start again");
  }
  EXPECT_EQ(read_text_file(RunFolder::claim(out, RunMode::resume).scene()), "title = \"a\"\n");
}

TEST_F(RunFolderTest, OverwriteKeepsForeignFiles) {
  {
    const RunFolder run = RunFolder::claim(out, RunMode::create);
    run.start(RunInfo(), "");
    put(run.frame(0), "x");
    put(run.checkpoint(3), "x");
    put(run.ledger(), "x");
    fs::create_directory(out / "probes");
    put(run.probe("gate"), std::string(kProbeHeader) + "\n");
    put(out / "frames" / "frame_000001.h5.part", "x");
    fs::create_directories(out / "images");
    put(out / "images" / "frame_000000.png", "x");
    fs::create_directories(out / "surface");
    put(out / "surface" / "surface_000000.ply", "x");
  }
  const std::vector<fs::path> foreign = {out / "notes.txt", out / "frames" / "frame_best.h5",
                                         out / "frames" / "frame_01.h5", out / "probes" / "my.csv",
                                         out / "images" / "frame_000000.psd"};
  for (const fs::path& path : foreign) put(path, "mine");
  const RunFolder run = RunFolder::claim(out, RunMode::overwrite);
  EXPECT_FALSE(run.holds_run());
  for (const fs::path& path : foreign) EXPECT_TRUE(fs::exists(path)) << path;
  for (const fs::path& path :
       {run.frame(0), run.checkpoint(3), run.ledger(), run.probe("gate"), run.run_info(),
        run.scene(), out / "images" / "frame_000000.png", out / "surface" / "surface_000000.ply",
        out / "frames" / "frame_000001.h5.part"}) {
    EXPECT_FALSE(fs::exists(path)) << path;
  }
  EXPECT_FALSE(fs::exists(out / "surface"));
}

TEST_F(RunFolderTest, SomeonesOwnSceneIsNotReplaced) {
  fs::create_directories(out);
  put(out / "scene.toml", "mine");
  for (const RunMode mode : {RunMode::create, RunMode::resume, RunMode::overwrite}) {
    EXPECT_TRUE(contains(error_of([&] { RunFolder::claim(out, mode); }), "not written by a run"));
  }
  EXPECT_EQ(read_text_file(out / "scene.toml"), "mine");
  put(folder / "file", "");
  EXPECT_TRUE(
      contains(error_of([&] { RunFolder::claim(folder / "file", RunMode::create); }), "is a file"));
}

TEST_F(RunFolderTest, NewestCheckpointAndTheOneBefore) {
  const RunFolder run = RunFolder::claim(out, RunMode::create);
  EXPECT_FALSE(run.last_good_checkpoint());
  run.start(RunInfo(), "");
  for (const int frame : {10, 20, 30}) {
    write_checkpoint(run.checkpoint(frame), make_snapshot(100, frame, 5 * frame, frame), "s");
  }
  run.prune_checkpoints(2);
  ASSERT_EQ(run.checkpoints().size(), 2u);
  EXPECT_EQ(run.checkpoints()[0].frame, 20);
  EXPECT_EQ(run.last_good_checkpoint()->checkpoint.snapshot.frame, 30);

  // A stop in mid-frame is newer by its step, though its frame is the same.
  write_checkpoint(run.interrupted(), make_snapshot(100, 30, 152, 30.5), "s");
  EXPECT_EQ(run.last_good_checkpoint()->path, run.interrupted());

  // Damage goes back one by one: in the middle of the data, then at the end.
  std::string bytes = read_text_file(run.interrupted());
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  put(run.interrupted(), bytes);
  EXPECT_EQ(run.last_good_checkpoint()->path, run.checkpoint(30));
  fs::resize_file(run.checkpoint(30), fs::file_size(run.checkpoint(30)) / 2);
  EXPECT_EQ(run.last_good_checkpoint()->path, run.checkpoint(20));
  put(run.checkpoint(20), "");
  EXPECT_FALSE(run.last_good_checkpoint());

  H5Writer other;
  other.set_text("/", "generator", "barchan");
  other.set_text("/", "kind", "checkpoint");
  other.set_integer("/", "format", 999);
  other.save(run.checkpoint(40));
  EXPECT_THROW(run.last_good_checkpoint(), OtherFormatError);
  run.prune_checkpoints(2);
  EXPECT_FALSE(fs::exists(run.interrupted()));
}

}  // namespace
}  // namespace barchan::test
