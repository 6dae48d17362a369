#include "cache/frame_file.h"

#include <cstring>

#include "cache/h5_file.h"
#include "cache_fixture.h"

#if __has_include(<hdf5.h>)
#include <hdf5.h>
#define BARCHAN_TEST_HAS_HDF5 1
#endif

#ifdef __SANITIZE_ADDRESS__
// HDF5 1.10 leaks a little each time it refuses damaged metadata.
extern "C" __attribute__((weak)) const char* __lsan_default_suppressions() {
  return "leak:libhdf5";
}
#endif

namespace barchan::test {
namespace {

using FrameFile = CacheTest;

void expect_equal(const Frame& frame, const LoadedFrame& loaded) {
  const std::size_t size = frame.columns[0].size;
  EXPECT_EQ(loaded.index, frame.index);
  EXPECT_EQ(loaded.time, frame.time);
  EXPECT_EQ(loaded.spacing, frame.spacing);
  EXPECT_EQ(loaded.surface_radius, frame.surface_radius);
  EXPECT_EQ(loaded.materials, frame.materials);
  ASSERT_EQ(loaded.size(), size);
  for (std::size_t i = 0; i < size; ++i) {
    for (int c = 0; c < 3; ++c) {
      ASSERT_EQ(loaded.position[i][c], frame.columns[0].component<float>(c)[i]) << i;
      ASSERT_EQ(loaded.velocity[i][c], frame.columns[1].component<float>(c)[i]) << i;
    }
    ASSERT_EQ(loaded.id[i], frame.columns[2].component<std::uint64_t>(0)[i]);
    ASSERT_EQ(loaded.material[i], frame.columns[3].component<std::uint8_t>(0)[i]);
  }
  ASSERT_EQ(loaded.extra.size(), 3u);  // not warm_start
  const ExtraColumn* orientation = loaded.find("orientation");
  ASSERT_NE(orientation, nullptr);
  EXPECT_EQ(orientation->components, 4);
  EXPECT_EQ(orientation->type, Type::f64);
  for (std::size_t i = 0; i < size; ++i) {
    for (int c = 0; c < 4; ++c) {
      ASSERT_EQ(orientation->as<double>()[4 * i + static_cast<std::size_t>(c)],
                frame.columns[5].component<double>(c)[i]);
    }
  }
  ASSERT_NE(loaded.find("spheres/radius"), nullptr);
  EXPECT_EQ(loaded.find("spheres/radius")->size, 2 * size);
  ASSERT_EQ(loaded.bodies.size(), 2u);
  EXPECT_EQ(loaded.bodies[0].name, "tank");
  EXPECT_EQ(loaded.bodies[1].name, "ball-1");
  EXPECT_EQ(loaded.bodies[1].position, frame.bodies[1].position);
  EXPECT_EQ(loaded.bodies[1].orientation, frame.bodies[1].orientation);
  EXPECT_EQ(loaded.bodies[1].velocity, frame.bodies[1].velocity);
  EXPECT_EQ(loaded.bodies[1].angular_velocity, frame.bodies[1].angular_velocity);
}

TEST_F(FrameFile, GivesBackWhatWasWritten) {
  for (const std::size_t size : {0, 1, 17, 65536, 200000}) {
    SCOPED_TRACE(size);
    const Frame frame = make_frame(size);
    write_frame(folder / "f.h5", frame);
    expect_equal(frame, read_frame(folder / "f.h5"));
    verify_frame(folder / "f.h5");
    const FrameSummary summary = summarize_frame(folder / "f.h5");
    EXPECT_EQ(summary.particles, size);
    EXPECT_EQ(summary.time, frame.time);
    EXPECT_EQ(summary.fields.size(), 7u);
    EXPECT_EQ(summary.bodies, (std::vector<std::string>{"tank", "ball-1"}));
    EXPECT_EQ(summary.file_bytes, fs::file_size(folder / "f.h5"));
    // Four padded chunks would cost a third more; even ones next to nothing.
    const std::size_t row = 12 + 12 + 8 + 1 + 4 + 32 + 8;
    EXPECT_LT(summary.file_bytes, row * size + 40000);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);  // nothing left aside
}

TEST_F(FrameFile, NoBodiesAndNoMaterials) {
  Frame frame = make_frame(5);
  frame.bodies.clear();
  frame.materials.clear();
  write_frame(folder / "f.h5", frame);
  const LoadedFrame loaded = read_frame(folder / "f.h5");
  EXPECT_TRUE(loaded.bodies.empty());
  EXPECT_TRUE(loaded.materials.empty());
}

TEST_F(FrameFile, SameContentSameBytes) {
  write_frame(folder / "a.h5", make_frame(70000));
  std::vector<std::string> noise(1000, std::string(1000, 'x'));  // another heap
  ::sleep(1);                                                    // another second
  noise.clear();
  write_frame(folder / "b.h5", make_frame(70000));
  EXPECT_EQ(read_text_file(folder / "a.h5"), read_text_file(folder / "b.h5"));
}

TEST_F(FrameFile, CutShort) {
  write_frame(folder / "f.h5", make_frame(3000));
  const std::string whole = read_text_file(folder / "f.h5");
  for (int i = 0; i < 20; ++i) {
    put(folder / "cut.h5", whole.substr(0, whole.size() * static_cast<std::size_t>(i) / 20));
    const std::string said = error_of([&] { read_frame(folder / "cut.h5"); });
    EXPECT_TRUE(contains(said, "cut.h5")) << i << said;
    EXPECT_NE(error_of([&] { summarize_frame(folder / "cut.h5"); }), "");
    EXPECT_NE(error_of([&] { verify_frame(folder / "cut.h5"); }), "");
  }
  put(folder / "cut.h5", whole.substr(0, whole.size() - 1));
  EXPECT_NE(error_of([&] { read_frame(folder / "cut.h5"); }), "");
}

TEST_F(FrameFile, AFlippedBitNeverGoesUnnoticedInTheData) {
  const Frame frame = make_frame(3000);
  write_frame(folder / "f.h5", frame);
  const std::string whole = read_text_file(folder / "f.h5");
  // The x of particle 1000, as it lies in the file.
  float row[3] = {};
  for (int c = 0; c < 3; ++c) row[c] = frame.columns[0].component<float>(c)[1000];
  const std::size_t at = whole.find(std::string(reinterpret_cast<const char*>(row), 12));
  ASSERT_NE(at, std::string::npos);
  std::string flipped = whole;
  flipped[at] = static_cast<char>(flipped[at] ^ 4);
  put(folder / "g.h5", flipped);
  const std::string said = error_of([&] { read_frame(folder / "g.h5"); });
  EXPECT_TRUE(contains(said, "g.h5") && contains(said, "'position'") && contains(said, "hecksum"))
      << said;
  EXPECT_NE(error_of([&] { verify_frame(folder / "g.h5"); }), "");
  EXPECT_EQ(error_of([&] { summarize_frame(folder / "g.h5"); }), "");
}

// Anywhere in the file: an Error, or the very same contents (where the byte is not used).
TEST_F(FrameFile, FlippedBytesAnywhere) {
  const Frame frame = make_frame(40);
  write_frame(folder / "f.h5", frame);
  const std::string whole = read_text_file(folder / "f.h5");
  int noticed = 0, tried = 0;
  for (std::size_t at = 0; at < whole.size(); at += 23, ++tried) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 8)));
    put(folder / "g.h5", flipped);
    try {
      expect_equal(frame, read_frame(folder / "g.h5"));
    } catch (const Error&) {
      ++noticed;
    }
    if (HasFatalFailure() || HasNonfatalFailure()) FAIL() << "byte " << at;
  }
  EXPECT_GT(noticed, tried / 4);
}

TEST_F(FrameFile, NotOurs) {
  EXPECT_TRUE(contains(error_of([&] { read_frame(folder / "no.h5"); }), "no such file"));
  put(folder / "text.h5", "# not a frame at all\n");
  EXPECT_TRUE(contains(error_of([&] { read_frame(folder / "text.h5"); }), "not an HDF5 file"));
  put(folder / "empty.h5", "");
  EXPECT_TRUE(contains(error_of([&] { read_frame(folder / "empty.h5"); }), "not an HDF5 file"));
  EXPECT_TRUE(contains(error_of([&] { read_frame(folder); }), "not a file"));
  H5Writer other;
  other.set_text("/", "generator", "someone else");
  other.save(folder / "other.h5");
  EXPECT_NE(error_of([&] { read_frame(folder / "other.h5"); }), "");
}

TEST_F(FrameFile, AnotherFormat) {
  H5Writer other;
  other.set_text("/", "generator", "barchan");
  other.set_text("/", "kind", "frame");
  other.set_integer("/", "format", 999);
  other.save(folder / "other.h5");
  EXPECT_THROW(read_frame(folder / "other.h5"), OtherFormatError);
  EXPECT_TRUE(contains(error_of([&] { read_frame(folder / "other.h5"); }), "cache format 999"));
}

// A frame's attributes with datasets of one's choice.
void start_frame(H5Writer& file) {
  mark_kind(file, "frame");
  file.set_integer("/", "frame", 0);
  for (const char* name : {"time", "spacing", "surface_radius"}) file.set_number("/", name, 1.0);
}

TEST_F(FrameFile, WrongTypesAndSizes) {
  const std::vector<float> xyz(30);
  const std::vector<double> doubles(30);
  const std::vector<std::uint64_t> ids(10);
  const std::vector<std::uint8_t> few(9);
  {
    H5Writer file;
    start_frame(file);
    file.numbers<double>("position", doubles, 3);
    file.save(folder / "type.h5");
  }
  EXPECT_TRUE(contains(error_of([&] { read_frame(folder / "type.h5"); }), "'position' is f64"));
  {
    H5Writer file;
    start_frame(file);
    file.numbers<float>("position", xyz, 3);
    file.numbers<float>("velocity", xyz, 3);
    file.numbers<std::uint64_t>("id", ids);
    file.numbers<std::uint8_t>("material", few);
    file.set_texts("material", "materials", {"sand"});
    file.save(folder / "size.h5");
  }
  EXPECT_TRUE(contains(error_of([&] { read_frame(folder / "size.h5"); }), "has 9 rows"));
  Frame frame = make_frame(3);
  frame.materials = {"sand"};  // material 1 has no name
  write_frame(folder / "unnamed.h5", frame);
  EXPECT_TRUE(contains(error_of([&] { read_frame(folder / "unnamed.h5"); }), "only 1 are named"));
}

#ifdef BARCHAN_TEST_HAS_HDF5
TEST_F(FrameFile, HugeDeclaredCount) {
  write_frame(folder / "f.h5", make_frame(10));
  const hid_t file = H5Fopen((folder / "f.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  H5Ldelete(file, "position", H5P_DEFAULT);
  const hsize_t size[2] = {1'000'000'000'000, 3}, chunk[2] = {65536, 3};
  const hid_t space = H5Screate_simple(2, size, nullptr);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(creation, 2, chunk);
  const hid_t set =
      H5Dcreate2(file, "position", H5T_IEEE_F32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  EXPECT_GE(set, 0);
  H5Dclose(set);
  H5Pclose(creation);
  H5Sclose(space);
  H5Fclose(file);
  const std::string said = error_of([&] { read_frame(folder / "f.h5"); });
  EXPECT_TRUE(contains(said, "1000000000000 x 3 values, more than the file's")) << said;
}
#endif

TEST_F(FrameFile, AFaultLeavesTheOldFile) {
  write_frame(folder / "f.h5", make_frame(10));
  const std::string before = read_text_file(folder / "f.h5");
  fs::create_directory(folder / "f.h5.part");  // in the way
  EXPECT_TRUE(
      contains(error_of([&] { write_frame(folder / "f.h5", make_frame(20)); }), "cannot write"));
  EXPECT_EQ(read_text_file(folder / "f.h5"), before);
}

}  // namespace
}  // namespace barchan::test
