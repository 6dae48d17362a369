// How surfaces send light on: closed forms, each with a test of its own.
#pragma once

#include <cmath>

#include "base/units.h"
#include "math/scalar.h"
#include "math/vec3.h"

namespace barchan {

inline constexpr float kPiF = static_cast<float>(kPi);

// The share of unpolarised light that a smooth border reflects. `cosine` is that of the angle of
// incidence, 0 to 1, and `eta` the refractive index beyond over the one on this side. 1 where all
// is reflected.
inline float fresnel(float cosine, float eta) {
  const float across = (1.0f - cosine * cosine) / (eta * eta);  // sin^2 beyond, Snell
  if (across >= 1.0f) return 1.0f;
  const float beyond = std::sqrt(1.0f - across);
  const float s = (cosine - eta * beyond) / (cosine + eta * beyond);
  const float p = (eta * cosine - beyond) / (eta * cosine + beyond);
  return 0.5f * (s * s + p * p);
}

// A thin pane with two borders that reflect r each: r + (1 - r)^2 r (1 + r^2 + ...) = 2 r / (1 +
// r).
inline float pane_reflectance(float cosine, float eta) {
  const float r = fresnel(cosine, eta);
  return 2.0f * r / (1.0f + r);
}

// `way` arrives, the normal is on its side: dot(way, normal) < 0.
inline Vec3 reflected(const Vec3& way, const Vec3& normal) {
  return normalized(way - 2.0f * dot(way, normal) * normal);
}

// Snell's law; only where fresnel() < 1.
inline Vec3 refracted(const Vec3& way, const Vec3& normal, float eta) {
  const float cosine = -dot(way, normal);
  const float beyond = std::sqrt(max(0.0f, 1.0f - (1.0f - cosine * cosine) / (eta * eta)));
  return normalized(way / eta + (cosine / eta - beyond) * normal);
}

// Two unit vectors across a unit vector (Duff et al. 2017).
inline void across(const Vec3& n, Vec3& a, Vec3& b) {
  const float sign = std::copysign(1.0f, n.z);
  const float c = -1.0f / (sign + n.z), d = n.x * n.y * c;
  a = {1.0f + sign * n.x * n.x * c, sign * d, -sign * n.x};
  b = {d, sign + n.y * n.y * c, -n.y};
}

// A direction about the normal with density cosine / pi.
inline Vec3 cosine_direction(const Vec3& normal, float u, float v) {
  Vec3 a, b;
  across(normal, a, b);
  const float r = std::sqrt(u), angle = 2.0f * kPiF * v;
  return normalized(r * std::cos(angle) * a + r * std::sin(angle) * b +
                    std::sqrt(max(0.0f, 1.0f - u)) * normal);
}

// A direction within the cone about `axis` whose half angle has this cosine, evenly.
inline Vec3 cone_direction(const Vec3& axis, float cosine, float u, float v) {
  Vec3 a, b;
  across(axis, a, b);
  const float z = 1.0f - u * (1.0f - cosine), r = std::sqrt(max(0.0f, 1.0f - z * z));
  const float angle = 2.0f * kPiF * v;
  return normalized(r * std::cos(angle) * a + r * std::sin(angle) * b + z * axis);
}

// Oren & Nayar 1994, the qualitative model (their section 4.4): pi times the reflectance over the
// albedo. Facets tilted by `roughness` [rad]; 0 is Lambert's law, which gives 1.
inline float oren_nayar(const Vec3& normal, const Vec3& in, const Vec3& out, float roughness) {
  if (roughness <= 0.0f) return 1.0f;
  const float s2 = roughness * roughness;
  const float a = 1.0f - 0.5f * s2 / (s2 + 0.33f), b = 0.45f * s2 / (s2 + 0.09f);
  const float ci = max(dot(normal, in), 1e-4f), co = max(dot(normal, out), 1e-4f);
  // sin sin cos(azimuths' difference) = dot of both parts across the normal; sin alpha tan beta =
  // sin sin / the larger cosine
  const float flat = dot(in, out) - ci * co;
  return a + b * max(0.0f, flat) / max(ci, co);
}

}  // namespace barchan
