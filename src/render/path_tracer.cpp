#include "render/path_tracer.h"

#include <algorithm>
#include <cmath>

#include "math/random.h"
#include "math/scalar.h"
#include "render/optics.h"

namespace barchan {

namespace {

constexpr int kMostPaths = 16;    // that wait at the same time
constexpr int kMostBorders = 16;  // of water and glass on a path
constexpr int kMostShadowBorders = 8;
constexpr float kSplitWeight = 0.01f;  // lighter parts are left to chance
constexpr float kLightWeight = 0.05f;  // lighter paths may end
constexpr float kOffset = 2e-5f;       // of a ray's start from its surface, share of the scene
constexpr float kGlassIndex = 1.5f;
constexpr int kFacets = 7;  // of a broken grain

struct Path {
  Ray ray;
  Vec3 weight{1, 1, 1};
  bool in_water = false;
  bool straight = true;  // from the eye through panes alone
  int borders = 0, bounces = 0;
};

float largest(const Vec3& v) {
  return std::max({v.x, v.y, v.z});
}

Vec3 beer(const Vec3& absorption, float length) {
  return {std::exp(-absorption.x * length), std::exp(-absorption.y * length),
          std::exp(-absorption.z * length)};
}

// Follows all paths of one sample.
class Tracer {
 public:
  Tracer(const TraceScene& scene, const TraceSettings& settings, float spread, Sampler& sampler)
      : scene_(scene),
        settings_(settings),
        spread_(spread),
        offset_(kOffset * scene.size),
        sampler_(sampler) {}

  Sight follow(const Ray& ray) {
    waiting_[waiting_count_++].ray = ray;
    while (waiting_count_ > 0) {
      const Path path = waiting_[--waiting_count_];
      advance(path);
    }
    return sight_;
  }

 private:
  // The nearest of everything along a path.
  enum class What { sky, solid, ground, water, pane };
  struct Meeting {
    What what = What::sky;
    RayHit hit;
    const Ground* ground = nullptr;
  };

  Meeting meet(const Path& path) const {
    const Ray& ray = path.ray;
    Meeting met;
    met.hit = scene_.solid.first(ray);
    if (met.hit.object >= 0) met.what = What::solid;
    const auto nearer = [&](const RayScene& others, What what) {
      const RayHit hit = others.first({ray.from, ray.way, std::min(ray.reach, met.hit.distance)});
      if (hit.object >= 0) met.hit = hit, met.what = what;
    };
    nearer(scene_.water, What::water);
    // Light under way between rough surfaces is not bothered by panes, which are thin and clean
    if (path.bounces == 0 && !path.in_water) {
      // A body flush with a pane is seen, not the inside of it from behind the pane
      const float flush = met.hit.distance;
      met.hit.distance -= 4.0f * offset_;
      nearer(scene_.panes, What::pane);
      if (met.what != What::pane) met.hit.distance = flush;
    }
    for (const Ground& ground : scene_.grounds) {
      const float slope = dot(ground.normal, ray.way);
      if (slope >= 0.0f) continue;
      const float t = (ground.level - dot(ground.normal, ray.from)) / slope;
      if (!(t > 0.0f && t < met.hit.distance)) continue;
      met.hit = {-1, 0, t, ground.normal, ground.normal};
      met.what = What::ground;
      met.ground = &ground;
    }
    return met;
  }

  void advance(Path path) {
    const Meeting met = meet(path);
    if (path.in_water) {
      if (met.what == What::sky) return;  // came into the water by a hole in it
      path.weight = multiply(path.weight, beer(scene_.absorption, met.hit.distance));
    }
    if (path.straight && met.what == What::pane) path_length_ += met.hit.distance;
    if (path.straight && met.what != What::pane && met.what != What::sky) {
      sight_.depth = met.hit.distance + path_length_;
      sight_.normal = met.hit.smooth;
    }
    switch (met.what) {
      case What::sky:
        return at_sky(path);
      case What::solid:
        return at_solid(path, met.hit);
      case What::ground:
        return at_ground(path, met.hit, *met.ground);
      case What::water:
        return at_water(path, met.hit);
      case What::pane:
        return at_pane(path, met.hit);
    }
  }

  void add(const Path& path, Vec3 light) {
    light = multiply(path.weight, light);
    const float peak = largest(light), limit = settings_.brightest;
    if (limit > 0.0f && peak > limit) light *= limit / peak;
    sight_.light += light;
  }

  void at_sky(const Path& path) {
    Vec3 light = scene_.light.sky(path.ray.way);
    if (path.bounces == 0) {
      sight_.plain += multiply(path.weight, light);
      light += scene_.light.sun_disc(path.ray.way);
      light += area_light(path.ray);
    }
    add(path, light);
  }

  void at_ground(Path path, const RayHit& hit, const Ground& ground) {
    const Vec3 point = path.ray.from + hit.distance * path.ray.way;
    // Far away the ground gives way to the rim of the sky
    const float faded = ground.faded(point);
    if (faded > 0.0f) {
      Path rim = path;
      rim.weight *= faded;
      const Vec3 light = scene_.light.horizon;
      if (path.bounces == 0) sight_.plain += multiply(rim.weight, light);
      add(rim, light);
      path.weight *= 1.0f - faded;
      if (faded > 0.995f) return;
    }
    Finish finish;
    finish.roughness = ground.roughness;
    const float slant = std::max(0.05f, -dot(path.ray.way, ground.normal));
    const float width = path.bounces == 0 ? spread_ * hit.distance / slant : ground.tile;
    at_matte(path, hit, ground.color_at(point, width), finish, ground.caustics.get());
  }

  void at_solid(const Path& path, const RayHit& hit) {
    const Finish& finish = scene_.solid_finish[static_cast<std::size_t>(hit.object)];
    at_matte(path, hit, finish.colors.empty() ? finish.color : finish.colors[hit.part], finish);
  }

  // The ball's normal, drawn to the nearest of a few directions that belong to this grain alone.
  Vec3 broken_normal(const RayHit& hit) const {
    Vec3 facet = hit.normal;
    float nearest = -2.0f;
    for (std::uint32_t k = 0; k < kFacets; ++k) {
      const Vec3 way = Random{}.direction(hit.part, 0x46414345u, k);
      const float close = dot(way, hit.normal);
      if (close > nearest) nearest = close, facet = way;
    }
    return normalized(facet + 0.5f * hit.normal);
  }

  void at_matte(const Path& path, const RayHit& hit, const Vec3& color, const Finish& finish,
                const CausticMap* caustics = nullptr) {
    // The side that the path comes from
    const float side = dot(hit.normal, path.ray.way) < 0.0f ? 1.0f : -1.0f;
    const Vec3 flat = side * hit.normal, back = -path.ray.way;
    const Vec3 shaped = finish.broken ? broken_normal(hit) : hit.smooth;
    // A smooth normal that turns away from the eye would come out black: drawn back to its side
    Vec3 normal = side * shaped;
    const float toward = dot(normal, back);
    if (toward < 0.02f) normal = normalized(normal + (0.02f - toward) * back, flat);
    const Vec3 from = path.ray.from + hit.distance * path.ray.way + offset_ * flat;
    if (path.bounces == 0) sight_.plain += multiply(path.weight, color);

    Path next = path;
    next.weight = multiply(path.weight, color);
    next.straight = false;
    if (caustics) add(next, caustics->at(from) / kPiF);
    ask_lights(next, from, flat, normal, back, finish.roughness, caustics != nullptr);
    if (path.bounces >= settings_.bounces || largest(next.weight) < settings_.least) {
      return add(next, settings_.ambient);
    }
    if (path.bounces >= 2 && !survives(next)) return;

    const Pair u = sampler_.pair();
    next.ray = {from, cosine_direction(normal, u.a, u.b)};
    // Below the true surface there is no light; tilting the way up loses none of what is above
    if (dot(next.ray.way, flat) <= 0.0f) {
      next.ray.way = normalized(next.ray.way - 2.0f * dot(next.ray.way, flat) * flat);
    }
    next.weight *= oren_nayar(normal, next.ray.way, back, finish.roughness);
    ++next.bounces;
    push(next);
  }

  // Light that comes straight from sun and area lights to a rough surface; `dry`: the sun's only
  // where no water is on its way, since the rest is in a map.
  void ask_lights(const Path& path, const Vec3& from, const Vec3& flat, const Vec3& normal,
                  const Vec3& back, float roughness, bool dry) {
    const Lighting& light = scene_.light;
    if (largest(light.sun) > 0.0f) {
      const Pair u = sampler_.pair();
      const Vec3 way = cone_direction(light.to_sun, light.sun_cosine, u.a, u.b);
      const float cosine = dot(normal, way);
      if (cosine > 0.0f && dot(flat, way) > 0.0f) {
        const Vec3 share = passage({from, way}, path.in_water, dry);
        const float f = cosine / kPiF * oren_nayar(normal, way, back, roughness);
        if (largest(share) > 0.0f) add(path, f * multiply(share, light.sun));
      }
    }
    for (const AreaLight& area : light.areas) {
      const Pair u = sampler_.pair();
      const Vec3 place =
          area.center + (2.0f * u.a - 1.0f) * area.along + (2.0f * u.b - 1.0f) * area.across;
      const Vec3 arm = place - from, front = cross(area.along, area.across);
      const float distance = length(arm), surface = 4.0f * length(front);
      const Vec3 way = arm / distance;
      const float cosine = dot(normal, way), facing = -dot(way, normalized(front));
      if (cosine <= 0.0f || facing <= 0.0f || dot(flat, way) <= 0.0f) continue;
      const Vec3 share = passage({from, way, distance * (1.0f - 1e-4f)}, path.in_water, false);
      const float f = cosine / kPiF * oren_nayar(normal, way, back, roughness) * facing * surface /
                      (distance * distance);
      if (largest(share) > 0.0f) add(path, f * multiply(share, area.radiance));
    }
  }

  // Radiance of the area lights that a ray meets (nothing else is in its way).
  Vec3 area_light(const Ray& ray) const {
    for (const AreaLight& area : scene_.light.areas) {
      const Vec3 front = cross(area.along, area.across);
      const float slope = dot(front, ray.way);
      if (slope >= 0.0f) continue;
      const float t = dot(front, area.center - ray.from) / slope;
      const Vec3 arm = ray.from + t * ray.way - area.center;
      const bool within = std::fabs(dot(arm, area.along)) <= length_squared(area.along) &&
                          std::fabs(dot(arm, area.across)) <= length_squared(area.across);
      if (t > 0.0f && within) return area.radiance;
    }
    return {};
  }

  // The share of light that comes straight along a shadow ray; none through water if it must be
  // dry.
  Vec3 passage(Ray ray, bool in_water, bool dry) const {
    if (dry && in_water) return {};
    if (scene_.solid.blocked(ray)) return {};
    for (const Ground& ground : scene_.grounds) {
      const float slope = dot(ground.normal, ray.way);
      const float above = dot(ground.normal, ray.from) - ground.level;
      if (slope < 0.0f && above > 0.0f && above < -slope * ray.reach) return {};
    }
    Vec3 share{1, 1, 1};
    if (dry) return scene_.water.blocked(ray) ? Vec3() : share;
    for (int k = 0; k < kMostShadowBorders; ++k) {
      const RayHit hit = scene_.water.first(ray);
      if (hit.object < 0) break;
      if (in_water) share = multiply(share, beer(scene_.absorption, hit.distance));
      // As from outside, whichever way: straight light has no critical angle
      share *= 1.0f - fresnel(std::fabs(dot(ray.way, hit.smooth)), scene_.water_index);
      in_water = dot(ray.way, hit.normal) < 0.0f;
      const float step = hit.distance + offset_;
      ray.from += step * ray.way;
      ray.reach -= step;
      if (ray.reach <= 0.0f) break;
    }
    return share;
  }

  void at_water(Path path, const RayHit& hit) {
    if (++path.borders > kMostBorders) return;
    const bool entering = dot(path.ray.way, hit.normal) < 0.0f;
    const float eta = entering ? scene_.water_index : 1.0f / scene_.water_index;
    const Vec3 flat = entering ? hit.normal : -hit.normal;
    Vec3 normal = entering ? hit.smooth : -hit.smooth;
    if (dot(normal, path.ray.way) > -0.01f) normal = flat;  // seen edge on
    const float share = fresnel(std::min(1.0f, -dot(normal, path.ray.way)), eta);
    const Vec3 point = path.ray.from + hit.distance * path.ray.way;

    Path mirror = path, through = path;
    mirror.ray = {point + offset_ * flat, reflected(path.ray.way, normal)};
    if (dot(mirror.ray.way, flat) <= 0.0f) mirror.ray.way = reflected(path.ray.way, flat);
    through.ray = {point - offset_ * flat, refracted(path.ray.way, normal, eta)};
    if (dot(through.ray.way, flat) >= 0.0f) through.ray.way = path.ray.way;
    mirror.in_water = !entering;
    through.in_water = entering;
    mirror.straight = through.straight = false;
    part(path, mirror, through, share);
  }

  void at_pane(Path path, const RayHit& hit) {
    if (++path.borders > kMostBorders) return;
    const Vec3 flat = dot(path.ray.way, hit.smooth) < 0.0f ? hit.smooth : -hit.smooth;
    const float cosine = std::min(1.0f, -dot(flat, path.ray.way));
    const float share = pane_reflectance(cosine, kGlassIndex);
    const Vec3 point = path.ray.from + hit.distance * path.ray.way;
    Path mirror = path, through = path;
    mirror.ray = {point + offset_ * flat, reflected(path.ray.way, flat)};
    mirror.straight = false;
    through.ray = {point - offset_ * flat, path.ray.way};
    part(path, mirror, through, share);
  }

  // Goes on along both ways, `share` along the first; or along one of them, by chance.
  void part(const Path& path, Path& mirror, Path& through, float share) {
    if (share <= 0.0f) return push(through);
    if (share >= 1.0f) return push(mirror);
    const bool both = path.bounces == 0 && path.borders <= settings_.splits;
    const float weight = largest(path.weight);
    if (both && share * weight > kSplitWeight && (1.0f - share) * weight > kSplitWeight) {
      mirror.weight *= share;
      through.weight *= 1.0f - share;
      push(mirror);
      push(through);
    } else {
      push(sampler_.number() < share ? mirror : through);
    }
  }

  // Ends light paths by chance; those that go on carry for those that do not.
  bool survives(Path& path) {
    const float keep = std::min(1.0f, largest(path.weight) / kLightWeight);
    if (keep >= 1.0f) return true;
    if (sampler_.number() >= keep) return false;
    path.weight /= keep;
    return true;
  }

  void push(const Path& path) {
    if (waiting_count_ < kMostPaths) waiting_[waiting_count_++] = path;
  }

  const TraceScene& scene_;
  const TraceSettings& settings_;
  const float spread_, offset_;
  Sampler& sampler_;
  Sight sight_;
  float path_length_ = 0.0f;  // of the straight path up to its last pane [m]
  Path waiting_[kMostPaths];
  int waiting_count_ = 0;
};

}  // namespace

Sight trace(const TraceScene& scene, const TraceSettings& settings, const Ray& ray, float spread,
            Sampler& sampler) {
  return Tracer(scene, settings, spread, sampler).follow(ray);
}

}  // namespace barchan
