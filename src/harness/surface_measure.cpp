#include "harness/surface_measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "base/atomic_file.h"
#include "base/error.h"
#include "cache/frame_file.h"
#include "geometry/sdf.h"
#include "scene/scene.h"
#include "surface/surface.h"

namespace barchan {

namespace {

struct Measured {
  Scene scene;
  LoadedFrame frame;
  Cpu device{make_cpu_device()->threads()};

  explicit Measured(const RunFolder& run)
      : scene(read_scene(read_text_file(run.scene()), run.scene().string())) {
    const std::vector<std::int64_t> frames = run.frames();
    if (frames.empty()) reject("{} holds no frames to make a surface of", run.path().string());
    frame = read_frame(run.frame(frames.back()));
  }
  SurfaceMesh mesh(const SurfaceParams& params) {
    return make_surface({frame.position, frame.velocity, frame.spacing, frame.surface_radius},
                        params, device);
  }
};

double median_seconds(Measured& m) {
  std::vector<double> seconds;
  constexpr int kRounds = 5;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    m.mesh(m.scene.surface);
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + kRounds / 2, seconds.end());
  return seconds[kRounds / 2];
}

// Of each triangle, a number that it shares with all it hangs together with.
std::vector<std::uint32_t> pieces_of(const SurfaceMesh& mesh) {
  std::vector<std::uint32_t> parent(mesh.vertices.size());
  std::iota(parent.begin(), parent.end(), 0u);
  const auto root = [&](std::uint32_t v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  for (const Triangle& t : mesh.triangles) {
    parent[root(t[1])] = root(t[0]);
    parent[root(t[2])] = root(t[0]);
  }
  std::vector<std::uint32_t> pieces;
  for (const Triangle& t : mesh.triangles) pieces.push_back(root(t[0]));
  return pieces;
}

// Of the largest piece: hollows that a high level of blobbies leaves inside do not count against
// them.
double rms_error(Measured& m, const SurfaceParams& params) {
  if (m.scene.fills.empty()) reject("surface.rms_error: the scene has no [[fill]] to compare with");
  const Shape& shape = m.scene.fills.back().shape.shape;
  const Vec3d origin = natural_origin(shape);
  const SdfProgram program = compile(shape, origin, 0.1 * m.frame.spacing);
  const SurfaceMesh mesh = m.mesh(params);
  struct Sums {
    double area = 0.0, squares = 0.0;  // [m^2], [m^4]
  };
  std::map<std::uint32_t, Sums> sums;
  const std::vector<std::uint32_t> pieces = pieces_of(mesh);
  for (std::size_t n = 0; n < mesh.triangles.size(); ++n) {
    const Triangle& t = mesh.triangles[n];
    const Vec3d a(mesh.vertices[t[0]]), b(mesh.vertices[t[1]]), c(mesh.vertices[t[2]]);
    const double own = 0.5 * length(cross(b - a, c - a));
    const Vec3 middle((a + b + c) / 3.0 - origin);
    const double off =
        distance_only(program.begin(), program.end(), middle) - m.frame.surface_radius;
    Sums& piece = sums[pieces[n]];
    piece.area += own;
    piece.squares += own * off * off;
  }
  Sums largest;
  for (const auto& [piece, of_piece] : sums) {
    if (of_piece.area > largest.area) largest = of_piece;
  }
  return std::sqrt(largest.squares / largest.area) / m.frame.spacing;
}

// The error has one minimum over the level; its logarithm is searched in finer and finer steps.
double best_level_rms_error(Measured& m) {
  SurfaceParams params = m.scene.surface;
  double middle = 0.0, step = 0.5, best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 5; ++round, step *= 0.25) {
    double at = middle;
    for (int n = -4; n <= 4; ++n) {
      params.level = std::exp(middle + step * n);
      const double error = rms_error(m, params);
      if (error < best) best = error, at = middle + step * n;
    }
    middle = at;
  }
  return best;
}

}  // namespace

const std::vector<std::string>& surface_keys() {
  static const std::vector<std::string> keys = {"triangles", "seconds", "rms_error",
                                                "best_level_rms_error"};
  return keys;
}

double surface_measure(const RunFolder& run, const std::string& key) {
  Measured m(run);
  if (key == "triangles") return static_cast<double>(m.mesh(m.scene.surface).triangles.size());
  if (key == "seconds") return median_seconds(m);
  return key == "rms_error" ? rms_error(m, m.scene.surface) : best_level_rms_error(m);
}

}  // namespace barchan
