#include "render/lighting.h"

#include <cmath>

#include "render/optics.h"

namespace barchan {

namespace {

constexpr float kSunHalfAngle = 0.02f;  // [rad]; four times the real one: softer, less noise
constexpr float kRim = 5.0f;            // how fast the rim's colour gives way overhead

}  // namespace

Vec3 Lighting::sky(const Vec3& way) const {
  const float height = dot(way, up);
  if (height <= 0.0f) {
    // The rim's colour sinks into the one below within a few degrees: no line at the horizon
    const float share = std::exp(16.0f * height);
    return below + share * (horizon - below);
  }
  const float rim = std::pow(1.0f - height, kRim);
  return zenith + rim * (horizon - zenith);
}

Vec3 Lighting::sun_disc(const Vec3& way) const {
  if (dot(way, to_sun) < sun_cosine || sun_cosine >= 1.0f) return {};
  // irradiance = radiance x pi sin^2 for a disc that is seen face on
  return sun / (kPiF * (1.0f - sun_cosine * sun_cosine));
}

Lighting daylight(const Vec3& up, const Vec3& forward) {
  Lighting light;
  light.up = up;
  const Vec3 ahead = normalized(forward - dot(forward, up) * up, Vec3(0, 0, -1));
  const Vec3 right = cross(ahead, up);
  light.to_sun = normalized(0.95f * up - 0.80f * right + 0.15f * ahead);
  light.sun = Vec3(4.9f, 4.4f, 3.7f);
  light.sun_cosine = std::cos(kSunHalfAngle);
  light.zenith = Vec3(0.16f, 0.25f, 0.40f);
  light.horizon = Vec3(0.62f, 0.69f, 0.76f);
  light.below = Vec3(0.55f, 0.56f, 0.57f);
  return light;
}

}  // namespace barchan
