#include "cache/checkpoint_file.h"

#include <cmath>

#include "cache_fixture.h"

namespace barchan::test {
namespace {

using CheckpointFileTest = CacheTest;

TEST_F(CheckpointFileTest, GivesBackEverythingExactly) {
  for (const std::size_t size : {0, 1, 1000, 200000}) {
    SCOPED_TRACE(size);
    const Snapshot was = make_snapshot(size, 7, 123, 1.0 / 3.0);
    const std::string scene = "title = \"sand\"\n# \xc3\xa9\n" + std::string(70000, ' ') + ".";
    write_checkpoint(folder / "c.h5", was, scene);
    const LoadedCheckpoint loaded = read_checkpoint(folder / "c.h5");
    const Snapshot& is = loaded.snapshot;
    EXPECT_EQ(loaded.scene, scene);
    EXPECT_EQ(is.time, was.time);
    EXPECT_EQ(is.step, was.step);
    EXPECT_EQ(is.frame, was.frame);
    EXPECT_EQ(is.last_dt, was.last_dt);
    EXPECT_EQ(is.next_id, was.next_id);
    EXPECT_EQ(is.max_speed, was.max_speed);
    EXPECT_EQ(is.count, was.count);
    EXPECT_EQ(is.scalars, was.scalars);
    EXPECT_TRUE(std::signbit(is.scalars.at("a")));
    ASSERT_EQ(is.bodies.size(), was.bodies.size());
    for (std::size_t i = 0; i < is.bodies.size(); ++i) {
      EXPECT_EQ(is.bodies[i].name, was.bodies[i].name);
      EXPECT_EQ(is.bodies[i].position, was.bodies[i].position);
      EXPECT_EQ(is.bodies[i].orientation, was.bodies[i].orientation);
      EXPECT_EQ(is.bodies[i].velocity, was.bodies[i].velocity);
      EXPECT_EQ(is.bodies[i].angular_velocity, was.bodies[i].angular_velocity);
      EXPECT_EQ(is.bodies[i].impulse, was.bodies[i].impulse);
      EXPECT_EQ(is.bodies[i].angular_impulse, was.bodies[i].angular_impulse);
    }
    ASSERT_EQ(is.columns.size(), was.columns.size());
    for (std::size_t c = 0; c < is.columns.size(); ++c) {
      EXPECT_TRUE(same(is.columns[c], was.columns[c])) << was.columns[c].spec.name;
    }
    const CheckpointSummary summary = summarize_checkpoint(folder / "c.h5");
    EXPECT_EQ(summary.step, 123);
    EXPECT_EQ(summary.particles, size);
    verify_checkpoint(folder / "c.h5");
  }
}

// Arrays of lengths of their own: those of a solver's grid.
TEST_F(CheckpointFileTest, GivesBackWhatASolverKeeps) {
  Snapshot was = make_snapshot(100, 7, 123, 0.5);
  was.kept.push_back(filled({"grid_tile", Type::u64, 1, false}, 3, 1));
  was.kept.push_back(filled({"grid_stress", Type::f32, 6, false}, 3 * 512, 2));
  was.kept.push_back(filled({"grid_kind", Type::u8, 1, false}, 3 * 512, 3));
  was.kept.push_back(filled({"empty", Type::f32, 3, false}, 0, 4));
  write_checkpoint(folder / "c.h5", was, "");
  verify_checkpoint(folder / "c.h5");
  const Snapshot is = read_checkpoint(folder / "c.h5").snapshot;
  ASSERT_EQ(is.kept.size(), was.kept.size());
  for (std::size_t c = 0; c < is.kept.size(); ++c) {
    EXPECT_TRUE(same(is.kept[c], was.kept[c])) << was.kept[c].spec.name;
  }
  EXPECT_EQ(is.columns.size(), was.columns.size());
}

TEST_F(CheckpointFileTest, NothingInIt) {
  write_checkpoint(folder / "c.h5", Snapshot(), "");
  const LoadedCheckpoint loaded = read_checkpoint(folder / "c.h5");
  EXPECT_EQ(loaded.scene, "");
  EXPECT_TRUE(loaded.snapshot.columns.empty());
  EXPECT_TRUE(loaded.snapshot.scalars.empty());
}

TEST_F(CheckpointFileTest, SameContentSameBytes) {
  write_checkpoint(folder / "a.h5", make_snapshot(1001, 2, 3, 0.5), "x = 1");
  write_checkpoint(folder / "b.h5", make_snapshot(1001, 2, 3, 0.5), "x = 1");
  EXPECT_EQ(read_text_file(folder / "a.h5"), read_text_file(folder / "b.h5"));
}

TEST_F(CheckpointFileTest, ManyScalarsBodiesAndColumns) {
  Snapshot was = make_snapshot(50, 1, 1, 1.0);
  for (int i = 0; i < 100; ++i) {
    was.scalars["scalar" + std::to_string(i)] = i;
    was.bodies.push_back(was.bodies.front());
    was.bodies.back().name = "body" + std::to_string(i);
    was.columns.push_back(filled({"column" + std::to_string(i), Type::f32, 2, false}, 50, 1));
  }
  write_checkpoint(folder / "a.h5", was, "");
  write_checkpoint(folder / "b.h5", was, "");
  EXPECT_EQ(read_text_file(folder / "a.h5"), read_text_file(folder / "b.h5"));
  const LoadedCheckpoint loaded = read_checkpoint(folder / "a.h5");
  EXPECT_EQ(loaded.snapshot.scalars, was.scalars);
  EXPECT_EQ(loaded.snapshot.bodies.back().name, "body99");
  EXPECT_EQ(loaded.snapshot.columns.back().spec.name, "column99");
}

TEST_F(CheckpointFileTest, CutShortOrDamaged) {
  write_checkpoint(folder / "c.h5", make_snapshot(500, 2, 3, 0.5), "x = 1");
  const std::string whole = read_text_file(folder / "c.h5");
  for (std::size_t i = 0; i < 20; ++i) {
    put(folder / "cut.h5", whole.substr(0, whole.size() * i / 20));
    EXPECT_NE(error_of([&] { read_checkpoint(folder / "cut.h5"); }), "") << i;
  }
  std::string flipped = whole;
  const std::size_t scene = whole.find("x = 1");
  ASSERT_NE(scene, std::string::npos);
  flipped[scene] = 'y';
  put(folder / "cut.h5", flipped);
  EXPECT_TRUE(contains(error_of([&] { read_checkpoint(folder / "cut.h5"); }), "'scene'"));
}

}  // namespace
}  // namespace barchan::test
