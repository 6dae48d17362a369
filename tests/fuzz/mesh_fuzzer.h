// Any bytes at all, read as a mesh and mended: either a closed mesh with a volume comes out, or a
// barchan::Error with one line. Anything else is a bug.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "barchan/error.h"
#include "geometry/mesh_file.h"
#include "geometry/mesh_mend.h"
#include "geometry/mesh_orient.h"
#include "unit/geometry/meshes.h"

namespace barchan {

inline bool is_one_line(const std::string& message) {
  for (const char c : message) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) return false;
  }
  return !message.empty();
}

inline int fuzz_mesh(const std::uint8_t* data, std::size_t size, MeshFormat format) {
  Mended mended;
  try {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    mended = mend(read_mesh_text(bytes, "fuzz", format), "fuzz");
  } catch (const Error& error) {
    if (!is_one_line(error.what())) std::abort();
    return 0;
  }
  if (!testing::is_closed(mended.mesh) || !(signed_volume(mended.mesh) > 0.0)) std::abort();
  // What is mended needs no more mending.
  try {
    if (!testing::is_closed(mend(mended.mesh, "again").mesh)) std::abort();
  } catch (const Error& error) {
    if (!is_one_line(error.what())) std::abort();
  }
  return 0;
}

}  // namespace barchan
