#include "render/shading.h"

#include <algorithm>
#include <cmath>

#include "math/scalar.h"
#include "render/overlay.h"

namespace barchan {

namespace {

// The studio: a wall of light behind, one lamp, white sky and a pale floor that throws light back.
const Vec3 kBackdropTop = linear_color(0xa9b4c0);
const Vec3 kBackdropBottom = linear_color(0xe9ecee);
const Vec3 kLamp(0.98f, 0.93f, 0.85f);
const Vec3 kSky(0.54f, 0.58f, 0.64f);
const Vec3 kBounce(0.33f, 0.32f, 0.31f);

const Vec3 kBodyColor = linear_color(0x8796a8);
const Vec3 kWallColor = linear_color(0xbfc8d1);
const Vec3 kGroundColor = linear_color(0xc3c8cd);
const Vec3 kGridColor = linear_color(0x7f8c9a);

constexpr float kWallCover = 0.55f, kFloorCover = 0.9f;  // how much hides what is behind
constexpr float kGridCover = 0.38f;
constexpr float kGloss = 0.22f;
constexpr float kGlossPower = 28.0f;
constexpr double kGridLines = 12.0;  // about so many over the distance to the target

Vec3 mix(const Vec3& a, const Vec3& b, float share) {
  return a + share * (b - a);
}

float smoothstep(float from, float to, float x) {
  const float t = clamp((x - from) / (to - from), 0.0f, 1.0f);
  return t * t * (3.0f - 2.0f * t);
}

// How far x [m] is from the nearest multiple of the spacing [m].
float off_line(float x, float spacing) {
  const float turns = x / spacing;
  return spacing * std::fabs(turns - std::round(turns));
}

}  // namespace

Shader::Shader(const ShadingInput& in, const Projection& view)
    : in_(in),
      view_(view),
      right_(view.right),
      up_(view.up),
      forward_(view.forward),
      upward_(in.upward),
      target_(in.target - view.eye),
      distance_(length(target_)),
      grid_spacing_(static_cast<float>(nice_step(distance_ * 2.5 / kGridLines))) {
  for (const TracedSolid& solid : in.solids->solids()) grids_.push_back(make_grid(solid));
}

Vec3 Shader::background(int y) const {
  const float share = (static_cast<float>(y) + 0.5f) / static_cast<float>(view_.height);
  return mix(kBackdropTop, kBackdropBottom, smoothstep(-0.1f, 1.0f, share));
}

float Shader::lit_by_key(const Place& at) const {
  if (dot(at.normal, in_.to_key) <= 0.0f) return 0.0f;
  const Vec3 from = at.arm + at.bias * at.normal;
  const float by_particles = in_.key->lit(from, at.bias);
  return by_particles > 0.0f ? by_particles * in_.solids->lit(from, in_.to_key, at.bias) : 0.0f;
}

Vec3 Shader::lit(const Vec3& albedo, const Place& at) const {
  // The sky above, the floor's light from below; less of both in hollows and under other things
  const float upward = dot(at.normal, upward_);
  const float open = 0.35f + 0.65f * in_.sky->lit(at.arm + at.bias * at.normal, at.bias);
  const Vec3 around = mix(kBounce, kSky, 0.5f + 0.5f * upward) * (at.ambient * open);
  const float lamp = max(0.0f, dot(at.normal, in_.to_key)) * lit_by_key(at);
  return multiply(albedo, around + kLamp * (lamp * (0.6f + 0.4f * at.ambient)));
}

Vec3 Shader::particle(int x, int y, std::int32_t id, Place at) const {
  const auto i = static_cast<std::size_t>(id);
  const Disc& disc = in_.discs[i];
  const float nx = (static_cast<float>(x) + 0.5f - disc.x) / disc.radius;
  const float ny = (disc.y - static_cast<float>(y) - 0.5f) / disc.radius;
  const float nz = std::sqrt(max(0.0f, 1.0f - nx * nx - ny * ny));
  at.normal = normalized(nx * right_ + ny * up_ - nz * forward_);
  at.bias = max(in_.radius, 1.5f * in_.key->texel());

  const float speed = in_.velocity.empty() ? 0.0f : length(in_.velocity[i]);
  Vec3 color = lit((*in_.colors)(speed * in_.per_speed), at);
  // A small highlight, where the sphere is large enough for it to be one
  const float size = smoothstep(2.0f, 6.0f, disc.radius);
  if (size > 0.0f) {
    const Vec3 half = normalized(in_.to_key - normalized(at.arm));
    const float gloss = std::pow(max(0.0f, dot(at.normal, half)), kGlossPower);
    if (gloss > 0.01f) color += kLamp * (kGloss * size * gloss * lit_by_key(at));
  }
  return color;
}

Vec3 Shader::body(const Place& at) const {
  const Vec3 half = normalized(in_.to_key - normalized(at.arm));
  const float gloss = std::pow(max(0.0f, dot(at.normal, half)), kGlossPower);
  Vec3 color = lit(kBodyColor, at);
  if (gloss > 0.01f) color += kLamp * (0.35f * kGloss * gloss * lit_by_key(at));
  return color;
}

Vec3 Shader::container(const Place& at, const Vec3& behind) const {
  const float floor = smoothstep(0.5f, 0.9f, dot(at.normal, upward_));
  return mix(behind, lit(kWallColor, at), kWallCover + (kFloorCover - kWallCover) * floor);
}

Shader::Grid Shader::make_grid(const TracedSolid& solid) const {
  Grid grid;
  if (solid.look != SolidLook::plane) return grid;
  const Vec3 normal = rotate(solid.orientation, solid.program.nodes[0].axis());
  grid.axis[0] = sdf::across(normal);
  grid.axis[1] = cross(normal, grid.axis[0]);
  for (int k = 0; k < 2; ++k) {
    // In double precision: far from the origin, floats lack the digits.
    grid.start[k] = static_cast<float>(
        std::remainder(dot(view_.eye, Vec3d(grid.axis[k])), static_cast<double>(grid_spacing_)));
  }
  return grid;
}

// 1 on a line of the grid through the scene's origin, 0 between, soft by a pixel.
float Shader::grid(int solid, const Place& at) const {
  const Grid& grid = grids_[static_cast<std::size_t>(solid)];
  const float pixel = at.depth / static_cast<float>(view_.focal);
  const float slant = max(0.05f, -dot(at.normal, normalized(at.arm)));
  const float soft = 1.2f * pixel / slant;
  float line = 0.0f;
  for (int k = 0; k < 2; ++k) {
    const float off = off_line(grid.start[k] + dot(at.arm, grid.axis[k]), grid_spacing_);
    line = max(line, 1.0f - smoothstep(0.8f * pixel, 0.8f * pixel + soft, off));
  }
  return line * clamp(1.0f - 5.0f * soft / grid_spacing_, 0.0f, 1.0f);
}

Vec3 Shader::plane(int solid, const Place& at, const Vec3& behind) const {
  const float away = length(at.arm - target_) / distance_;
  const float cover = 1.0f - smoothstep(0.5f, 2.8f, away);
  if (cover <= 0.0f) return behind;
  const float line = kGridCover * grid(solid, at) * (1.0f - smoothstep(0.3f, 1.6f, away));
  return mix(behind, lit(mix(kGroundColor, kGridColor, line), at), cover);
}

Vec3 Shader::operator()(int x, int y) const {
  const std::size_t pixel = static_cast<std::size_t>(y) * static_cast<std::size_t>(view_.width) +
                            static_cast<std::size_t>(x);
  const std::int32_t id = in_.seen->id[pixel];
  const Vec3 behind = background(y);
  if (id == kNothing) return behind;

  Place at;
  at.depth = 1.0f / in_.seen->nearness[pixel];
  at.ambient = in_.seen->ambient[pixel];
  const float focal = static_cast<float>(view_.focal);
  const float u = (static_cast<float>(x) + 0.5f - static_cast<float>(view_.center_x)) / focal;
  const float v = (static_cast<float>(view_.center_y) - static_cast<float>(y) - 0.5f) / focal;
  at.arm = at.depth * (forward_ + u * right_ + v * up_);
  if (id >= 0) return particle(x, y, id, at);

  const int solid = kFirstSolid - id;
  at.normal = in_.solids->normal(solid, at.arm);
  at.bias = 1.5f * in_.key->texel();
  switch (in_.solids->solids()[static_cast<std::size_t>(solid)].look) {
    case SolidLook::container:
      return container(at, behind);
    case SolidLook::plane:
      return plane(solid, at, behind);
    default:
      return body(at);
  }
}

}  // namespace barchan
