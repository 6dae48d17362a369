// Particles of a frame for other programs.
#pragma once

#include <filesystem>

#include "cache/frame_file.h"

namespace barchan {

// Whole or not at all (base/atomic_file.h).
// PLY: binary; x y z [m], vx vy vz [m/s], id, material by number. PLY has no 64-bit integers, so an
// id is a double, exact up to 2^53.
void write_points_ply(const LoadedFrame& frame, const std::filesystem::path& file);
// CSV: id, material by name, x y z [m], vx vy vz [m/s].
void write_points_csv(const LoadedFrame& frame, const std::filesystem::path& file);

}  // namespace barchan
