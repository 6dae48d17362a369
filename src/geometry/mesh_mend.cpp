#include "geometry/mesh_mend.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "geometry/mesh_clean.h"
#include "geometry/mesh_holes.h"
#include "geometry/mesh_orient.h"

namespace barchan {

namespace {

constexpr double kWeldWithin = 1e-6;    // of the diagonal
constexpr double kLargestHole = 0.15;   // of the diagonal
constexpr std::size_t kHolesNamed = 5;  // in a message

Aabb box_around(const Mesh& mesh) {
  Aabb box;
  for (const Triangle& t : mesh.triangles) {
    for (int k = 0; k < 3; ++k) box = join(box, {mesh.corner(t, k), mesh.corner(t, k)});
  }
  return box;
}

std::string counted(std::size_t count, const char* thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

void check(const Mesh& mesh, const std::string& name) {
  for (const Triangle& t : mesh.triangles) {
    for (const std::uint32_t corner : t) {
      if (corner >= mesh.vertices.size() || !is_finite(mesh.vertices[corner])) {
        reject("{}: a triangle's corner {} is not there or not finite", name, corner);
      }
    }
  }
}

class Mender {
 public:
  Mender(Mesh mesh, const std::string& name) : name_(name) {
    result_.mesh = std::move(mesh);
    check(result_.mesh, name);
    diagonal_ = length(box_around(result_.mesh).extent());
  }

  Mended run() {
    clean();
    Patches patches = orient_patches(result_.mesh, name_);
    if (patches.turned > 0) {
      note("{} faced the other way than the triangles around; turned",
           counted(patches.turned, "triangle"));
    }
    if (close_holes()) patches = orient_patches(result_.mesh, name_);
    orient(patches);
    drop_unused_vertices(result_.mesh);
    return std::move(result_);
  }

 private:
  template <class... Args>
  void note(fmt::format_string<Args...> text, Args&&... args) {
    result_.notes.push_back(name_ + ": " + fmt::format(text, std::forward<Args>(args)...));
  }

  void clean() {
    Mesh& mesh = result_.mesh;
    drop_unused_vertices(mesh);  // they may be anywhere
    const double tolerance = kWeldWithin * diagonal_;
    const std::size_t merged = weld(mesh, tolerance);
    if (merged > 0) {
      note("{} within {:.3g} m of another merged with it", counted(merged, "corner"), tolerance);
    }
    const std::size_t collapsed = drop_collapsed(mesh);
    const std::size_t copies = drop_duplicates(mesh);
    const std::size_t slivers = drop_slivers(mesh);
    if (collapsed + slivers > 0) {
      note("{} without area dropped", counted(collapsed + slivers, "triangle"));
    }
    if (copies > 0) note("{} that lay on another one dropped", counted(copies, "triangle"));
    if (mesh.triangles.empty()) {
      reject("{}: encloses no volume; its triangles cancel each other or have no area", name_);
    }
  }

  // Whether there were any.
  bool close_holes() {
    Mesh& mesh = result_.mesh;
    std::vector<Hole> holes = find_holes(mesh, name_);
    if (holes.empty()) return false;
    const auto first_hole = std::stable_partition(holes.begin(), holes.end(), [&](const Hole& h) {
      return is_slit(mesh, h, kWeldWithin * diagonal_);
    });
    const std::vector<Hole> slits(holes.begin(), first_hole);
    holes.erase(holes.begin(), first_hole);
    std::stable_sort(holes.begin(), holes.end(),
                     [](const Hole& a, const Hole& b) { return a.across() > b.across(); });
    if (!holes.empty() && holes[0].across() > kLargestHole * diagonal_) reject_holes(holes);

    for (const Hole& slit : slits) close_slit(mesh, slit);
    for (const Hole& hole : holes) close_hole(mesh, hole);
    drop_slivers(mesh);
    if (!slits.empty()) {
      note("{} along edges that do not end together closed", counted(slits.size(), "slit"));
    }
    if (!holes.empty()) {
      note("{} closed, the largest {:.3g} m across with {} edges", counted(holes.size(), "hole"),
           holes[0].across(), holes[0].rim.size());
    }
    return true;
  }

  [[noreturn]] void reject_holes(const std::vector<Hole>& holes) const {
    std::string list;
    for (std::size_t k = 0; k < std::min(holes.size(), kHolesNamed); ++k) {
      const Vec3d p = holes[k].box.center();
      list +=
          fmt::format("{}{:.3g} m across with {} edges around ({:.3g}, {:.3g}, {:.3g}) m",
                      k == 0 ? "" : ", ", holes[k].across(), holes[k].rim.size(), p.x, p.y, p.z);
    }
    reject(
        "{}: not closed: {}; the largest: {}; close holes in a modelling program (up to {:.3g} m "
        "across, {:g} % of the mesh, they are closed here)",
        name_, counted(holes.size(), "hole"), list, kLargestHole * diagonal_, 100.0 * kLargestHole);
  }

  void orient(const Patches& patches) {
    const Parts parts = orient_parts(result_.mesh, patches, name_);
    if (parts.flat > 0) note("{} that enclosed nothing dropped", counted(parts.flat, "part"));
    if (parts.turned == parts.count) {
      note("the mesh was inside out; turned");
    } else if (parts.turned > 0) {
      note("{} of {} parts faced the wrong way; turned", parts.turned, parts.count);
    }
  }

  std::string name_;
  Mended result_;
  double diagonal_ = 0.0;  // [m]
};

}  // namespace

Mended mend(Mesh mesh, const std::string& name) {
  return Mender(std::move(mesh), name).run();
}

}  // namespace barchan
