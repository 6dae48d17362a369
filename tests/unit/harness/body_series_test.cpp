// What follows from bodies.csv, against the closed form of a symmetric top without torque.
#include "harness/body_series.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/units.h"

namespace barchan {
namespace {

// A disc about y with I3 about y and I1 across. In the world L stays; the body's axis circles about
// L at L / I1, and the body turns back about its own axis at the rate p = (I3 - I1) w3 / I1:
//   Q(t) = turn about L by |L| t / I1, after a turn about the axis by -p t.
struct Top {
  double I1 = 2.0, I3 = 3.5;                          // [kg m^2]
  Vec3d omega{1.0, 10.0, 0.0};                        // at the start [rad/s]
  Quatd tilt = from_axis_angle(Vec3d{1, 0, 1}, 0.7);  // where the body's own frame begins

  double precession() const { return (I3 - I1) * omega.y / I1; }

  BodyPath path(const Vec3d& origin, const Vec3d& center) const {
    const Vec3d L{I1 * omega.x, I3 * omega.y, 0.0};
    BodyPath path;
    for (int i = 0; i <= 200; ++i) {
      const double t = 0.01 * i;
      const Quatd turn = from_axis_angle(L, length(L) * t / I1) *
                         from_axis_angle(Vec3d{0, 1, 0}, -precession() * t);
      // omega in body axes circles about y at the precession.
      const Vec3d spin{omega.x * std::cos(precession() * t), omega.y,
                       -omega.x * std::sin(precession() * t)};
      const Vec3d now = center + t * Vec3d{0.5, 0, 0};
      path.time.push_back(t);
      path.position.push_back(now + rotate(turn, origin - center));
      path.orientation.push_back(turn * tilt);
      path.velocity.push_back({});
      path.angular_velocity.push_back(rotate(turn, spin));
    }
    return path;
  }

  BodyMass mass(const Vec3d& center) const { return {1.0, center, Mat3d::diagonal({I1, I3, I1})}; }
};

TEST(BodySeriesTest, TheTopsOwnMotionIsConsistent) {
  // The angular velocity of the path is the one that the orientations turn by.
  const Top top;
  const BodyPath path = top.path({}, {});
  const Vec3d by_difference = angular_velocity(path.orientation[99], path.orientation[101], 0.02);
  EXPECT_NEAR(length(by_difference - path.angular_velocity[100]), 0.0, 0.02);
}

TEST(BodySeriesTest, AngularMomentumStays) {
  const Top top;
  const BodyPath path = top.path({0.3, 0, 0}, {0.1, 2, 0});
  const Vec3d L{top.I1 * top.omega.x, top.I3 * top.omega.y, 0.0};
  const char* names[] = {"angular_momentum_x", "angular_momentum_y", "angular_momentum_z"};
  for (int axis = 0; axis < 3; ++axis) {
    for (const double value : derived_body_series(path, top.mass({0.1, 2, 0}), names[axis]).value) {
      EXPECT_NEAR(value, L[axis], 1e-12 * length(L));
    }
  }
  // A wrong inertia shows.
  BodyMass wrong = top.mass({});
  wrong.inertia(1, 1) *= 1.1;
  const Series x = derived_body_series(path, wrong, "angular_momentum_x");
  EXPECT_GT(largest(x) - smallest(x), 0.01 * length(L));
}

TEST(BodySeriesTest, SpinCirclesAtThePrecession) {
  const Top top;
  const Series spin = derived_body_series(top.path({}, {}), top.mass({}), "spin_x");
  const std::vector<double> zeros = crossings(spin, 0.0);
  ASSERT_GE(zeros.size(), 4u);
  EXPECT_NEAR(3.5 * kPi / zeros[3], top.precession(), 1e-3 * top.precession());
}

TEST(BodySeriesTest, CenterOfMassWhereverTheOriginIs) {
  const Top top;
  const Vec3d center{0.1, 2, 0};
  for (const Vec3d& origin : {center, Vec3d{0, 0, 0}, Vec3d{1, -1, 3}}) {
    const BodyPath path = top.path(origin, center);
    const Series x = derived_body_series(path, top.mass(center), "center_x");
    const Series y = derived_body_series(path, top.mass(center), "center_y");
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_NEAR(x.value[i], center.x + 0.5 * x.time[i], 1e-12);
      EXPECT_NEAR(y.value[i], center.y, 1e-12);
    }
  }
}

}  // namespace
}  // namespace barchan
