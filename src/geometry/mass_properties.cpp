#include "geometry/mass_properties.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "base/error.h"
#include "geometry/solid_mesh.h"

namespace barchan {

namespace {

constexpr double kPi = std::numbers::pi;

// The integrals over a body of 1, x, y, z, x^2, y^2, z^2, xy, yz, zx.
struct Moments {
  double volume = 0.0;  // [m^3]
  Vec3d first;          // [m^4]
  Vec3d square;         // of x^2, y^2, z^2 [m^5]
  Vec3d product;        // of xy, yz, zx [m^5]
};

void check_density(double density) {
  if (!(density > 0.0) || !std::isfinite(density)) {
    reject("a body of density {} kg/m^3; it must be above 0", density);
  }
}

// m (|c|^2 1 - c c^T): the inertia of a point mass at c.
Sym3d point_inertia(double mass, const Vec3d& c) {
  return mass * Sym3d(c.y * c.y + c.z * c.z, c.x * c.x + c.z * c.z, c.x * c.x + c.y * c.y,
                      -c.x * c.y, -c.x * c.z, -c.y * c.z);
}

// From moments about `origin`. I_xx = integral of y^2 + z^2, I_xy = -integral of xy; about the
// centre of mass that is less by a point mass there (parallel axes).
MassProperties from_moments(const Moments& m, const Vec3d& origin, double density) {
  const Vec3d c = m.first / m.volume;
  MassProperties body;
  body.mass = density * m.volume;
  body.center = origin + c;
  const Sym3d about_origin(m.square.y + m.square.z, m.square.x + m.square.z,
                           m.square.x + m.square.y, -m.product.x, -m.product.z, -m.product.y);
  body.inertia = density * about_origin - point_inertia(body.mass, c);
  return body;
}

// ---- meshes
//
// Mirtich, "Fast and accurate computation of polyhedral mass properties", J. Graphics Tools 1(2),
// 1996. Three reductions: by the divergence theorem from the volume to the faces (his eq. 8 ff.),
// by projection from a face to its shadow in a coordinate plane, by Green's theorem from the shadow
// to its edges. A, B, C is the turn of x, y, z in which the normal's C component is the largest.

// Integrals over the shadow, in the plane of A and B, of 1, a, b, a^2, ab, b^2, a^3, a^2 b, a b^2,
// b^3 (his eq. 15 and fig. 5).
struct ShadowIntegrals {
  double one = 0, a = 0, b = 0, aa = 0, ab = 0, bb = 0, aaa = 0, aab = 0, abb = 0, bbb = 0;
};

void add_edge(ShadowIntegrals& p, double a0, double b0, double a1, double b1) {
  const double da = a1 - a0, db = b1 - b0;
  const double a0_2 = a0 * a0, a0_3 = a0_2 * a0, b0_2 = b0 * b0, b0_3 = b0_2 * b0;
  const double a1_2 = a1 * a1, a1_3 = a1_2 * a1, b1_2 = b1 * b1, b1_3 = b1_2 * b1;
  const double c_1 = a1 + a0;
  const double c_a = a1 * c_1 + a0_2, c_aa = a1 * c_a + a0_3, c_aaa = a1 * c_aa + a0_2 * a0_2;
  const double c_b = b1 * (b1 + b0) + b0_2, c_bb = b1 * c_b + b0_3;
  const double c_bbb = b1 * c_bb + b0_2 * b0_2;
  const double c_ab = 3 * a1_2 + 2 * a1 * a0 + a0_2, k_ab = a1_2 + 2 * a1 * a0 + 3 * a0_2;
  const double c_aab = a0 * c_ab + 4 * a1_3, k_aab = a1 * k_ab + 4 * a0_3;
  const double c_abb = 4 * b1_3 + 3 * b1_2 * b0 + 2 * b1 * b0_2 + b0_3;
  const double k_abb = b1_3 + 2 * b1_2 * b0 + 3 * b1 * b0_2 + 4 * b0_3;
  p.one += db * c_1 / 2;
  p.a += db * c_a / 6;
  p.aa += db * c_aa / 12;
  p.aaa += db * c_aaa / 20;
  p.b -= da * c_b / 6;
  p.bb -= da * c_bb / 12;
  p.bbb -= da * c_bbb / 20;
  p.ab += db * (b1 * c_ab + b0 * k_ab) / 24;
  p.aab += db * (b1 * c_aab + b0 * k_aab) / 60;
  p.abb -= da * (a1 * c_abb + a0 * k_abb) / 60;
}

// Integrals over the face of a, b, c and their squares, cubes and a^2 b, b^2 c, c^2 a (his fig. 6);
// on the face c = -(n_a a + n_b b + w) / n_c.
struct FaceIntegrals {
  double a, b, c, aa, bb, cc, aaa, bbb, ccc, aab, bbc, cca;
};

FaceIntegrals lift(const ShadowIntegrals& p, double na, double nb, double nc, double w) {
  const double k1 = 1 / nc, k2 = k1 * k1, k3 = k2 * k1, k4 = k3 * k1;
  FaceIntegrals f;
  f.a = k1 * p.a;
  f.b = k1 * p.b;
  f.c = -k2 * (na * p.a + nb * p.b + w * p.one);
  f.aa = k1 * p.aa;
  f.bb = k1 * p.bb;
  f.cc = k3 * (na * na * p.aa + 2 * na * nb * p.ab + nb * nb * p.bb +
               w * (2 * (na * p.a + nb * p.b) + w * p.one));
  f.aaa = k1 * p.aaa;
  f.bbb = k1 * p.bbb;
  f.ccc =
      -k4 * (na * na * na * p.aaa + 3 * na * na * nb * p.aab + 3 * na * nb * nb * p.abb +
             nb * nb * nb * p.bbb + 3 * w * (na * na * p.aa + 2 * na * nb * p.ab + nb * nb * p.bb) +
             w * w * (3 * (na * p.a + nb * p.b) + w * p.one));
  f.aab = k1 * p.aab;
  f.bbc = -k2 * (na * p.abb + nb * p.bbb + w * p.bb);
  f.cca = k3 * (na * na * p.aaa + 2 * na * nb * p.aab + nb * nb * p.abb +
                w * (2 * (na * p.aa + nb * p.ab) + w * p.a));
  return f;
}

// A triangle's share of the volume's moments (his eq. 9 to 14).
void add_face(Moments& m, const Vec3d& p, const Vec3d& q, const Vec3d& r) {
  const Vec3d n = normalized(cross(q - p, r - p));
  const double nx = std::abs(n.x), ny = std::abs(n.y), nz = std::abs(n.z);
  const int c = nx > ny && nx > nz ? 0 : (ny > nz ? 1 : 2);
  const int a = (c + 1) % 3, b = (a + 1) % 3;
  if (!(std::abs(n[c]) > 0.0)) return;  // no area, no share

  ShadowIntegrals shadow;
  add_edge(shadow, p[a], p[b], q[a], q[b]);
  add_edge(shadow, q[a], q[b], r[a], r[b]);
  add_edge(shadow, r[a], r[b], p[a], p[b]);
  const FaceIntegrals f = lift(shadow, n[a], n[b], n[c], -dot(n, p));

  m.volume += n.x * (a == 0 ? f.a : (b == 0 ? f.b : f.c));
  m.first[a] += n[a] * f.aa / 2;
  m.first[b] += n[b] * f.bb / 2;
  m.first[c] += n[c] * f.cc / 2;
  m.square[a] += n[a] * f.aaa / 3;
  m.square[b] += n[b] * f.bbb / 3;
  m.square[c] += n[c] * f.ccc / 3;
  // product[i] is that of axis i and the next one.
  m.product[a] += n[a] * f.aab / 2;
  m.product[b] += n[b] * f.bbc / 2;
  m.product[c] += n[c] * f.cca / 2;
}

// ---- primitives

// A body of revolution about the unit axis u: moments along it and across it.
MassProperties revolved(double mass, const Vec3d& center, const Vec3d& u, double along,
                        double across) {
  const Sym3d uu(u.x * u.x, u.y * u.y, u.z * u.z, u.x * u.y, u.x * u.z, u.y * u.z);
  return {mass, center, across * Sym3d::identity() + (along - across) * uu};
}

MassProperties box_body(const Shape& s, double density) {
  const Vec3d e = s.hi - s.lo;
  const double mass = density * e.x * e.y * e.z, k = mass / 12.0;
  return {mass, 0.5 * (s.lo + s.hi),
          Sym3d::diagonal({k * (e.y * e.y + e.z * e.z), k * (e.x * e.x + e.z * e.z),
                           k * (e.x * e.x + e.y * e.y)})};
}

MassProperties sphere_body(const Shape& s, double density) {
  const double mass = density * 4.0 / 3.0 * kPi * s.radius * s.radius * s.radius;
  return {mass, s.center, 0.4 * mass * s.radius * s.radius * Sym3d::identity()};
}

// A cylinder of length h, and two half spheres of mass m/2 each: the centre of one is 3/8 r from
// its flat side, so about the middle of the capsule both give m (2/5 r^2 + h^2/4 + 3/8 r h).
MassProperties capsule_body(const Shape& s, double density) {
  const double r = s.radius, h = length(s.to - s.from);
  const double tube = density * kPi * r * r * h, ends = density * 4.0 / 3.0 * kPi * r * r * r;
  const double along = tube * r * r / 2.0 + ends * 0.4 * r * r;
  const double across =
      tube * (3.0 * r * r + h * h) / 12.0 + ends * (0.4 * r * r + h * h / 4.0 + 0.375 * r * h);
  return revolved(tube + ends, 0.5 * (s.from + s.to), normalized(s.to - s.from), along, across);
}

// The radius goes from p to q over t = 0..1 of the length h. With rho = p (1-t) + q t:
//   mass    = density pi h   integral rho^2        = ... (p^2 + p q + q^2) / 3
//   centre  = h              integral t rho^2 / integral rho^2
//   along   = density pi h/2 integral rho^4        = ... (p^4 + p^3 q + p^2 q^2 + p q^3 + q^4) / 5
//   across  = along / 2 + density pi h^3 integral t^2 rho^2, about the end of radius p.
// Cylinders are cones with p = q.
MassProperties cone_body(const Shape& s, double p, double q, double density) {
  const Vec3d u = normalized(s.to - s.from);
  const double h = length(s.to - s.from), pp = p * p, pq = p * q, qq = q * q;
  const double mass = density * kPi * h * (pp + pq + qq) / 3.0;
  const double center = h * (pp + 2.0 * pq + 3.0 * qq) / (4.0 * (pp + pq + qq));
  const double along = density * kPi * h / 10.0 * (pp * pp + pp * pq + pp * qq + pq * qq + qq * qq);
  const double across = along / 2.0 +
                        density * kPi * h * h * h * (pp / 30.0 + pq / 10.0 + qq / 5.0) -
                        mass * center * center;
  return revolved(mass, s.from + center * u, u, along, across);
}

MassProperties torus_body(const Shape& s, double density) {
  const double rr = s.radius * s.radius, tt = s.minor_radius * s.minor_radius;
  const double mass = density * 2.0 * kPi * kPi * s.radius * tt;
  return revolved(mass, s.center, normalized(s.axis), mass * (rr + 0.75 * tt),
                  mass * (0.5 * rr + 0.625 * tt));
}

// ---- everything else
//
// Lines along the longest side of the bounding box, through a Fibonacci lattice over the other two:
// for plain faces at any place the count of lines is right to about log(n)/n, where a square grid
// that happens to lie along them is off by 1/sqrt(n). Along a line the inside test at even steps
// finds the crossings, bisection places them, and between two of them the integrals are exact.

constexpr int kLines = 17711, kTurn = 10946;  // Fibonacci numbers 22 and 21
constexpr int kSteps = 128;
constexpr int kBisections = 20;

class LineQuadrature {
 public:
  LineQuadrature(const Shape& shape, const Aabb& box)
      : shape_(shape), lo_(box.lo - box.center()), origin_(box.center()), size_(box.extent()) {
    along_ = size_.x >= size_.y && size_.x >= size_.z ? 0 : (size_.y >= size_.z ? 1 : 2);
  }

  // About the middle of the box.
  Moments run() {
    for (int i = 0; i < kLines; ++i) {
      const double s = (i + 0.5) / kLines;
      const double t =
          static_cast<double>(std::int64_t{i} * kTurn % kLines) / kLines + 0.5 / kLines;
      add_line(s, t);
    }
    const int b = (along_ + 1) % 3, c = (along_ + 2) % 3;
    const double each = size_[b] * size_[c] / kLines;  // cross-section of a line [m^2]
    sum_.volume *= each;
    sum_.first *= each, sum_.square *= each, sum_.product *= each;
    return sum_;
  }

 private:
  bool inside(double x) const {
    Vec3d p = at_;
    p[along_] = x;
    return deeper_than(shape_, origin_ + p, 0.0);
  }

  double crossing(double from, double to, bool from_inside) const {
    for (int k = 0; k < kBisections; ++k) {
      const double mid = 0.5 * (from + to);
      (inside(mid) == from_inside ? from : to) = mid;
    }
    return 0.5 * (from + to);
  }

  void add_line(double s, double t) {
    const int b = (along_ + 1) % 3, c = (along_ + 2) % 3;
    at_[b] = lo_[b] + s * size_[b];
    at_[c] = lo_[c] + t * size_[c];
    // The box's ends are outside: nothing of the shape is beyond them.
    const double step = size_[along_] / kSteps, end = lo_[along_] + size_[along_];
    double before = lo_[along_], entered = before;
    bool was_inside = false;
    for (int k = 0; k <= kSteps; ++k) {
      const double x = k < kSteps ? lo_[along_] + (k + 0.5) * step : end;
      const bool is_inside = k < kSteps && inside(x);
      if (is_inside != was_inside) {
        const double where = crossing(before, x, was_inside);
        if (is_inside) {
          entered = where;
        } else {
          add_segment(entered, where);
        }
      }
      before = x, was_inside = is_inside;
    }
  }

  // Integrals along x from `from` to `to`, y and z being those of the line.
  void add_segment(double from, double to) {
    const int a = along_, b = (a + 1) % 3, c = (a + 2) % 3;
    const double one = to - from, x = 0.5 * (to * to - from * from);
    const double xx = (to * to * to - from * from * from) / 3.0, y = at_[b], z = at_[c];
    sum_.volume += one;
    sum_.first[a] += x, sum_.first[b] += y * one, sum_.first[c] += z * one;
    sum_.square[a] += xx, sum_.square[b] += y * y * one, sum_.square[c] += z * z * one;
    // product[i] is that of axis i and the next one.
    sum_.product[a] += x * y, sum_.product[b] += y * z * one, sum_.product[c] += z * x;
  }

  const Shape& shape_;
  Vec3d lo_, origin_, size_;  // the box: lower corner seen from its middle, middle, edges [m]
  int along_ = 0;
  Vec3d at_;  // the line, seen from the box's middle [m]
  Moments sum_;
};

MassProperties by_quadrature(const Shape& shape, double density) {
  const Aabb box = bounds(shape);
  if (!box.is_bounded()) {
    reject(
        "a dynamic body needs a finite shape; this one has no end (a plane goes on forever: "
        "intersect it with a box)");
  }
  const Moments moments = LineQuadrature(shape, box).run();
  if (!(moments.volume > 0.0))
    reject("a dynamic body needs a shape with a volume; this one has none");
  return from_moments(moments, box.center(), density);
}

}  // namespace

MassProperties placed(const MassProperties& body, const Pose& pose) {
  const Mat3d r = to_matrix(pose.orientation);
  return {body.mass, pose.to_world(body.center),
          symmetric_part(r * to_matrix(body.inertia) * transpose(r))};
}

MassProperties together(const MassProperties& a, const MassProperties& b) {
  MassProperties both;
  both.mass = a.mass + b.mass;
  both.center = (a.mass / both.mass) * a.center + (b.mass / both.mass) * b.center;
  both.inertia = a.inertia + b.inertia + point_inertia(a.mass, a.center - both.center) +
                 point_inertia(b.mass, b.center - both.center);
  return both;
}

MassProperties mass_properties(const Mesh& closed, double density) {
  check_density(density);
  // About the middle of the mesh: far from the origin differences of large numbers would be left.
  Aabb box;
  for (const Vec3d& p : closed.vertices) box = join(box, {p, p});
  const Vec3d origin = box.is_empty() ? Vec3d() : box.center();
  Moments moments;
  for (const Triangle& t : closed.triangles) {
    add_face(moments, closed.corner(t, 0) - origin, closed.corner(t, 1) - origin,
             closed.corner(t, 2) - origin);
  }
  if (!(moments.volume > 0.0)) {
    reject("a body's mesh encloses {:g} m^3; it must be closed and face outwards", moments.volume);
  }
  return from_moments(moments, origin, density);
}

MassProperties mass_properties(const Shape& shape, double density) {
  using Kind = Shape::Kind;
  check_density(density);
  switch (shape.kind) {
    case Kind::box:
      return placed(box_body(shape, density), shape.placement);
    case Kind::sphere:
      return placed(sphere_body(shape, density), shape.placement);
    case Kind::cylinder:
      return placed(cone_body(shape, shape.radius, shape.radius, density), shape.placement);
    case Kind::capsule:
      return placed(capsule_body(shape, density), shape.placement);
    case Kind::cone:
      return placed(cone_body(shape, shape.radius, shape.radius_to, density), shape.placement);
    case Kind::torus:
      return placed(torus_body(shape, density), shape.placement);
    case Kind::mesh:
      return placed(mass_properties(shape.mesh->mesh(), density), shape.placement);
    case Kind::plane:
    case Kind::shape_union:
    case Kind::difference:
    case Kind::intersection:
    case Kind::offset:
      break;
  }
  return by_quadrature(shape, density);
}

}  // namespace barchan
