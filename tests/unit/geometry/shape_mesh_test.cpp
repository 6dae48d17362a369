// Shapes as few triangles: closed, facing outwards, corners on the surface, and the right volume.
#include "geometry/shape_mesh.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/units.h"
#include "geometry/solid_mesh.h"
#include "random_shapes.h"

namespace barchan {
namespace {

struct Sample {
  std::string name;
  Shape shape;
  double volume;  // [m^3]
};

std::vector<Sample> samples() {
  const double r = 0.3, h = 0.7;
  const Vec3d from{0.1, 0.2, -0.3}, to = from + h * normalized(Vec3d(1, 2, -2));
  return {
      {"box", make_box({0, 0, 0}, {0.2, 0.3, 0.5}), 0.03},
      {"sphere", make_sphere(from, r), 4.0 / 3.0 * kPi * r * r * r},
      {"cylinder", make_cylinder(from, to, r), kPi * r * r * h},
      {"capsule", make_capsule(from, to, r), kPi * r * r * (h + 4.0 / 3.0 * r)},
      {"cone", make_cone(from, to, r), kPi * r * r * h / 3.0},
      {"cone on its tip", make_cone(from, to, 0.0, r), kPi * r * r * h / 3.0},
      {"frustum", make_cone(from, to, r, 0.1), kPi * h / 3.0 * (r * r + 0.1 * r + 0.01)},
      {"torus", make_torus(from, {1, 1, 0}, r, 0.1), 2.0 * kPi * kPi * r * 0.01},
      {"difference", make_difference(make_sphere(from, r), make_sphere(from, 0.2)),
       4.0 / 3.0 * kPi * (r * r * r - 0.008)},
  };
}

TEST(ShapeMesh, ClosedOutwardsAndOfTheShapesVolume) {
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.name);
    const Pose pose{{0.5, -1.0, 2.0}, normalized(Quatd(0.9, 0.1, -0.3, 0.2))};
    const Shape shape = placed(sample.shape, pose);
    const SolidMesh solid(shape_mesh(shape));  // rejects what is open or turned round
    EXPECT_NEAR(solid.volume(), sample.volume, 0.006 * sample.volume);
    const SdfProgram program = compile(shape);
    const double slack = sample.name == "difference" ? 0.5 * 0.6 / 96.0 : 1e-5;
    for (const Vec3d& v : solid.mesh().vertices) {
      EXPECT_LT(std::abs(testing::distance(program, Vec3(v)).d), slack);
    }
  }
}

TEST(ShapeMesh, ABoxIsTwelveTriangles) {
  EXPECT_EQ(shape_mesh(make_box({0, 0, 0}, {1, 1, 1})).triangles.size(), 12u);
}

}  // namespace
}  // namespace barchan
