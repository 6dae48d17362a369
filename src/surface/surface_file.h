// Surfaces for other programs: surface/surface_000000.ply, .obj and .vdb of a run.
#pragma once

#include <filesystem>
#include <string>

#include "surface/surface.h"

namespace barchan {

// Whole or not at all (base/atomic_file.h). PLY: binary, with normals (nx ny nz) and velocities (vx
// vy vz). OBJ: text, with normals; it has no place for velocities.
void write_surface_ply(const SurfaceMesh& mesh, const std::filesystem::path& file);
void write_surface_obj(const SurfaceMesh& mesh, const std::filesystem::path& file);
// What an OBJ file says about it.
std::string surface_obj_text(const SurfaceMesh& mesh);

// OpenVDB: a level set `surface` [m], up to three voxels wide on both sides, and, where the level
// set is active, velocities `vel` [m/s].
void write_surface_vdb(const ParticleSurface& surface, const std::filesystem::path& file);

}  // namespace barchan
