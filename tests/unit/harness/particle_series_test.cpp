// Statistics of particles, from frames made by hand.
#include "harness/particle_series.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace barchan {
namespace {

namespace fs = std::filesystem;

class ParticleSeriesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("barchan-particles-" + std::to_string(::getpid()));
    fs::create_directories(folder_ / "frames");
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Particles by id, on the x axis.
  void put(std::int64_t index, const std::vector<std::pair<std::uint64_t, float>>& particles) {
    Frame frame;
    frame.index = index;
    frame.time = 0.5 * static_cast<double>(index);
    frame.spacing = 0.1;
    frame.materials = {"sand"};
    frame.columns.push_back(make_host_column({"position", Type::f32, 3, true}, particles.size()));
    frame.columns.push_back(make_host_column({"velocity", Type::f32, 3, true}, particles.size()));
    frame.columns.push_back(make_host_column({"id", Type::u64, 1, true}, particles.size()));
    frame.columns.push_back(make_host_column({"material", Type::u8, 1, true}, particles.size()));
    for (std::size_t i = 0; i < particles.size(); ++i) {
      frame.columns[2].component<std::uint64_t>(0)[i] = particles[i].first;
      frame.columns[0].component<float>(0)[i] = particles[i].second;
    }
    write_frame(RunFolder(folder_).frame(index), frame);
  }
  Series moved(const char* statistic) const {
    return particle_series(RunFolder(folder_), {"moved", statistic});
  }

  fs::path folder_;
};

TEST_F(ParticleSeriesTest, MovedIsTheWayFromTheFirstPlaceById) {
  put(0, {{7, 1.0f}, {4, 2.0f}});
  put(1, {{4, 2.5f}, {7, 1.0f}});
  put(2, {{9, 5.0f}, {4, 2.25f}, {7, 0.0f}});  // 9 is new
  put(3, {{9, 5.5f}});
  EXPECT_EQ(moved("max").value, (std::vector<double>{0.0, 0.5, 1.0, 0.5}));
  EXPECT_EQ(moved("min").value, (std::vector<double>{0.0, 0.0, 0.0, 0.5}));
  EXPECT_EQ(moved("p50").value, (std::vector<double>{0.0, 0.25, 0.25, 0.5}));
  EXPECT_EQ(moved("mean").time, (std::vector<double>{0.0, 0.5, 1.0, 1.5}));
}

}  // namespace
}  // namespace barchan
