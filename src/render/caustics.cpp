#include "render/caustics.h"

#include <algorithm>
#include <cmath>

#include "geometry/sdf.h"
#include "math/scalar.h"
#include "render/optics.h"
#include "render/sampler.h"
#include "render/trace_scene.h"

namespace barchan {

namespace {

constexpr int kMostBorders = 10;
constexpr float kPhotonsPerCell = 10.0f;  // of the map, where the light is as strong as the sun's
constexpr int kMostCells = 1024;          // along an edge of the map
constexpr std::uint64_t kStream = 0x70686F746F6Eu;

// A photon on its way. False once it is lost; else `point` is where it meets the ground.
struct Photon {
  Ray ray;
  Vec3 share{1, 1, 1};
  bool in_water = false, met_water = false;
};

bool lands(const TraceScene& scene, const Ground& ground, Photon& photon, Sampler& sampler) {
  const float offset = 2e-5f * scene.size;
  for (int k = 0; k < kMostBorders; ++k) {
    Ray& ray = photon.ray;
    const RayHit hit = scene.water.first(ray);
    const float slope = dot(ground.normal, ray.way);
    const float t = (ground.level - dot(ground.normal, ray.from)) / slope;
    const bool on_ground = slope < 0.0f && t > 0.0f && t < hit.distance;
    const float gone = on_ground ? t : hit.distance;
    if (scene.solid.blocked({ray.from, ray.way, gone}) || (!on_ground && hit.object < 0))
      return false;
    if (photon.in_water) {
      for (int c = 0; c < 3; ++c) photon.share[c] *= std::exp(-scene.absorption[c] * gone);
    }
    const Vec3 point = ray.from + gone * ray.way;
    if (on_ground) {
      ray.from = point;
      return photon.met_water;
    }
    const bool entering = dot(ray.way, hit.normal) < 0.0f;
    const float eta = entering ? scene.water_index : 1.0f / scene.water_index;
    Vec3 normal = entering ? hit.smooth : -hit.smooth;
    if (dot(normal, ray.way) > -0.01f) normal = entering ? hit.normal : -hit.normal;
    const float share = fresnel(std::min(1.0f, -dot(normal, ray.way)), eta);
    photon.met_water = true;
    if (sampler.number() < share) {
      ray.way = reflected(ray.way, normal);
    } else {
      ray.way = refracted(ray.way, normal, eta);
      photon.in_water = entering;
    }
    ray.from = point + offset * ray.way;
  }
  return false;
}

// The extent of a box along an axis.
void extent_along(const Vec3& lo, const Vec3& hi, const Vec3& axis, float& least, float& most) {
  least = 1e30f, most = -1e30f;
  for (int corner = 0; corner < 8; ++corner) {
    const Vec3 p((corner & 1) ? hi.x : lo.x, (corner & 2) ? hi.y : lo.y,
                 (corner & 4) ? hi.z : lo.z);
    least = std::min(least, dot(p, axis));
    most = std::max(most, dot(p, axis));
  }
}

}  // namespace

CausticMap::CausticMap(const TraceScene& scene, const Ground& ground, int photons,
                       const ThreadPool& pool) {
  axis_[0] = sdf::across(ground.normal);
  axis_[1] = cross(ground.normal, axis_[0]);
  const Vec3& to_sun = scene.light.to_sun;
  if (dot(to_sun, ground.normal) < 0.05f) return;  // grazes it, or is below

  // The rectangle that photons start from, close to the water, so that floats are fine there
  const Vec3 u = sdf::across(to_sun), v = cross(to_sun, u);
  float u0, u1, v0, v1, w0, w1;
  extent_along(scene.water_lo, scene.water_hi, u, u0, u1);
  extent_along(scene.water_lo, scene.water_hi, v, v0, v1);
  extent_along(scene.water_lo, scene.water_hi, to_sun, w0, w1);
  if (!(u1 > u0 && v1 > v0)) return;
  const float step = std::sqrt((u1 - u0) * (v1 - v0) / static_cast<float>(photons));
  const int across = static_cast<int>((u1 - u0) / step) + 1;
  const int along = static_cast<int>((v1 - v0) / step) + 1;
  cell_ = step * std::sqrt(kPhotonsPerCell);

  std::vector<std::vector<Landing>> landings(static_cast<std::size_t>(along));
  pool.parallel_blocks(landings.size(), [&](std::size_t row) {
    for (int i = 0; i < across; ++i) {
      Sampler sampler(kStream + row * static_cast<std::uint64_t>(across) +
                      static_cast<std::uint64_t>(i));
      sampler.begin(0);
      const Pair place = sampler.pair(), disc = sampler.pair();
      Photon photon;
      photon.ray.from = (u0 + (static_cast<float>(i) + place.a) * step) * u +
                        (v0 + (static_cast<float>(row) + place.b) * step) * v +
                        (w1 + 0.01f * scene.size) * to_sun;
      photon.ray.way = -cone_direction(to_sun, scene.light.sun_cosine, disc.a, disc.b);
      // What comes by the solids before it gets to the water
      if (scene.solid.blocked({photon.ray.from, -photon.ray.way})) continue;
      if (lands(scene, ground, photon, sampler)) {
        landings[row].push_back(
            {photon.ray.from, step * step * multiply(photon.share, scene.light.sun)});
      }
    }
  });
  gather(landings);
}

// Adds the landings to the map, each spread over the four cells around it.
void CausticMap::gather(const std::vector<std::vector<Landing>>& landings) {
  // Large enough for all but those that were thrown very far
  float least[2] = {1e30f, 1e30f}, most[2] = {-1e30f, -1e30f};
  for (int k = 0; k < 2; ++k) {
    std::vector<float> places;
    for (const auto& row : landings) {
      for (const Landing& landing : row) places.push_back(dot(landing.point, axis_[k]));
    }
    if (places.size() < 8) return;
    const auto rank = static_cast<std::ptrdiff_t>(places.size() / 500);
    std::nth_element(places.begin(), places.begin() + rank, places.end());
    least[k] = places[static_cast<std::size_t>(rank)];
    std::nth_element(places.begin(), places.end() - 1 - rank, places.end());
    most[k] = places[places.size() - 1 - static_cast<std::size_t>(rank)];
  }
  cell_ = std::max({cell_, (most[0] - least[0]) / kMostCells, (most[1] - least[1]) / kMostCells});
  for (int k = 0; k < 2; ++k) {
    start_[k] = least[k] - 2.0f * cell_;
    size_[k] = static_cast<int>((most[k] - least[k]) / cell_) + 5;
  }
  irradiance_.assign(static_cast<std::size_t>(size_[0]) * static_cast<std::size_t>(size_[1]), {});
  for (const auto& row : landings) {
    for (const Landing& landing : row) {
      const float x = (dot(landing.point, axis_[0]) - start_[0]) / cell_ - 0.5f;
      const float y = (dot(landing.point, axis_[1]) - start_[1]) / cell_ - 0.5f;
      const int i = static_cast<int>(std::floor(x)), j = static_cast<int>(std::floor(y));
      if (i < 0 || j < 0 || i + 1 >= size_[0] || j + 1 >= size_[1]) continue;
      const float s = x - static_cast<float>(i), t = y - static_cast<float>(j);
      const float weights[4] = {(1 - s) * (1 - t), s * (1 - t), (1 - s) * t, s * t};
      for (int k = 0; k < 4; ++k) {
        irradiance_[static_cast<std::size_t>((j + k / 2) * size_[0] + i + k % 2)] +=
            weights[k] / (cell_ * cell_) * landing.power;
      }
    }
  }
}

Vec3 CausticMap::at(const Vec3& point) const {
  const float x = (dot(point, axis_[0]) - start_[0]) / cell_ - 0.5f;
  const float y = (dot(point, axis_[1]) - start_[1]) / cell_ - 0.5f;
  const int i = static_cast<int>(std::floor(x)), j = static_cast<int>(std::floor(y));
  if (i < 0 || j < 0 || i + 1 >= size_[0] || j + 1 >= size_[1]) return {};
  const float s = x - static_cast<float>(i), t = y - static_cast<float>(j);
  const auto cell = [&](int k, int l) {
    return irradiance_[static_cast<std::size_t>((j + l) * size_[0] + i + k)];
  };
  return (1 - t) * ((1 - s) * cell(0, 0) + s * cell(1, 0)) +
         t * ((1 - s) * cell(0, 1) + s * cell(1, 1));
}

}  // namespace barchan
