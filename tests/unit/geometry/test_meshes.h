// Closed, oriented meshes made from formulas, for the tests of geometry.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/units.h"
#include "geometry/mesh.h"
#include "geometry/shape.h"
#include "geometry/solid_mesh.h"

namespace barchan::testing {

inline void append(Mesh& to, const Mesh& more, bool inside_out = false) {
  const auto first = static_cast<std::uint32_t>(to.vertices.size());
  to.vertices.insert(to.vertices.end(), more.vertices.begin(), more.vertices.end());
  for (Triangle t : more.triangles) {
    if (inside_out) std::swap(t[1], t[2]);
    to.triangles.push_back({first + t[0], first + t[1], first + t[2]});
  }
}

inline Mesh box_mesh(const Vec3d& lo, const Vec3d& hi) {
  Mesh mesh;
  for (int i = 0; i < 8; ++i) {
    mesh.vertices.emplace_back(i & 1 ? hi.x : lo.x, i & 2 ? hi.y : lo.y, i & 4 ? hi.z : lo.z);
  }
  mesh.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                    {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  return mesh;
}

// A hollow box: the wall lies outside of the inner box [lo, hi].
inline Mesh box_shell_mesh(const Vec3d& lo, const Vec3d& hi, double wall) {
  const Vec3d w(wall, wall, wall);
  Mesh mesh = box_mesh(lo - w, hi + w);
  append(mesh, box_mesh(lo, hi), true);
  return mesh;
}

// A grid of n x m corners that closes on itself both ways; at(u, v) takes fractions of the turns.
template <class At>
Mesh wrapped_mesh(std::uint32_t n, std::uint32_t m, const At& at) {
  Mesh mesh;
  for (std::uint32_t i = 0; i < n; ++i) {
    for (std::uint32_t j = 0; j < m; ++j) mesh.vertices.push_back(at(double(i) / n, double(j) / m));
  }
  const auto number = [&](std::uint32_t i, std::uint32_t j) { return (i % n) * m + j % m; };
  for (std::uint32_t i = 0; i < n; ++i) {
    for (std::uint32_t j = 0; j < m; ++j) {
      const std::uint32_t a = number(i, j), b = number(i + 1, j), c = number(i + 1, j + 1),
                          d = number(i, j + 1);
      mesh.triangles.push_back({a, b, c});
      mesh.triangles.push_back({a, c, d});
    }
  }
  return mesh;
}

// About the z axis, 2 n m triangles.
inline Mesh torus_mesh(double major, double minor, std::uint32_t n, std::uint32_t m) {
  return wrapped_mesh(n, m, [&](double u, double v) {
    const double a = 2 * kPi * u, b = 2 * kPi * v, r = major + minor * std::cos(b);
    return Vec3d(r * std::cos(a), r * std::sin(a), minor * std::sin(b));
  });
}

// 2 n (m - 1) triangles; poles on the z axis.
inline Mesh sphere_mesh(const Vec3d& center, double radius, std::uint32_t n, std::uint32_t m) {
  Mesh mesh;
  mesh.vertices = {center + Vec3d(0, 0, radius), center - Vec3d(0, 0, radius)};
  for (std::uint32_t j = 1; j < m; ++j) {
    for (std::uint32_t i = 0; i < n; ++i) {
      const double a = 2 * kPi * i / n, b = kPi * j / m;
      mesh.vertices.push_back(center + radius * Vec3d(std::sin(b) * std::cos(a),
                                                      std::sin(b) * std::sin(a), std::cos(b)));
    }
  }
  const auto number = [&](std::uint32_t i, std::uint32_t j) { return 2 + (j - 1) * n + i % n; };
  for (std::uint32_t i = 0; i < n; ++i) {
    mesh.triangles.push_back({0, number(i, 1), number(i + 1, 1)});
    mesh.triangles.push_back({1, number(i + 1, m - 1), number(i, m - 1)});
    for (std::uint32_t j = 1; j + 1 < m; ++j) {
      const std::uint32_t a = number(i, j), b = number(i, j + 1), c = number(i + 1, j + 1),
                          d = number(i + 1, j);
      mesh.triangles.push_back({a, b, c});
      mesh.triangles.push_back({a, c, d});
    }
  }
  return mesh;
}

inline std::shared_ptr<const SolidMesh> solid(Mesh mesh) {
  return std::make_shared<const SolidMesh>(std::move(mesh));
}
inline Shape mesh_shape(Mesh mesh) {
  return make_mesh(solid(std::move(mesh)));
}

}  // namespace barchan::testing
