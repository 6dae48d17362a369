#include "render/preview.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "render/color_map.h"
#include "render/discs.h"
#include "render/light_map.h"
#include "render/occlusion.h"
#include "render/overlay.h"
#include "render/shading.h"
#include "render/traced_solids.h"

namespace barchan {

namespace {

constexpr int kFiner = 2;             // the picture is drawn this many times larger each way
constexpr int kLargest = 16384;       // [pixels]
constexpr float kLeastRadius = 1.0f;  // of a disc on the enlarged picture: one final pixel wide
constexpr double kNearest = 1e-3;     // closer to the eye than this share of the target: left out
constexpr int kKeyTexels = 1536, kSkyTexels = 224;
constexpr double kHollow = 0.035;   // reach of occlusion, share of the distance to the target
constexpr float kEdgeCover = 0.4f;  // of a container's outline
constexpr float kDither = 1.0f / 16.0f;

// Everything that the stages share.
struct Stage {
  const PreviewInput& input;
  const ThreadPool& pool;
  Projection view;  // of the enlarged picture
  Vec3d upward;     // unit
  Vec3d target;     // [m]
  double distance;  // from the eye to the target [m]
};

void check(const PreviewInput& input, const PreviewSettings& settings) {
  if (settings.width < 1 || settings.height < 1 || settings.width > kLargest ||
      settings.height > kLargest) {
    reject("a picture of {} x {} pixels; from 1 to {} each way can be made", settings.width,
           settings.height, kLargest);
  }
  if (!input.velocity.empty() && input.velocity.size() != input.position.size()) {
    fail("{} particles have {} velocities", input.position.size(), input.velocity.size());
  }
  const Camera& camera = settings.camera;
  if (!(camera.fov > 0.0 && camera.fov < 3.1) || !is_finite(camera.eye) ||
      !is_finite(camera.target) || !(length(camera.target - camera.eye) > 0.0)) {
    reject(
        "the camera looks nowhere: position and target must differ and its angle of view "
        "must be between 0 and 178 degrees");
  }
}

// The particles on the picture, front ones with the greater 1 / depth.
std::vector<Disc> project_particles(const Stage& stage) {
  const Projection& view = stage.view;
  const auto radius = static_cast<float>(std::max(stage.input.radius, 0.0));
  const auto focal = static_cast<float>(view.focal);
  const float nearest = std::max(static_cast<float>(kNearest * stage.distance), 1.5f * radius);
  const Vec3 right(view.right), up(view.up), forward(view.forward);
  std::vector<Disc> discs(stage.input.position.size());
  for_items(stage.pool, discs.size(), [&](std::size_t i) {
    const Vec3 arm(Vec3d(stage.input.position[i]) - view.eye);
    const float z = dot(arm, forward);
    if (!(z > nearest) || !is_finite(arm)) return;
    const float scale = focal / z;
    Disc& disc = discs[i];
    disc.x = static_cast<float>(view.center_x) + scale * dot(arm, right);
    disc.y = static_cast<float>(view.center_y) - scale * dot(arm, up);
    disc.radius = std::max(scale * radius, kLeastRadius);
    disc.value = 1.0f / z;
    disc.bulge = 1.0f / (z - radius) - disc.value;
  });
  return discs;
}

// Puts the solids behind, before and around the particles.
void see_solids(const Stage& stage, const TracedSolids& solids, SeenBuffer& seen) {
  if (solids.solids().empty()) return;
  const auto focal = static_cast<float>(stage.view.focal);
  for_rows(stage.pool, seen.height, [&](int y) {
    const float v =
        (static_cast<float>(stage.view.center_y) - static_cast<float>(y) - 0.5f) / focal;
    for (int x = 0; x < seen.width; ++x) {
      const float u =
          (static_cast<float>(x) + 0.5f - static_cast<float>(stage.view.center_x)) / focal;
      const std::size_t pixel = static_cast<std::size_t>(y) * static_cast<std::size_t>(seen.width) +
                                static_cast<std::size_t>(x);
      float& nearness = seen.nearness[pixel];
      std::int32_t& id = seen.id[pixel];
      const float limit = nearness > 0.0f ? 1.0f / nearness : Aabb::kEndless;
      SolidHit hit = solids.trace_front(u, v, limit);
      // Containers hide no particles and no bodies; a ground only where they end before it does
      const bool body =
          hit.solid >= 0 &&
          solids.solids()[static_cast<std::size_t>(hit.solid)].look == SolidLook::body;
      if (id < 0 && !body) {
        const SolidHit back = solids.trace_back(u, v);
        if (back.solid >= 0 && (hit.solid < 0 || back.depth < 1.0005f * hit.depth)) hit = back;
      }
      if (hit.solid < 0) continue;
      nearness = 1.0f / hit.depth;
      id = kFirstSolid - hit.solid;
    }
  });
}

// Thin lines along the edges of containers, over all that is behind them.
void outline_containers(const Stage& stage, const TracedSolids& solids, const SeenBuffer& seen,
                        std::vector<Vec3>& light) {
  const Vec3 ink = linear_color(0x56636f);
  const Projection& view = stage.view;
  const auto nearest = static_cast<float>(kNearest * stage.distance);
  const auto draw = [&](const Vec3d& a, const Vec3d& b) {
    const double steps = std::ceil(std::max(std::fabs(a.x - b.x), std::fabs(a.y - b.y)));
    const int last = static_cast<int>(std::min(steps, 4.0 * kFiner * kLargest));
    for (int k = 0; k < last; ++k) {
      const double share = (k + 0.5) / last;
      const Vec3d at = a + share * (b - a);  // 1 / depth is linear on the picture
      const int x = static_cast<int>(std::floor(at.x)), y = static_cast<int>(std::floor(at.y));
      if (x < 0 || y < 0 || x >= seen.width || y >= seen.height) continue;
      const std::size_t pixel = static_cast<std::size_t>(y) * static_cast<std::size_t>(seen.width) +
                                static_cast<std::size_t>(x);
      if (static_cast<float>(at.z) * 1.01f < seen.nearness[pixel]) continue;
      light[pixel] += kEdgeCover * (ink - light[pixel]);
    }
  };
  for (const TracedSolid& solid : solids.solids()) {
    for (auto [a, b] : solid.edges) {
      float za = dot(a, Vec3(view.forward)), zb = dot(b, Vec3(view.forward));
      if (za < nearest && zb < nearest) continue;
      // Cut off what is behind the eye
      if (za < nearest) a = b + (a - b) * ((zb - nearest) / (zb - za));
      if (zb < nearest) b = a + (b - a) * ((za - nearest) / (za - zb));
      Vec3d p = view.project(view.eye + Vec3d(a)), q = view.project(view.eye + Vec3d(b));
      p.z = 1.0 / p.z;
      q.z = 1.0 / q.z;
      draw(p, q);
    }
  }
}

// Averages the enlarged picture. The small ordered noise keeps soft gradients free of bands.
Image reduce(const Stage& stage, const std::vector<Vec3>& light, int width, int height) {
  static constexpr int kOrder[4][4] = {
      {0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}};
  Image image(width, height);
  const std::size_t wide = static_cast<std::size_t>(width) * kFiner;
  for_rows(stage.pool, height, [&](int y) {
    for (int x = 0; x < width; ++x) {
      Vec3 sum;
      for (int j = 0; j < kFiner; ++j) {
        for (int i = 0; i < kFiner; ++i) {
          const auto row = static_cast<std::size_t>(y * kFiner + j);
          // Clipped first, so that one highlight does not outweigh its neighbours and ragged edges
          sum += min(light[row * wide + static_cast<std::size_t>(x * kFiner + i)], Vec3(1, 1, 1));
        }
      }
      sum /= kFiner * kFiner;
      const float noise = static_cast<float>(kOrder[y & 3][x & 3]) * kDither + 0.5f * kDither;
      std::uint8_t* pixel = image.at(x, y);
      for (int c = 0; c < 3; ++c) {
        const float value = 255.0f * linear_to_srgb(sum[c]) + noise;
        pixel[c] = static_cast<std::uint8_t>(std::clamp(value, 0.0f, 255.0f));
      }
    }
  });
  return image;
}

// The main light: from high on the left, behind the camera's shoulder.
Vec3 key_direction(const Stage& stage) {
  return normalized(Vec3(stage.upward - 0.80 * stage.view.right - 0.45 * stage.view.forward));
}

Image draw_scene(const Stage& stage, const ColorMap& colors, int width, int height) {
  const Projection& view = stage.view;
  const PreviewInput& input = stage.input;

  // What is to be seen where
  const std::vector<Disc> discs = project_particles(stage);
  DiscBuffer front = draw_discs(discs, view.width, view.height, 0.0f, stage.pool);
  SeenBuffer seen{view.width, view.height, std::move(front.value), std::move(front.id), {}};
  const TracedSolids solids(input.solids, input.time, view);
  see_solids(stage, solids, seen);

  // How much light gets there. The maps cover what the picture shows at the target's distance,
  // whatever the particles do: edges of shadows do not crawl from frame to frame.
  const auto radius = static_cast<float>(input.radius);
  seen.ambient =
      ambient_light({&seen.nearness, view.width, view.height, static_cast<float>(view.focal),
                     static_cast<float>(kHollow * stage.distance), 2.0f * radius},
                    stage.pool);
  const Vec3 to_key = key_direction(stage), center(stage.target - view.eye);
  const double half = stage.distance * std::hypot(view.center_x, view.center_y) / view.focal;
  const LightMap key(input.position, -view.eye, input.radius, to_key, center, half, kKeyTexels,
                     stage.pool);
  const LightMap sky(input.position, -view.eye, input.radius, Vec3(stage.upward), center, half,
                     kSkyTexels, stage.pool);

  ShadingInput in{&seen,   discs, input.velocity, radius, 0.0f,         &colors,
                  &solids, &key,  &sky,           to_key, stage.upward, stage.target};
  if (input.speed_max > 0.0) in.per_speed = static_cast<float>(1.0 / input.speed_max);
  const Shader shade(in, view);
  std::vector<Vec3> light(seen.id.size());
  for_rows(stage.pool, view.height, [&](int y) {
    Vec3* row = light.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(view.width);
    for (int x = 0; x < view.width; ++x) row[x] = shade(x, y);
  });
  outline_containers(stage, solids, seen, light);
  return reduce(stage, light, width, height);
}

}  // namespace

Image render_preview(const PreviewInput& input, const PreviewSettings& settings,
                     const ThreadPool& pool) {
  check(input, settings);
  const Camera& camera = settings.camera;
  const Stage stage{input,
                    pool,
                    make_projection(camera, kFiner * settings.width, kFiner * settings.height),
                    normalized(camera.up, Vec3d(0, 1, 0)),
                    camera.target,
                    length(camera.target - camera.eye)};
  const ColorMap colors;
  Image image = draw_scene(stage, colors, settings.width, settings.height);
  draw_caption(image, settings.caption);
  if (settings.scale_bar) {
    draw_color_bar(image, colors, input.speed_max);
    draw_scale_bar(image, stage.view.focal / kFiner / stage.distance);
  }
  return image;
}

}  // namespace barchan
