#include "surface/surface.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/error.h"
#include "base/units.h"
#include "unit/surface/clouds.h"
#include "unit/surface/mesh_facts.h"

namespace barchan {

namespace {

SurfaceParams with_method(const std::string& method) {
  SurfaceParams params;
  params.method = method;
  return params;
}

class EachMethod : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Surface, EachMethod,
                         testing::Values("zhu-bridson", "anisotropic", "blobby"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(EachMethod, OneParticleGivesBackItsSphere) {
  SurfaceParams params = with_method(GetParam());
  params.voxel = 0.06;
  const Vec3 center(0.313f, -0.127f, 5.004f), speed(1.0f, -2.0f, 3.0f);
  Cpu device(2);
  const SurfaceMesh mesh = make_surface(
      {std::span(&center, 1), std::span(&speed, 1), kSpacing, 0.5 * kSpacing}, params, device);
  const MeshFacts facts = facts_of(mesh);
  EXPECT_TRUE(facts.closed && facts.manifold);
  EXPECT_EQ(facts.euler, 2);
  const double r = 0.5 * kSpacing;
  EXPECT_NEAR(facts.volume, 4.0 / 3.0 * kPi * r * r * r, 0.02 * 4.0 / 3.0 * kPi * r * r * r);
  EXPECT_NEAR(facts.area, 4.0 * kPi * r * r, 0.02 * 4.0 * kPi * r * r);
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    EXPECT_GT(dot(mesh.normals[v], normalized(mesh.vertices[v] - center)), 0.995f);
    EXPECT_NEAR(length(mesh.velocities[v] - speed), 0.0f, 1e-5f);
  }
}

TEST_P(EachMethod, NoParticlesGiveNoSurface) {
  const SurfaceMesh mesh = surface_of({}, with_method(GetParam()));
  EXPECT_TRUE(mesh.vertices.empty() && mesh.triangles.empty());
}

TEST_P(EachMethod, BallHasItsRadius) {
  // A lone particle's level is too low for many: blobbies swell, which is why they are the baseline
  const bool swells = GetParam() == "blobby";
  const auto points =
      jittered(12, 0.25, [](const Vec3d& p) { return length_squared(p) < 10.0 * 10.0; });
  const MeshFacts facts = facts_of(surface_of(points, with_method(GetParam())));
  EXPECT_TRUE(facts.closed && facts.manifold);
  EXPECT_EQ(facts.euler, 2);
  EXPECT_EQ(facts.components, 1u);
  const double of_particles = std::cbrt(3.0 * static_cast<double>(points.size()) / (4.0 * kPi));
  const double of_mesh = std::cbrt(3.0 * facts.volume / (4.0 * kPi)) / kSpacing;
  EXPECT_EQ(std::abs(of_mesh - of_particles) > 0.25, swells) << of_mesh << " " << of_particles;
}

// Root mean square distance of the top of a bed from its mean height, away from its rim [spacings].
double roughness(const SurfaceMesh& mesh, double* height = nullptr) {
  std::vector<double> heights;
  for (const Vec3& v : mesh.vertices) {
    const Vec3d p = Vec3d(v) / kSpacing;
    if (p.y > -3.0 && std::abs(p.x) < 12.0 && std::abs(p.z) < 12.0) heights.push_back(p.y);
  }
  double sum = 0.0, squares = 0.0;
  for (const double h : heights) sum += h, squares += h * h;
  const double mean = sum / static_cast<double>(heights.size());
  if (height != nullptr) *height = mean;
  return std::sqrt(squares / static_cast<double>(heights.size()) - mean * mean);
}

std::vector<Vec3> bed() {  // its surface is at y = 0
  return jittered(18, 0.25, [](const Vec3d& p) { return p.y > -9.0 && p.y < 0.0; });
}

TEST(Surface, FlatBedIsFlat) {
  double height = 0.0;
  EXPECT_LT(roughness(surface_of(bed()), &height), 0.15);
  EXPECT_NEAR(height, 0.0, 0.25);
  EXPECT_LT(roughness(surface_of(bed(), with_method("anisotropic")), &height), 0.05);
  EXPECT_NEAR(height, 0.0, 0.25);
  // A control: less is too rough
  SurfaceParams raw = with_method("blobby");
  raw.smoothing = 0;
  raw.radius = 1.2;
  EXPECT_GT(roughness(surface_of(bed(), raw)), 0.15);
}

// Two plates with a gap in which the mean of the particles around is in the middle of it.
TEST(Surface, ConcavityFixLeavesNoStraySheets) {
  const auto plates = jittered(9, 0.1, [](const Vec3d& p) {
    return std::abs(p.x) < 8.0 && std::abs(p.z) < 8.0 && std::abs(p.y) > 1.0 && std::abs(p.y) < 6.0;
  });
  SurfaceParams params;
  const MeshFacts fixed = facts_of(surface_of(plates, params));
  EXPECT_EQ(fixed.components, 2u);
  EXPECT_EQ(fixed.euler, 4);
  params.concavity_fix = false;
  EXPECT_GT(facts_of(surface_of(plates, params)).components, 2u);
}

// A block with a notch as of a wedge, and a bowl.
TEST(Surface, ConcaveShapesAreOnePiece) {
  const auto notch = jittered(12, 0.2, [](const Vec3d& p) {
    return std::abs(p.x) < 10.0 && std::abs(p.z) < 10.0 && p.y > -10.0 && p.y < 4.0 &&
           std::abs(p.x) > 0.35 * (p.y + 6.0);
  });
  const auto bowl = jittered(12, 0.2, [](const Vec3d& p) {
    return length(p) < 10.0 && p.y < 4.0 && length(p - Vec3d(0.0, 4.0, 0.0)) > 4.0;
  });
  for (const auto& points : {notch, bowl}) {
    const MeshFacts facts = facts_of(surface_of(points));
    EXPECT_TRUE(facts.closed && facts.manifold);
    EXPECT_EQ(facts.components, 1u);
    EXPECT_EQ(facts.euler, 2);
  }
}

TEST(Surface, BubbleDeepInsideIsFound) {
  const auto points = jittered(14, 0.1, [](const Vec3d& p) {
    return length(p) < 13.0 && length(p - Vec3d(1.0, 0.0, 0.0)) > 3.0;
  });
  const MeshFacts facts = facts_of(surface_of(points));
  EXPECT_EQ(facts.components, 2u);
  EXPECT_EQ(facts.euler, 4);
}

TEST(Surface, SmoothingOnlyAdds) {
  SurfaceParams params;
  params.smoothing = 0;
  double before = facts_of(surface_of(bed(), params)).volume;
  for (const int passes : {1, 2, 4, 8}) {
    params.smoothing = passes;
    const double after = facts_of(surface_of(bed(), params)).volume;
    EXPECT_GT(after, before);
    before = after;
  }
}

// Motion of the whole leaves the surface the same, and its velocities.
TEST(Surface, VelocitiesAreTheMaterials) {
  const auto points = bed();
  std::vector<Vec3> turning(points.size());
  const Vec3 spin(0.0f, 2.0f, 0.0f);
  for (std::size_t i = 0; i < points.size(); ++i) turning[i] = cross(spin, points[i]);
  Cpu device(2);
  const SurfaceMesh mesh =
      make_surface({points, turning, kSpacing, 0.5 * kSpacing}, SurfaceParams(), device);
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    // A vertex sees particles up to two spacings away, most of them on one side of it
    EXPECT_LT(length(mesh.velocities[v] - cross(spin, mesh.vertices[v])),
              2.0f * 1.5f * static_cast<float>(kSpacing));
  }
}

TEST_P(EachMethod, NormalsPointOutwards) {
  const SurfaceMesh mesh = surface_of(bed(), with_method(GetParam()));
  std::size_t against = 0;
  for (const Triangle& t : mesh.triangles) {
    const Vec3 a = mesh.vertices[t[0]], b = mesh.vertices[t[1]], c = mesh.vertices[t[2]];
    const Vec3 face = normalized(cross(b - a, c - a));
    const Vec3 smooth = mesh.normals[t[0]] + mesh.normals[t[1]] + mesh.normals[t[2]];
    against += dot(face, smooth) < 0.0f ? 1 : 0;
  }
  EXPECT_LT(against, mesh.triangles.size() / 1000);
}

TEST_P(EachMethod, SameBytesOnAnyNumberOfThreads) {
  const auto points =
      jittered(14, 0.3, [](const Vec3d& p) { return p.y < 3.0 * std::sin(0.3 * p.x); });
  const SurfaceParams params = with_method(GetParam());
  const SurfaceMesh one = surface_of(points, params, 1);
  EXPECT_FALSE(one.triangles.empty());
  EXPECT_TRUE(same_bytes(one, surface_of(points, params, 4)));
  EXPECT_TRUE(same_bytes(one, surface_of(points, params, 4)));
}

TEST(Surface, FarParticlesCostNothing) {
  auto points = jittered(10, 0.2, [](const Vec3d& p) { return length(p) < 9.0; });
  Cpu device(2);
  const SurfaceParams params;
  const std::size_t near =
      ParticleSurface(input_of(points), params, device).level_set().stored.size();
  points.emplace_back(40.0f, -35.0f, 50.0f);
  const ParticleSurface both(input_of(points), params, device);
  EXPECT_LE(both.level_set().stored.size(), near + 8);
  EXPECT_EQ(facts_of(both.mesh()).components, 2u);
}

TEST(Surface, SaysWhichParticleIsLost) {
  std::vector<Vec3> points(3);
  points[1].y = std::numeric_limits<float>::quiet_NaN();
  try {
    surface_of(points);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("particle 1"), std::string::npos) << error.what();
  }
}

void expect_closed_manifold(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto real = [&](double lo, double hi) {
    return std::uniform_real_distribution<double>(lo, hi)(random);
  };
  SurfaceParams params;
  const char* const methods[] = {"zhu-bridson", "zhu-bridson", "anisotropic", "blobby"};
  params.method = methods[random() % 4];
  params.voxel = real(0.3, 1.5);
  params.radius = real(1.5, 3.0);
  params.smoothing = static_cast<int>(random() % 4);
  params.concavity_fix = random() % 4 != 0;
  std::vector<Vec3> points(1 + random() % 300);
  const double box = kSpacing * std::cbrt(static_cast<double>(points.size())) * real(0.5, 2.0);
  for (Vec3& p : points) p = Vec3(Vec3d(real(-box, box), real(-box, box), real(-box, box)));
  const MeshFacts facts = facts_of(surface_of(points, params, 1));
  RC_ASSERT(facts.closed);
  RC_ASSERT(facts.manifold);
  RC_ASSERT(facts.euler % 2 == 0);
  RC_ASSERT(facts.volume >= 0.0);
}

// A hundred cases of five clouds each.
RC_GTEST_PROP(Surface, RandomCloudsAreClosedManifolds, ()) {
  for (int n = 0; n < 5; ++n) expect_closed_manifold(*rc::gen::arbitrary<std::uint32_t>());
}

}  // namespace

}  // namespace barchan
