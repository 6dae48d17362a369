// frames/frame_000000.h5: one picture's worth of particles, for every program that comes after.
//
//   position (N,3) f32, velocity (N,3) f32, id (N) u64, material (N) u8 with attribute materials
//   the solver's columns, (N) or (N,c); columns named "spheres/..." have a length of their own
//   bodies/<name>/position (3) f64, orientation (4: w x y z), velocity (3), angular_velocity (3)
//   attributes of the file: time, frame, spacing, surface_radius, generator, kind, format
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "math/vec3.h"
#include "sim/columns.h"
#include "sim/frame.h"
#include "sim/state.h"

namespace barchan {

// Writes the file whole or not at all. Columns that are not in_frames are left out.
void write_frame(const std::filesystem::path& path, const Frame& frame);

// A column the solver added, its components side by side.
struct ExtraColumn {
  std::string name;
  Type type = Type::f32;
  int components = 1;
  std::size_t size = 0;  // rows: the number of particles, except for columns in a group
  std::vector<std::byte> interleaved;

  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(interleaved.data());
  }
};

struct LoadedFrame {
  std::int64_t index = 0;
  double time = 0.0;            // [s]
  double spacing = 0.0;         // [m]
  double surface_radius = 0.0;  // [m]
  std::vector<std::string> materials;
  std::vector<Vec3> position, velocity;  // [m], [m/s]
  std::vector<std::uint64_t> id;
  std::vector<std::uint8_t> material;  // below materials.size(), unless that is 0
  std::vector<ExtraColumn> extra;
  std::vector<BodyState> bodies;  // without impulses

  std::size_t size() const { return position.size(); }
  const ExtraColumn* find(const std::string& name) const;  // null where there is none
};

// Throws an Error that names file and dataset where anything is missing, cut short or damaged.
LoadedFrame read_frame(const std::filesystem::path& path);

// What a frame holds, without its arrays.
struct FrameField {
  std::string name;
  Type type = Type::f32;
  int components = 1;
  std::size_t size = 0;
};
struct FrameSummary {
  std::int64_t index = 0;
  double time = 0.0, spacing = 0.0, surface_radius = 0.0;
  std::uint64_t particles = 0;
  std::uint64_t file_bytes = 0;        // 0 where it comes from memory
  std::vector<std::string> materials;  // names
  std::vector<FrameField> fields;      // position, velocity, id, material, then the others
  std::vector<std::string> bodies;     // names
};
FrameSummary summarize_frame(const std::filesystem::path& path);
FrameSummary summarize_frame(const Frame& frame);

// Reads everything and throws if a checksum does not match or something is missing.
void verify_frame(const std::filesystem::path& path);

}  // namespace barchan
