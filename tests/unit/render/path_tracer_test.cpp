// Light against closed forms: furnaces, a sun on a plane, slabs of water, places and motion.
#include "render/path_tracer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "compute/cpu.h"
#include "render/denoise.h"
#include "render/film.h"
#include "render/looks.h"
#include "render/optics.h"
#include "render/solid_models.h"

namespace barchan {
namespace {

constexpr float kSpread = 1e-3f;

// The mean of many samples along one ray.
Sight look_along(const TraceScene& scene, const Ray& ray, int samples,
                 const TraceSettings& settings = {}) {
  Sight mean;
  Sampler sampler(7);
  for (int s = 0; s < samples; ++s) {
    sampler.begin(static_cast<std::uint32_t>(s));
    const Sight seen = trace(scene, settings, ray, kSpread, sampler);
    const float share = 1.0f / static_cast<float>(samples);
    mean.light += share * seen.light;
    mean.plain += share * seen.plain;
    mean.depth += share * seen.depth;
  }
  return mean;
}

// Walls of a closed box facing outwards.
TraceMesh box(const Vec3& lo, const Vec3& hi) {
  TraceMesh mesh;
  for (int i = 0; i < 8; ++i) {
    mesh.vertices.push_back({(i & 1) ? hi.x : lo.x, (i & 2) ? hi.y : lo.y, (i & 4) ? hi.z : lo.z});
  }
  mesh.triangles = {{0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}, {0, 1, 5}, {0, 5, 4},
                    {2, 6, 7}, {2, 7, 3}, {0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}};
  return mesh;
}

// A ball of triangles with exact normals.
TraceMesh round_mesh(float radius, int rings) {
  TraceMesh mesh;
  const int around = 2 * rings;
  for (int i = 0; i <= rings; ++i) {
    for (int j = 0; j < around; ++j) {
      const float a = kPiF * static_cast<float>(i) / static_cast<float>(rings);
      const float b = kPiF * static_cast<float>(j) / static_cast<float>(rings);
      const Vec3 n(std::sin(a) * std::cos(b), std::cos(a), std::sin(a) * std::sin(b));
      mesh.vertices.push_back(radius * n);
      mesh.normals.push_back(n);
    }
  }
  const auto at = [&](int i, int j) { return static_cast<std::uint32_t>(i * around + j % around); };
  for (int i = 0; i < rings; ++i) {
    for (int j = 0; j < around; ++j) {
      mesh.triangles.push_back({at(i, j), at(i + 1, j + 1), at(i + 1, j)});
      mesh.triangles.push_back({at(i, j), at(i, j + 1), at(i + 1, j + 1)});
    }
  }
  return mesh;
}

void expect_color(const Vec3& seen, const Vec3& wanted, float tolerance) {
  for (int c = 0; c < 3; ++c) EXPECT_NEAR(seen[c], wanted[c], tolerance) << "channel " << c;
}

TEST(PathTracer, WhiteThingsVanishInAnEvenLight) {
  // Two touching balls and a ground, all of albedo 1: whatever the paths do, they find radiance 1
  TraceScene scene;
  const Ball balls[] = {{{0, 0, 0}, 1.0f}, {{1.9f, 0, 0}, 1.0f}};
  Finish white;
  white.color = {1, 1, 1};
  scene.add_solid(scene.solid.add_balls(balls), white);
  Ground ground;
  ground.level = -1.0f;
  ground.color = {1, 1, 1};
  scene.grounds.push_back(ground);
  scene.build();
  TraceSettings settings;
  settings.bounces = 400;
  for (const float y : {0.0f, 0.6f, -0.9f, 1.5f}) {
    const Sight seen =
        look_along(scene, {{0.9f, y, 5}, normalized(Vec3(0, -0.05f, -1))}, 64, settings);
    expect_color(seen.light, {1, 1, 1}, 1e-3f);
  }
}

TEST(PathTracer, ClearWaterVanishesInAnEvenLight) {
  TraceScene scene;
  add_water(round_mesh(1.0f, 64), {1, 1, 1}, 1.0, scene);
  scene.build();
  for (const float y : {0.0f, 0.5f, 0.9f, 0.99f}) {
    const Sight seen = look_along(scene, {{0, y, 5}, {0, 0, -1}}, 256);
    expect_color(seen.light, {1, 1, 1}, 0.02f);
  }
}

TEST(PathTracer, SunOnAPlane) {
  // radiance = albedo / pi x irradiance x cosine
  TraceScene scene;
  scene.light.zenith = scene.light.horizon = scene.light.below = {};
  scene.light.to_sun = normalized(Vec3(1, 1, 0));
  scene.light.sun = {2.0f, 1.0f, 0.5f};
  scene.light.sun_cosine = std::cos(0.02f);
  Ground ground;
  ground.color = {0.5f, 0.5f, 0.25f};
  scene.grounds.push_back(ground);
  const Ball shade{{10, 10, 5}, 1.0f};  // between the sun and (0, 0, 5)
  scene.add_solid(scene.solid.add_balls({&shade, 1}), {});
  scene.build();
  const float cosine = std::sqrt(0.5f);
  const Sight lit = look_along(scene, {{0, 3, 0}, {0, -1, 0}}, 64);
  expect_color(lit.light, cosine / kPiF * Vec3(1.0f, 0.5f, 0.125f), 1e-3f);
  const Sight shaded = look_along(scene, {{0, 3, 5}, {0, -1, 0}}, 64);
  expect_color(shaded.light, {}, 1e-3f);
}

TEST(PathTracer, AreaLightOverAPlane) {
  // Straight below a square of half edge a at height h, the irradiance of radiance L is
  // L x 4 / 2 x 2 x [a / sqrt(a^2 + h^2)] atan(a / sqrt(a^2 + h^2)) (four corners' form factors)
  TraceScene scene;
  scene.light.zenith = scene.light.horizon = scene.light.below = {};
  const float a = 0.5f, h = 1.0f, s = std::sqrt(a * a + h * h);
  scene.light.areas.push_back({{0, h, 0}, {a, 0, 0}, {0, 0, a}, {3, 3, 3}});
  scene.light.areas.back().along = {0, 0, a};  // along x across points down
  scene.light.areas.back().across = {-a, 0, 0};
  Ground ground;
  ground.color = {1, 1, 1};
  scene.grounds.push_back(ground);
  scene.build();
  const Vec3 down = cross(scene.light.areas[0].along, scene.light.areas[0].across);
  ASSERT_LT(down.y, 0.0f);
  const float factor = 4.0f / (2.0f * kPiF) * 2.0f * (a / s) * std::atan(a / s);
  TraceSettings settings;
  settings.bounces = 0;
  const Sight seen = look_along(scene, {{0, 0.5f, 0}, {0, -1, 0}}, 1024, settings);
  expect_color(seen.light, 3.0f * factor * Vec3(1, 1, 1), 0.01f);
  // It is seen itself, from its front only
  EXPECT_EQ(look_along(scene, {{0, 0.2f, 0}, {0, 1, 0}}, 1).light.x, 3.0f);
  EXPECT_EQ(look_along(scene, {{0, 2, 0}, {0, 1, 0}}, 1).light.x, 0.0f);
}

TEST(PathTracer, WaterTakesItsColourByBeersLaw) {
  // Straight through a slab of thickness d before white light: both borders let 1 - r through, and
  // what they reflect goes to and fro: sum = (1 - r)^2 T / (1 - r^2 T^2), and r + ... comes back,
  // (1 - r)^2 r T^2 / (1 - r^2 T^2) from the far side.
  TraceScene scene;
  const float depth = 0.5f;
  const Vec3 color(0.2f, 0.5f, 0.9f);
  add_water(box({-9, -9, -depth}, {9, 9, 0}), color, depth, scene);
  scene.build();
  const float r = fresnel(1.0f, scene.water_index);
  Vec3 wanted;
  for (int c = 0; c < 3; ++c) {
    const float t = color[c], whole = 1.0f - r * r * t * t;
    wanted[c] = r + (1 - r) * (1 - r) * (t + r * t * t) / whole;
  }
  TraceSettings settings;
  settings.splits = 12;
  expect_color(look_along(scene, {{0, 0, 2}, {0, 0, -1}}, 4096, settings).light, wanted, 2e-3f);
}

TEST(PathTracer, WhatIsUnderWaterIsSeenRaised) {
  // A ray at 45 degrees meets the bottom where Snell says
  TraceScene scene;
  add_water(box({-9, -1, -9}, {9, 0, 9}), {1, 1, 1}, 1.0, scene);
  Ground ground;
  ground.level = -0.9f;
  ground.color = {1, 1, 1};
  scene.grounds.push_back(ground);
  const float across = std::sqrt(0.5f) / 1.333f;
  const float x = 0.9f * across / std::sqrt(1.0f - across * across);
  const Ball pearl{{x, -0.9f, 0}, 0.02f};
  Finish black;
  black.color = {};
  scene.add_solid(scene.solid.add_balls({&pearl, 1}), black);
  scene.build();
  const float r = fresnel(std::sqrt(0.5f), 1.333f);
  const Sight seen = look_along(scene, {{-1, 1, 0}, normalized(Vec3(1, -1, 0))}, 16);
  EXPECT_NEAR(seen.plain.x, r, 0.01f);  // the mirrored sky alone
  const Sight beside = look_along(scene, {{-1, 1, 0.1f}, normalized(Vec3(1, -1, 0))}, 16);
  EXPECT_GT(beside.plain.x, 0.9f);
}

TEST(Caustics, StillWaterLetsThroughWhatFresnelAndBeerSay) {
  // Slanted sun on a wide slab: E cos (1 - r) exp(-a d / cos beyond), the same everywhere; and a
  // pane on its way changes nothing
  TraceScene scene;
  const float depth = 0.4f, slant = 0.7f;
  const Vec3 color(0.3f, 0.6f, 0.9f);
  add_water(box({-2, -depth - 0.1f, -2}, {2, 0, 2}), color, depth, scene);
  TraceMesh pane;
  pane.vertices = {{-9, 0.5f, -9}, {9, 0.5f, -9}, {0, 0.5f, 9}};
  pane.triangles = {{0, 1, 2}};
  scene.panes.add_mesh(pane);
  scene.light.to_sun = {std::sin(slant), std::cos(slant), 0};
  scene.light.sun = {2, 2, 2};
  scene.light.sun_cosine = std::cos(0.01f);
  Ground ground;
  ground.level = -depth;
  ground.color = {1, 1, 1};
  scene.grounds.push_back(ground);
  scene.build();
  const ThreadPool pool(2);
  scene.cast_caustics(200000, pool);
  const float beyond = std::sqrt(1.0f - std::pow(std::sin(slant) / scene.water_index, 2.0f));
  const float through = 2.0f * std::cos(slant) * (1 - fresnel(std::cos(slant), scene.water_index));
  Vec3 wanted, mean;
  for (int c = 0; c < 3; ++c) wanted[c] = through * std::pow(color[c], 1.0f / beyond);
  constexpr int kPlaces = 400;
  for (int i = 0; i < kPlaces; ++i) {
    const Vec3 at(0.04f * static_cast<float>(i % 20) - 0.4f, -depth,
                  0.04f * static_cast<float>(i / 20) - 0.4f);
    mean += scene.grounds[0].caustics->at(at) / kPlaces;
  }
  expect_color(mean, wanted, 0.02f);
  // The tracer adds it once, and its shadow ray nothing
  scene.light.zenith = scene.light.horizon = scene.light.below = {};
  TraceSettings settings;
  settings.bounces = 0;
  const Vec3 from(0.1f, -depth + 0.1f, 0.1f);  // from within the water: straight down
  Sampler sampler(1);
  sampler.begin(0);
  const Sight seen = trace(scene, settings, {from, {0, -1, 0}}, kSpread, sampler);
  const Vec3 there = scene.grounds[0].caustics->at({0.1f, -depth, 0.1f}) / kPiF;
  expect_color(seen.light, there, 1e-4f);
}

TEST(PathTracer, PanesMirrorLittleAndBendNothing) {
  TraceScene scene;
  TraceMesh pane;
  pane.vertices = {{-9, -9, 0}, {9, -9, 0}, {0, 9, 0}};
  pane.triangles = {{0, 1, 2}};
  scene.panes.add_mesh(pane);
  const Ball black_ball{{0, 0, -3}, 1.0f};
  Finish black;
  black.color = {};
  scene.add_solid(scene.solid.add_balls({&black_ball, 1}), black);
  scene.build();
  const Sight seen = look_along(scene, {{0, 0, 5}, {0, 0, -1}}, 16);
  const float r = 0.04f;  // of a border, n = 1.5
  EXPECT_NEAR(seen.light.x, 2 * r / (1 + r), 1e-4f);
  EXPECT_NEAR(seen.depth, 7.0f, 1e-3f);  // the first surface is the ball's
}

// ---- Pictures

Projection from_front(int size, double distance) {
  return make_projection({{0, 0, distance}, {0, 0, 0}, {0, 1, 0}, 0.6}, size, size);
}

LightImage expose(const TraceScene& scene, int size, int samples, int threads) {
  const ThreadPool pool(threads);
  Film film(size, size);
  film.expose(scene, {}, from_front(size, 5.0), samples, pool);
  return denoised(film.means(), pool);
}

// A body that stands against the glass is seen from outside, whichever of the two a ray finds
// first.
TEST(PathTracer, ABodyFlushWithAPaneIsSeen) {
  TraceScene scene;
  Finish grey;
  grey.color = {0.5f, 0.5f, 0.5f};
  scene.add_solid(scene.solid.add_mesh(box({-1, -1, -1}, {1, 1, 1})), grey);
  scene.panes.add_mesh(box({-2, -1, -1}, {2, 1.5f, 1}));
  scene.build();
  for (int k = 0; k < 40; ++k) {
    const float x = 0.017f * static_cast<float>(k) - 0.4f;
    const Vec3 from(3.1f * x, 0.3f, 5.0f);
    const Sight seen = look_along(scene, {from, normalized(Vec3(x, 0.1f * x, 1.0f) - from)}, 16);
    expect_color(seen.light, {0.5f, 0.5f, 0.5f}, 0.02f);
  }
}

TEST(Picture, ABallIsWhereTheCameraPutsIt) {
  constexpr int kSize = 120;
  const Projection view = from_front(kSize, 5.0);
  for (const Vec3& at : {Vec3(0, 0, 0), Vec3(0.5f, -0.3f, 0), Vec3(-0.2f, 0.6f, 1.5f)}) {
    TraceScene scene;
    const Ball ball{at, 0.2f};
    Finish black;
    black.color = {};
    scene.add_solid(scene.solid.add_balls({&ball, 1}), black);
    scene.build();
    const ThreadPool pool(2);
    Film film(kSize, kSize);
    film.expose(scene, {}, view, 16, pool);
    const Exposed seen = film.means();
    double area = 0.0, x = 0.0, y = 0.0;
    for (int j = 0; j < kSize; ++j) {
      for (int i = 0; i < kSize; ++i) {
        const double dark = 1.0 - seen.light[static_cast<std::size_t>(j * kSize + i)].y;
        area += dark, x += dark * (i + 0.5), y += dark * (j + 0.5);
      }
    }
    const Vec3d middle = view.project(Vec3d(at));
    EXPECT_NEAR(x / area, middle.x, 0.25);
    EXPECT_NEAR(y / area, middle.y, 0.25);
    // The cone around a ball at distance d has the half angle asin(r / d)
    const double d = length(Vec3d(at) - view.eye), t = std::tan(std::asin(0.2 / d));
    const double lean = d / (5.0 - at.z);  // 1 / cosine of the angle off the axis
    const double radius = view.focal * t;
    EXPECT_NEAR(area / (std::acos(-1.0) * radius * radius * lean * lean * lean), 1.0, 0.02);
  }
}

TEST(Picture, AMovingBallIsSmearedOverItsWay) {
  // Its moments add up to a streak of the length that it goes
  constexpr int kSize = 120, kMoments = 16;
  const Projection view = from_front(kSize, 5.0);
  const ThreadPool pool(2);
  Film film(kSize, kSize);
  const float way = 1.0f, radius = 0.05f;
  for (int k = 0; k < kMoments; ++k) {
    TraceScene scene;
    const Ball ball{{way * ((static_cast<float>(k) + 0.5f) / kMoments - 0.5f), 0, 0}, radius};
    Finish black;
    black.color = {};
    scene.add_solid(scene.solid.add_balls({&ball, 1}), black);
    scene.build();
    film.expose(scene, {}, view, 4, pool);
  }
  const Exposed seen = film.means();
  double sum = 0.0, spread = 0.0;
  for (int j = 0; j < kSize; ++j) {
    for (int i = 0; i < kSize; ++i) {
      const double dark = 1.0 - seen.light[static_cast<std::size_t>(j * kSize + i)].y;
      sum += dark;
      spread += dark * std::pow((i + 0.5 - 0.5 * kSize) * 5.0 / view.focal, 2.0);
    }
  }
  // Variance of a streak: way^2 / 12, and of the disc radius^2 / 4
  EXPECT_NEAR(spread / sum, way * way / 12.0 + radius * radius / 4.0, 0.004);
}

TEST(Picture, SameBytesOnAnyNumberOfThreads) {
  const auto picture = [](int threads) {
    TraceScene scene;
    std::vector<Vec3> places, colors;
    std::vector<float> radii;
    // Coarse coordinates: many balls share a place, and the order in the tree would show
    for (unsigned i = 0; i < 20000; ++i) {
      const auto at = [&](unsigned k) {
        return static_cast<float>((i * 2654435761u + k * 40503u * i) >> 16 & 31u) / 16.0f - 1.0f;
      };
      places.push_back({at(1), at(2), at(3)});
      colors.push_back({0.2f, 0.5f, static_cast<float>(i % 97) / 97.0f});
      radii.push_back(0.03f);
    }
    add_balls(places, radii, colors, {}, 0.3f, scene);
    add_water(round_mesh(0.9f, 40), {0.3f, 0.6f, 0.8f}, 1.0, scene);
    scene.light = daylight({0, 1, 0}, {0, 0, -1});
    scene.build();
    return expose(scene, 64, 3, threads);
  };
  const LightImage one = picture(1), four = picture(4);
  ASSERT_EQ(one.light.size(), four.light.size());
  for (std::size_t i = 0; i < one.light.size(); ++i) ASSERT_EQ(one.light[i], four.light[i]) << i;
}

TEST(Picture, TheFilterTakesNoiseAndLeavesEdges) {
  // A rough floor, half of it in the shadow of a wall of balls: with the filter the same mean, less
  // noise, and the tiles' pattern untouched
  TraceScene scene;
  scene.light = daylight({0, 0, 1}, {0, 1, 0});
  Ground ground;
  ground.normal = {0, 0, 1};
  ground.color = {0.5f, 0.5f, 0.5f};
  ground.tile = 0.25f;
  ground.axis[0] = {1, 0, 0};
  ground.axis[1] = {0, 1, 0};
  scene.grounds.push_back(ground);
  const Ball ball{{0.2f, 0, 0.3f}, 0.3f};
  scene.add_solid(scene.solid.add_balls({&ball, 1}), {});
  scene.build();
  constexpr int kSize = 96;
  const ThreadPool pool(2);
  Film few(kSize, kSize), many(kSize, kSize);
  few.expose(scene, {}, from_front(kSize, 5.0), 4, pool);
  many.expose(scene, {}, from_front(kSize, 5.0), 256, pool);
  const Exposed raw = few.means(), truth = many.means();
  const LightImage clean = denoised(raw, pool);
  double before = 0.0, after = 0.0, bias = 0.0;
  for (std::size_t i = 0; i < truth.light.size(); ++i) {
    before += std::pow(luminance(raw.light[i] - truth.light[i]), 2.0);
    after += std::pow(luminance(clean.light[i] - truth.light[i]), 2.0);
    bias += luminance(clean.light[i] - truth.light[i]) / static_cast<double>(truth.light.size());
  }
  EXPECT_LT(after, 0.5 * before);
  EXPECT_LT(std::fabs(bias), 0.01);
}

TEST(Picture, NothingAndNonsense) {
  TraceScene scene;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<Vec3> places = {{nan, 0, 0}, {0, inf, 0}};
  const std::vector<float> radii = {1.0f, 1.0f};
  const std::vector<Vec3> colors(2);
  add_balls(places, radii, colors, {}, 0.0f, scene);
  add_water({}, {0.5f, 0.5f, 0.5f}, 1.0, scene);
  scene.build();
  for (const Vec3& light : expose(scene, 8, 1, 1).light) EXPECT_EQ(light, Vec3(1, 1, 1));
}

// ---- Looks and solids

TEST(Looks, SandKeepsItsColoursWhereverItGoes) {
  const std::vector<std::uint64_t> id = {4, 9};
  const std::vector<Vec3> born = {{0, 0, 0}, {1, 2, 3}}, color(2, Vec3(0.6f, 0.4f, 0.2f));
  TraceScene now, later;
  add_sand({std::vector<Vec3>{{0, 0, 0}, {1, 0, 0}}, id, born, color, 0.1}, {}, now);
  add_sand({std::vector<Vec3>{{5, 0, 0}, {1, 7, 0}}, id, born, color, 0.1}, {}, later);
  ASSERT_EQ(now.solid_finish[0].colors.size(), 2u * kGrains);
  EXPECT_EQ(now.solid_finish[0].colors, later.solid_finish[0].colors);
  EXPECT_NE(now.solid_finish[0].colors[0], now.solid_finish[0].colors[1]);
}

Solid solid(const Shape& shape, bool inside_out) {
  Solid made;
  made.name = "solid";
  made.shape = shape;
  made.inside_out = inside_out;
  return made;
}

TEST(SolidModels, BodiesHideAndContainersDoNot) {
  Cpu cpu(1);
  const Shape shape = make_box({-1, -1, -1}, {1, 1, 1});
  const StageView view{{0, 0, 0}, {0, 1, 0}, 5.0, -1.0};
  for (const bool container : {false, true}) {
    const SolidSet solids({solid(shape, container)}, cpu);
    TraceScene scene;
    SolidModels(solids, view).place(solids, 0.0, {0, 0, 5}, scene);
    scene.build();
    const RayHit hit = scene.solid.first({{0.1f, 0.1f, 5}, {0, 0, -1}});
    if (container) {
      EXPECT_LT(hit.object, 0);
    } else {
      EXPECT_NEAR(hit.distance, 4.0f, 1e-5f);
    }
    // A ground at the floor, since the scene has none
    ASSERT_EQ(scene.grounds.size(), 1u);
    EXPECT_NEAR(scene.grounds[0].level, -1.0f, 1e-6f);
  }
}

TEST(SolidModels, FarFromTheOriginTheyKeepTheirForm) {
  Cpu cpu(1);
  const Vec3d far(1e6, 2e6, -3e6);
  Shape shape = make_cylinder(far - Vec3d(0, 0.5, 0), far + Vec3d(0, 0.5, 0), 0.25);
  const SolidSet solids({solid(shape, false)}, cpu);
  TraceScene scene;
  SolidModels(solids, {far, {0, 1, 0}, 5.0, 2e6 - 0.5}).place(solids, 0.0, far, scene);
  scene.build();
  for (const float z : {0.0f, 0.1f, -0.2f}) {
    const RayHit hit = scene.solid.first({{5, 0.2f, z}, {-1, 0, 0}});
    ASSERT_GE(hit.object, 0);
    EXPECT_NEAR(hit.distance, 5.0f - std::sqrt(0.0625f - z * z), 2e-3f);
    EXPECT_GT(dot(hit.smooth, normalized(Vec3(0.25f, 0, z))), 0.9f);
  }
}

TEST(SolidModels, WaterLiesAgainstWhatItTouches) {
  Cpu cpu(1);
  const double h = 0.05;
  const SolidSet solids({solid(make_box({0, 0, 0}, {1, 1, 1}), true)}, cpu);
  const SolidModels models(solids, {{0, 0, 0}, {0, 1, 0}, 3.0, 0.0});
  // A block of water a third of a spacing away from all walls, and a drop in the middle
  TraceMesh water;
  const auto gap = static_cast<float>(h / 3);
  for (const Vec3& v : box({gap, gap, gap}, {1 - gap, 0.5f, 1 - gap}).vertices) {
    const Vec3 out(v.x < 0.5f ? -1.0f : 1.0f, v.y < 0.4f ? -1.0f : 1.0f, v.z < 0.5f ? -1.0f : 1.0f);
    water.vertices.push_back(v);
    water.normals.push_back(normalized(out));
  }
  water.vertices.push_back({0.5f, 0.7f, 0.5f});
  water.normals.push_back({0, 1, 0});
  models.wet(solids, 0.0, h, cpu.pool(), water);
  for (std::size_t i = 0; i < 8; ++i) {
    const Vec3& v = water.vertices[i];
    // Before glass walls, into the floor, and at the free surface only sideways
    EXPECT_NEAR(std::fabs(v.x - 0.5f), 0.5f, 0.5f * gap);
    EXPECT_NEAR(std::fabs(v.z - 0.5f), 0.5f, 0.5f * gap);
    EXPECT_TRUE(v.y == 0.5f || v.y < 0.0f) << v.y;
  }
  EXPECT_EQ(water.vertices[8], Vec3(0.5f, 0.7f, 0.5f));
}

}  // namespace
}  // namespace barchan
