// What the cache's tests share: a folder that goes away, frames and snapshots with known contents.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "barchan/error.h"
#include "base/atomic_file.h"
#include "sim/frame.h"

namespace barchan::test {

namespace fs = std::filesystem;

class CacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "barchan_cache_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { fs::remove_all(folder); }

  fs::path folder;
};

inline HostColumn filled(ColumnSpec spec, std::size_t size, std::uint32_t seed) {
  HostColumn column = make_host_column(std::move(spec), size);
  // Padding between components must not reach a file: make it differ from run to run.
  static unsigned char rubbish = 1;
  std::memset(column.data.get(), rubbish++, column.bytes());
  for (int c = 0; c < column.spec.components; ++c) {
    for (std::size_t i = 0; i < size; ++i) {
      const auto value =
          static_cast<std::uint32_t>(i * 2654435761u + seed + 97u * static_cast<unsigned>(c));
      switch (column.spec.type) {
        case Type::f32:
          column.component<float>(c)[i] = static_cast<float>(value) * 1e-7f;
          break;
        case Type::f64:
          column.component<double>(c)[i] = value * 1e-7;
          break;
        case Type::u8:
          column.component<std::uint8_t>(c)[i] = static_cast<std::uint8_t>(value % 2);
          break;
        case Type::u32:
          column.component<std::uint32_t>(c)[i] = value;
          break;
        case Type::u64:
          column.component<std::uint64_t>(c)[i] = value * 5000000000ull;
          break;
      }
    }
  }
  return column;
}

inline std::vector<BodyState> two_bodies() {
  BodyState tank, ball;
  tank.name = "tank";
  ball.name = "ball-1";
  ball.position = {0.1, 1.0 / 3.0, -2.0};
  ball.orientation = {0.5, 0.5, -0.5, 0.5};
  ball.velocity = {1, 2, 3};
  ball.angular_velocity = {4, 5, 6};
  ball.impulse = {0.5, -1.0, 0.25};
  ball.angular_impulse = {0.125, 0, 0};
  return {tank, ball};
}

inline Frame make_frame(std::size_t size, std::int64_t index = 3) {
  Frame frame;
  frame.index = index;
  frame.time = static_cast<double>(index) / 24.0;
  frame.spacing = 0.01;
  frame.surface_radius = 0.008;
  frame.materials = {"sand", "water-2"};
  frame.columns.push_back(filled({"position", Type::f32, 3, true}, size, 1));
  frame.columns.push_back(filled({"velocity", Type::f32, 3, true}, size, 2));
  frame.columns.push_back(filled({"id", Type::u64, 1, true}, size, 3));
  frame.columns.push_back(filled({"material", Type::u8, 1, true}, size, 4));
  frame.columns.push_back(filled({"density", Type::f32, 1, true}, size, 5));
  frame.columns.push_back(filled({"orientation", Type::f64, 4, true}, size, 6));
  frame.columns.push_back(filled({"warm_start", Type::f32, 1, false}, size, 7));
  frame.columns.push_back(filled({"spheres/radius", Type::f32, 1, true}, 2 * size, 8));
  frame.bodies = two_bodies();
  return frame;
}

inline Snapshot make_snapshot(std::size_t size, std::int64_t frame, std::int64_t step,
                              double time) {
  Snapshot snapshot;
  snapshot.time = time;
  snapshot.step = step;
  snapshot.frame = frame;
  snapshot.last_dt = 0.001953;
  snapshot.max_speed = 1.0 / 7.0;
  snapshot.next_id = 0xfedcba9876543210ull;
  snapshot.bodies = two_bodies();
  snapshot.scalars = {{"emitter/0/remainder", 0.1}, {"a", -0.0}, {"", 5e-324}};
  snapshot.count = size;
  snapshot.columns.push_back(filled({"position", Type::f32, 3, true}, size, 1));
  snapshot.columns.push_back(filled({"velocity", Type::f32, 3, true}, size, 2));
  snapshot.columns.push_back(filled({"id", Type::u64, 1, true}, size, 3));
  snapshot.columns.push_back(filled({"material", Type::u8, 1, true}, size, 4));
  snapshot.columns.push_back(filled({"stress", Type::f64, 6, false}, size, 5));
  snapshot.columns.push_back(filled({"bond", Type::u32, 1, false}, size, 6));
  return snapshot;
}

inline LedgerRow make_row(std::int64_t frame) {
  LedgerRow row{};
  row.frame = frame;
  row.time = static_cast<double>(frame) / 24.0;
  row.steps = 5;
  row.particles = 10;
  return row;
}

inline bool same(const HostColumn& a, const HostColumn& b) {
  if (a.spec != b.spec || a.size != b.size) return false;
  const std::size_t bytes = size_of(a.spec.type);
  for (int c = 0; c < a.spec.components; ++c) {
    const std::size_t start = static_cast<std::size_t>(c) * component_stride(a.size) * bytes;
    if (std::memcmp(a.data.get() + start, b.data.get() + start, a.size * bytes) != 0) return false;
  }
  return true;
}

// What an Error says; "" where none is thrown.
inline std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline void put(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace barchan::test
