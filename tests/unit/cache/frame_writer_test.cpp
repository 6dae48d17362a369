#include "cache/frame_writer.h"

#include <sys/mount.h>

#include <atomic>
#include <chrono>
#include <mutex>

#include "base/log.h"
#include "cache/h5_file.h"
#include "cache/inspect.h"
#include "cache/xdmf.h"
#include "cache_fixture.h"

namespace barchan::test {
namespace {

class FrameWriterTest : public CacheTest {
 protected:
  void SetUp() override {
    CacheTest::SetUp();
    set_log_quiet(true);
    run.emplace(RunFolder::claim(folder / "run", RunMode::create));
    run->start(RunInfo(), "scene");
  }
  void TearDown() override {
    set_log_quiet(false);
    run.reset();
    CacheTest::TearDown();
  }
  WriterOptions options(std::optional<std::int64_t> resumed = {}) const {
    WriterOptions made;
    made.scene = "scene";
    made.fps = 24.0;
    made.checkpoint_every = 2;
    made.probes = {"gate"};
    made.resumed_frame = resumed;
    return made;
  }
  // Frames from .. to, with a checkpoint at every second one.
  void write(FrameWriter& writer, int from, int to) const {
    for (int i = from; i <= to; ++i) {
      Frame frame = make_frame(50, i);
      frame.probes = {{"gate", 10.0 * i}};
      writer.frame(std::move(frame), make_row(i));
      if (i % 2 == 0)
        writer.checkpoint(make_snapshot(50, i, 5 * i, i / 24.0), CheckpointKind::regular);
    }
  }
  std::optional<RunFolder> run;
};

std::vector<std::string> files_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) names.push_back(entry.path().lexically_relative(folder));
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST_F(FrameWriterTest, WritesEverything) {
  {
    FrameWriter writer(*run, options());
    write(writer, 0, 7);
    writer.finish();
    writer.finish();  // once more does nothing
  }
  EXPECT_EQ(run->frames(), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  ASSERT_EQ(run->checkpoints().size(), 2u);
  EXPECT_EQ(run->checkpoints()[1].frame, 6);
  EXPECT_EQ(read_checkpoint(run->checkpoint(6)).scene, "scene");
  EXPECT_EQ(read_csv(run->ledger()).rows(), 8u);
  const Table bodies = read_csv(run->bodies());
  EXPECT_EQ(bodies.rows(), 16u);
  EXPECT_TRUE(std::isnan(bodies.column("force_x")[1]));  // nothing has happened yet
  EXPECT_EQ(bodies.column("force_x")[3], 12.0);          // 0.5 N s in 1/24 s
  EXPECT_EQ(read_csv(run->probe("gate")).column("value")[7], 70.0);
  const std::string index = read_text_file(run->xdmf());
  EXPECT_TRUE(contains(index, "frames/frame_000007.h5:/position"));
  EXPECT_TRUE(contains(index, "Name=\"density\" AttributeType=\"Scalar\""));
  EXPECT_FALSE(contains(index, "spheres"));
  write_xdmf(*run);  // from the files themselves
  EXPECT_EQ(read_text_file(run->xdmf()), index);
}

TEST_F(FrameWriterTest, StoppedAndResumedGivesTheSameFiles) {
  {
    FrameWriter writer(*run, options());
    write(writer, 0, 9);
    writer.finish();
  }
  RunFolder other = RunFolder::claim(folder / "other", RunMode::create);
  other.start(RunInfo(), "scene");
  {
    FrameWriter writer(other, options());
    write(writer, 0, 5);
    writer.checkpoint(make_snapshot(50, 5, 27, 5.4 / 24.0),
                      CheckpointKind::interrupted);  // Ctrl-C in mid-frame
    writer.finish();
  }
  EXPECT_EQ(other.last_good_checkpoint()->path, other.interrupted());
  {
    FrameWriter writer(other, options(5));
    writer.checkpoint(make_snapshot(50, 5, 28, 5.5 / 24.0),
                      CheckpointKind::interrupted);  // and again
    writer.finish();
    EXPECT_EQ(other.last_good_checkpoint()->checkpoint.snapshot.step, 28);
  }
  {
    // Ctrl-C at the end of a frame where no checkpoint is due.
    FrameWriter writer(other, options(4));
    write(writer, 5, 5);
    writer.checkpoint(make_snapshot(50, 5, 25, 5.0 / 24.0), CheckpointKind::interrupted);
    writer.finish();
    EXPECT_EQ(other.last_good_checkpoint()->path, other.interrupted());
  }
  {
    // Killed after frame 7, resumed from checkpoint 6.
    FrameWriter writer(other, options(5));
    write(writer, 6, 7);
  }
  EXPECT_FALSE(fs::exists(other.interrupted()));
  {
    FrameWriter writer(other, options(6));
    write(writer, 7, 9);
    writer.finish();
  }
  ASSERT_EQ(files_in(run->path()), files_in(other.path()));
  for (const std::string& name : files_in(run->path())) {
    EXPECT_EQ(read_text_file(run->path() / name), read_text_file(other.path() / name)) << name;
  }
}

// Every third frame is written; the last frame of a shorter run has a checkpoint that the longer
// one would not have.
TEST_F(FrameWriterTest, ResumedWithALongerDuration) {
  const auto write_to = [&](int from, int to, std::optional<std::int64_t> resumed) {
    WriterOptions some = options(resumed);
    some.every = 3;
    some.checkpoint_every = 4;
    some.last_frame = to;
    FrameWriter writer(*run, some);
    for (int i = from; i <= to; ++i) {
      if (i % 3 == 0) writer.frame(make_frame(50, i), make_row(i));
      if (i % 4 == 0 || i == to)
        writer.checkpoint(make_snapshot(50, i, 5 * i, i / 24.0), CheckpointKind::regular);
    }
    writer.finish();
  };
  write_to(0, 9, {});
  ASSERT_EQ(run->checkpoints().size(), 2u);
  EXPECT_EQ(run->checkpoints()[1].frame, 9);
  write_to(10, 10, 9);
  ASSERT_EQ(run->checkpoints().size(), 2u);
  EXPECT_EQ(run->checkpoints()[0].frame, 8);
  EXPECT_EQ(run->checkpoints()[1].frame, 10);
  EXPECT_EQ(read_csv(run->bodies()).column("force_x")[3], 4.0);  // 0.5 N s in 3/24 s
}

TEST_F(FrameWriterTest, BlocksWhenTwoAreWaiting) {
  FrameWriter writer(*run, options());
  std::atomic<int> given = 0;
  std::thread simulation;
  {
    // Whoever holds a reader holds HDF5: the writer cannot get on.
    write_frame(folder / "f.h5", make_frame(1));
    const H5Reader hold(folder / "f.h5");
    simulation = std::thread([&] {
      for (int i = 0; i < 6; ++i) {
        writer.frame(make_frame(10, i), make_row(i));
        ++given;
      }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    EXPECT_EQ(given, 2);
  }
  simulation.join();
  writer.finish();
  EXPECT_EQ(run->frames().size(), 6u);
}

TEST_F(FrameWriterTest, AFaultIsThrownAndWhatIsWrittenStays) {
  FrameWriter writer(*run, options());
  write(writer, 0, 3);
  fs::create_directory(run->path() / "frames" / "frame_000004.h5.part");  // in the way of frame 4
  const std::string said = error_of([&] {
    write(writer, 4, 20);
    writer.finish();
  });
  EXPECT_TRUE(contains(said, "frame_000004.h5")) << said;
  EXPECT_TRUE(contains(said, "frames 0 to 3 are whole; put that right and go on with --resume"))
      << said;
  EXPECT_EQ(error_of([&] { writer.frame(make_frame(1, 5), make_row(5)); }), said);
  EXPECT_EQ(error_of([&] { writer.finish(); }), said);
  EXPECT_EQ(run->frames().size(), 4u);
  EXPECT_EQ(read_csv(run->ledger()).rows(), 4u);
  EXPECT_EQ(run->last_good_checkpoint()->checkpoint.snapshot.frame, 2);
}

TEST_F(FrameWriterTest, FramesFolderIsAFile) {
  fs::remove_all(run->path() / "frames");
  put(run->path() / "frames", "");
  FrameWriter writer(*run, options());
  writer.frame(make_frame(5, 0), make_row(0));
  EXPECT_TRUE(contains(error_of([&] { writer.finish(); }), "no frame is written yet"));
}

// A file system of 1 MB stands for a full disk; only root may make one.
TEST_F(FrameWriterTest, FullDisk) {
  const fs::path disk = folder / "disk";
  fs::create_directory(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=1m") != 0) {
    GTEST_SKIP() << "cannot mount a small file system here";
  }
  {
    RunFolder small = RunFolder::claim(disk / "run", RunMode::create);
    small.start(RunInfo(), "scene");
    std::string said;
    {
      FrameWriter writer(small, options());
      said = error_of([&] {
        for (int i = 0; i < 40; ++i) {
          writer.frame(make_frame(2000, i), make_row(i));
          if (i == 2) writer.checkpoint(make_snapshot(20, i, i, i / 24.0), CheckpointKind::regular);
        }
        writer.finish();
      });
    }
    EXPECT_TRUE(contains(said, "no space left on the disk; frames 0 to")) << said;
    EXPECT_TRUE(contains(said, "free some space and go on with --resume")) << said;
    for (const std::int64_t frame : small.frames()) verify_frame(small.frame(frame));
    EXPECT_GE(read_csv(small.ledger()).rows(), 2u);
    EXPECT_EQ(small.last_good_checkpoint()->checkpoint.snapshot.frame, 2);
  }
  ::umount(disk.c_str());
}

}  // namespace
}  // namespace barchan::test
