#include "spatial/poisson.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include "compute/buffer.h"
#include "compute/cpu.h"
#include "compute/dispatch.h"
#include "spatial/poisson_rows_cpu.h"
#include "unit/devices.h"

namespace barchan {
namespace {

// A matrix on the host, with the table of tiles it stands on.
struct System {
  TileFrame frame{};
  std::vector<std::uint64_t> number;
  std::vector<std::uint32_t> around, start;
  std::vector<float> x, y, z, anchor, b;

  TileView view() const {
    return {frame,
            {number.data(), number.size()},
            {around.data(), around.size()},
            {start.data(), start.size()}};
  }
  std::size_t cells() const { return number.size() * kTileCells; }
  // World coordinates of a cell, in cells.
  std::array<int, 3> place(std::size_t cell) const {
    int i, j, k;
    view().corner(static_cast<std::uint32_t>(cell / kTileCells), i, j, k);
    const auto at = static_cast<int>(cell % kTileCells);
    return {i + at % 8 + static_cast<int>(std::lround(frame.origin.x)),
            j + at / 8 % 8 + static_cast<int>(std::lround(frame.origin.y)),
            k + at / 64 + static_cast<int>(std::lround(frame.origin.z))};
  }
  // f(coefficient, neighbour) for the six faces of a cell.
  template <class F>
  void each_face(std::size_t cell, const F& f) const {
    const TileView v = view();
    const auto c = static_cast<std::uint32_t>(cell);
    const auto face = [&](const std::vector<float>& k, int dx, int dy, int dz) {
      const std::uint32_t low = v.beside(c, -dx, -dy, -dz), high = v.beside(c, dx, dy, dz);
      if (low != kNoCell && k[c] > 0.0f) f(static_cast<double>(k[c]), low);
      if (high != kNoCell && k[high] > 0.0f) f(static_cast<double>(k[high]), high);
    };
    face(x, 1, 0, 0);
    face(y, 0, 1, 0);
    face(z, 0, 0, 1);
  }
  template <class Vector>
  std::vector<double> times(const Vector& p) const {
    std::vector<double> out(cells());
    for (std::size_t c = 0; c < cells(); ++c) {
      out[c] = static_cast<double>(anchor[c]) * static_cast<double>(p[c]);
      each_face(c, [&](double k, std::uint32_t n) {
        out[c] += k * (static_cast<double>(p[c]) - static_cast<double>(p[n]));
      });
    }
    return out;
  }
  bool unknown(std::size_t c) const {
    bool is = anchor[c] > 0.0f;
    each_face(c, [&](double, std::uint32_t) { is = true; });
    return is;
  }
};

// Bodies on the host, entry by entry.
struct Bodies {
  using Six = std::array<double, 6>;

  std::vector<std::uint32_t> cell, start{0};
  std::array<std::vector<float>, 6> j;
  std::vector<double> k;

  void entry(std::size_t c, const Six& of) {
    cell.push_back(static_cast<std::uint32_t>(c));
    for (std::size_t i = 0; i < 6; ++i) j[i].push_back(static_cast<float>(of[i]));
  }
  // What the entries since the last body belong to.
  void body(const std::array<Six, 6>& matrix) {
    start.push_back(static_cast<std::uint32_t>(cell.size()));
    for (const Six& row : matrix) k.insert(k.end(), row.begin(), row.end());
  }
  std::size_t count() const { return start.size() - 1; }
  // out += J^T K J p, where the system has unknowns.
  template <class Vector>
  void add_times(const System& s, const Vector& p, std::vector<double>& out) const {
    for (std::size_t b = 0; b < count(); ++b) {
      Six sum{}, moved{};
      const auto each = [&](const auto& f) {
        for (std::size_t e = start[b]; e < start[b + 1]; ++e) {
          if (cell[e] >= s.cells() || !s.unknown(cell[e])) continue;
          for (std::size_t i = 0; i < 6; ++i) f(cell[e], i, static_cast<double>(j[i][e]));
        }
      };
      each([&](std::size_t c, std::size_t i, double of) { sum[i] += of * double(p[c]); });
      for (std::size_t i = 0; i < 36; ++i) moved[i / 6] += k[b * 36 + i] * sum[i % 6];
      each([&](std::size_t c, std::size_t i, double of) { out[c] += of * moved[i]; });
    }
  }
};

// The inverse of a mass and of a moment of inertia, the same about all axes.
std::array<Bodies::Six, 6> of_mass(double mass, double inertia) {
  std::array<Bodies::Six, 6> k{};
  for (std::size_t i = 0; i < 6; ++i) k[i][i] = i < 3 ? 1.0 / mass : 1.0 / inertia;
  return k;
}

template <class T>
std::vector<T> host(Device& device, View<const T> view) {
  std::vector<T> out(view.size);
  if (!out.empty()) device.download(out.data(), view.data, out.size() * sizeof(T));
  return out;
}

enum class Kind { kFluid, kWall, kAir };
struct Scene {
  int nx, ny, nz;                                // walls around, air from nz on
  std::function<Kind(int, int, int)> kind;       // of cells in there
  std::function<float(int, int, int)> distance;  // to the surface, negative in fluid [cells]
  bool cut = false;                              // faces take random fractions in [0.05, 1]
};

// Ghost fluid at the surface, as a free-surface solver lays it out; b random with a bias.
System system_of(const Scene& scene, int reach = 1) {
  Cpu cpu(2);
  const auto kind = [&](int i, int j, int k) {
    if (i < 0 || j < 0 || k < 0 || i >= scene.nx || j >= scene.ny) return Kind::kWall;
    return k >= scene.nz ? Kind::kAir : scene.kind(i, j, k);
  };
  std::vector<Vec3> points;
  for (int k = 0; k < scene.nz; ++k) {
    for (int j = 0; j < scene.ny; ++j) {
      for (int i = 0; i < scene.nx; ++i) {
        if (kind(i, j, k) == Kind::kFluid) {
          points.emplace_back(float(i) + 0.5f, float(j) + 0.5f, float(k) + 0.5f);
        }
      }
    }
  }
  Buffer3 x(cpu);
  x.upload(points);
  TileGrid<Cpu> grid(cpu);
  grid.build(std::as_const(x).view(), 1.0f, reach);
  const TileView v = grid.view();
  System s{v.frame, host(cpu, v.number), host(cpu, v.around), host(cpu, v.start), {}, {}, {}, {},
           {}};
  for (std::vector<float>* field : {&s.x, &s.y, &s.z, &s.anchor, &s.b}) field->assign(s.cells(), 0);
  std::mt19937 random(7);
  std::uniform_real_distribution<float> fraction(0.05f, 1.0f), noise(-0.5f, 1.0f);
  for (std::size_t c = 0; c < s.cells(); ++c) {
    const auto [i, j, k] = s.place(c);
    if (kind(i, j, k) != Kind::kFluid) continue;
    const auto open = [&] { return scene.cut ? fraction(random) : 1.0f; };
    if (kind(i - 1, j, k) == Kind::kFluid) s.x[c] = open();
    if (kind(i, j - 1, k) == Kind::kFluid) s.y[c] = open();
    if (kind(i, j, k - 1) == Kind::kFluid) s.z[c] = open();
    const int steps[6][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    for (const auto& d : steps) {
      if (kind(i + d[0], j + d[1], k + d[2]) != Kind::kAir) continue;
      const float in = -scene.distance(i, j, k);
      const float out = scene.distance(i + d[0], j + d[1], k + d[2]);
      s.anchor[c] += open() / std::max(0.05f, in / (in + out));
    }
    s.b[c] = noise(random);
  }
  return s;
}

Kind all_fluid(int, int, int) {
  return Kind::kFluid;
}

// A full tank, the surface half a cell above the last centres.
Scene tank(int nx, int ny, int nz) {
  return {nx, ny, nz, all_fluid, [nz](int, int, int k) { return k < nz ? -0.5f : 0.5f; }};
}

std::function<float(int, int, int)> ball(float middle, float radius) {
  return [=](int i, int j, int k) {
    const auto square = [&](int a) {
      return (float(a) + 0.5f - middle) * (float(a) + 0.5f - middle);
    };
    return std::sqrt(square(i) + square(j) + square(k)) - radius;
  };
}
Scene in_air(int n, const std::function<float(int, int, int)>& distance) {
  return {n, n, n,
          [distance](int i, int j, int k) {
            return distance(i, j, k) < 0.0f ? Kind::kFluid : Kind::kAir;
          },
          distance};
}

struct Solved {
  PoissonReport report;
  std::vector<float> p;
};

// What f(solver, grid, b, p) does with a prepared solver, and the p that it leaves.
template <class F>
std::vector<float> with_solver(Device& any, const System& s, const std::vector<float>& guess,
                               const F& f, const Bodies& bodies = {}) {
  Buffer<std::uint64_t> number(any);
  Buffer<std::uint32_t> around(any), start(any);
  Buffer<float> x(any), y(any), z(any), anchor(any), b(any), p(any);
  number.upload(s.number), around.upload(s.around), start.upload(s.start);
  x.upload(s.x), y.upload(s.y), z.upload(s.z), anchor.upload(s.anchor), b.upload(s.b);
  p.upload(guess);
  Buffer<std::uint32_t> body_cell(any), body_start(any);
  std::array<Buffer<float>, 6> j;
  Buffer<double> k(any);
  body_cell.upload(bodies.cell), body_start.upload(bodies.start), k.upload(bodies.k);
  PoissonBodies pushed{std::as_const(body_cell).view(),
                       {},
                       std::as_const(body_start).view(),
                       std::as_const(k).view()};
  for (std::size_t i = 0; i < 6; ++i) {
    j[i] = Buffer<float>(any);
    j[i].upload(bodies.j[i]);
    pushed.j[i] = std::as_const(j[i]).view();
  }
  on_device(any, [&]<class D>(D& device) {
    PoissonSolver<D> solver(device);
    const TileView grid{s.frame, std::as_const(number).view(), std::as_const(around).view(),
                        std::as_const(start).view()};
    solver.prepare(grid,
                   {std::as_const(x).view(), std::as_const(y).view(), std::as_const(z).view(),
                    std::as_const(anchor).view()},
                   pushed);
    f(solver, std::as_const(b).view(), p.view());
    return 0;
  });
  return p.download();
}

Solved solve(Device& any, const System& s, double tolerance = 1e-6, const Bodies& bodies = {}) {
  Solved solved;
  solved.p = with_solver(
      any, s, std::vector<float>(s.cells()),
      [&](auto& solver, auto b, auto p) { solved.report = solver.solve(b, p, tolerance, 100); },
      bodies);
  return solved;
}

double largest(const auto& values) {
  double most = 0.0;
  for (const auto v : values) most = std::max(most, std::abs(static_cast<double>(v)));
  return most;
}

// max |b - A p| over max |b|, in double precision.
double residual(const System& s, const std::vector<float>& p) {
  std::vector<double> r = s.times(p);
  for (std::size_t c = 0; c < r.size(); ++c) r[c] -= static_cast<double>(s.b[c]);
  return largest(r) / largest(s.b);
}

// What 24 bits of p leave of a residual, for |b| up to about 1: half a bit of both cells at six
// faces, four times, because p is a sum over iterations.
double rounding(const std::vector<float>& p) {
  return 4.0 * 12.0 * 6e-8 * largest(p);
}

// Conjugate gradients in double precision, until nothing is left.
std::vector<double> reference(const System& s) {
  std::vector<double> p(s.cells()), r(s.cells());
  for (std::size_t c = 0; c < r.size(); ++c) r[c] = s.unknown(c) ? double(s.b[c]) : 0.0;
  std::vector<double> d = r;
  const auto dot = [](const auto& a, const auto& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  };
  double rr = dot(r, r);
  const double enough = rr * 1e-22;
  for (int k = 0; k < 20000 && rr > enough; ++k) {
    const std::vector<double> ad = s.times(d);
    const double alpha = rr / dot(d, ad);
    for (std::size_t i = 0; i < p.size(); ++i) p[i] += alpha * d[i], r[i] -= alpha * ad[i];
    const double next = dot(r, r);
    for (std::size_t i = 0; i < p.size(); ++i) d[i] = r[i] + next / rr * d[i];
    rr = next;
  }
  return p;
}

class Poisson : public OnDevice {};

// Gravity on a resting column: the floor alone pushes, p is the height of fluid above.
TEST_P(Poisson, PressureOfAColumnIsItsDepth) {
  const int height = 45;
  System s = system_of(tank(11, 6, height));
  for (std::size_t c = 0; c < s.cells(); ++c) {
    s.b[c] = s.unknown(c) && s.place(c)[2] == 0 ? 1.0f : 0.0f;
  }
  const Solved solved = solve(*device, s);
  for (std::size_t c = 0; c < s.cells(); ++c) {
    const float depth = s.unknown(c) ? float(height - s.place(c)[2]) - 0.5f : 0.0f;
    ASSERT_NEAR(solved.p[c], depth, 1e-5f * float(height)) << c;
  }
}

// -Laplace p = b for a product of cosines in a closed box: the error falls with the cell's square.
TEST_P(Poisson, CosinesInABoxAreOfSecondOrder) {
  const double pi = std::numbers::pi;
  std::vector<double> errors;
  for (const int n : {12, 24, 48}) {
    Scene scene = tank(n, n, n + 1);
    scene.kind = [n](int, int, int k) { return k < n ? Kind::kFluid : Kind::kWall; };
    System s = system_of(scene);
    const auto exact = [&](std::size_t c) {
      const auto at = s.place(c);
      const auto mode = [&](int m, int i) { return std::cos(pi * m * (i + 0.5) / n); };
      return mode(1, at[0]) * mode(2, at[1]) * mode(1, at[2]);
    };
    for (std::size_t c = 0; c < s.cells(); ++c) {
      s.b[c] = s.unknown(c) ? float(6.0 * pi * pi / (double(n) * n) * exact(c)) : 0.0f;
    }
    const Solved solved = solve(*device, s);
    double error = 0.0;
    for (std::size_t c = 0; c < s.cells(); ++c) {
      if (s.unknown(c)) error = std::max(error, std::abs(double(solved.p[c]) - exact(c)));
    }
    errors.push_back(error);
  }
  EXPECT_NEAR(errors[0] / errors[1], 4.0, 0.3);
  EXPECT_NEAR(errors[1] / errors[2], 4.0, 0.3);
}

// Random walls, air and face fractions against conjugate gradients in double precision.
TEST_P(Poisson, AgreesWithPlainConjugateGradients) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    std::mt19937 random(seed);
    std::vector<Kind> kinds(18 * 13 * 11);
    for (Kind& kind : kinds) {
      const unsigned pick = random() % 16;
      kind = pick < 2 + seed ? Kind::kWall : (pick < 4 + seed ? Kind::kAir : Kind::kFluid);
    }
    Scene scene = tank(18, 13, 11);
    scene.kind = [&](int i, int j, int k) { return kinds[std::size_t((k * 13 + j) * 18 + i)]; };
    scene.distance = [&](int i, int j, int k) {
      return k < 11 && scene.kind(i, j, k) == Kind::kFluid ? -float(1 + (i + j) % 7) / 7.0f : 0.3f;
    };
    scene.cut = seed % 2 == 0;
    System s = system_of(scene);
    // A cell without a way to the air would be singular.
    for (std::size_t c = 0; c < s.cells(); ++c) s.anchor[c] += s.unknown(c) ? 1e-3f : 0.0f;
    const std::vector<double> expected = reference(s);
    const Solved solved = solve(*device, s);
    EXPECT_LE(solved.report.last_residual, 1e-6);
    for (std::size_t c = 0; c < s.cells(); ++c) {
      ASSERT_NEAR(solved.p[c], expected[c], 2e-5 * largest(expected)) << "seed " << seed;
    }
  }
}

TEST_P(Poisson, ThePreconditionerIsSymmetricAndPositive) {
  Scene scene = in_air(40, ball(19.3f, 17.2f));
  scene.cut = true;
  System s = system_of(scene);
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  std::vector<float> a(s.cells()), b(s.cells());
  for (std::size_t c = 0; c < s.cells(); ++c) {
    if (s.unknown(c)) a[c] = normal(random), b[c] = normal(random) + 1.0f;
  }
  const auto times_m = [&](const std::vector<float>& in) {
    s.b = in;
    return with_solver(*device, s, std::vector<float>(s.cells()),
                       [](auto& solver, auto from, auto to) { solver.precondition(from, to); });
  };
  const auto dot = [](const std::vector<float>& u, const std::vector<float>& v) {
    double sum = 0.0;
    for (std::size_t i = 0; i < u.size(); ++i) sum += double(u[i]) * double(v[i]);
    return sum;
  };
  const std::vector<float> ma = times_m(a), mb = times_m(b);
  EXPECT_GT(dot(a, ma), 0.0);
  EXPECT_GT(dot(b, mb), 0.0);
  EXPECT_NEAR(dot(a, mb), dot(ma, b), 1e-6 * std::sqrt(dot(a, ma) * dot(b, mb)));
}

// Levels are launched one by one or several at once, as a device likes: sizes from one tile to
// three storeys of them, and blobs far from each other.
TEST_P(Poisson, ThePreconditionerIsTheSameOnEachDevice) {
  const auto a = ball(14.0f, 11.3f), b = ball(180.0f, 17.1f);
  const Scene scenes[] = {
      tank(5, 6, 7), tank(30, 30, 60), tank(90, 70, 80),
      in_air(200, [=](int i, int j, int k) { return std::min(a(i, j, k), b(i, j, k)); })};
  for (const Scene& scene : scenes) {
    const System s = system_of(scene);
    const auto times_m = [&](Device& any) {
      return with_solver(any, s, std::vector<float>(s.cells()),
                         [](auto& solver, auto from, auto to) { solver.precondition(from, to); });
    };
    Cpu cpu(2);
    const std::vector<float> expected = times_m(cpu), found = times_m(*device);
    const double unit = largest(expected);
    EXPECT_GT(unit, 0.5);
    for (std::size_t c = 0; c < s.cells(); ++c) ASSERT_NEAR(found[c], expected[c], 1e-5 * unit);
  }
}

TEST_P(Poisson, IterationsDoNotGrowWithTheGrid) {
  std::vector<int> iterations;
  for (const int n : {32, 64, 128}) {
    const System s = system_of(tank(n, n, n));
    const Solved solved = solve(*device, s);
    iterations.push_back(solved.report.iterations);
    EXPECT_LE(solved.report.last_residual, 1e-6);
    EXPECT_LE(residual(s, solved.p), 1e-6 + rounding(solved.p)) << n;
  }
  const auto [least, most] = std::minmax_element(iterations.begin(), iterations.end());
  EXPECT_LE(*most, 10);
  EXPECT_LE(2 * *most, 3 * *least);
}

TEST_P(Poisson, IrregularDomainsNeedFewIterations) {
  const auto iterations = [&](const Scene& scene) {
    const System s = system_of(scene);
    const Solved solved = solve(*device, s);
    EXPECT_LE(solved.report.last_residual, 1e-6);
    EXPECT_LE(residual(s, solved.p), 1e-6 + rounding(solved.p));
    return solved.report.iterations;
  };
  EXPECT_LE(iterations(tank(50, 37, 61)), 11);                // no power of two
  EXPECT_LE(iterations(in_air(64, ball(32.2f, 25.7f))), 12);  // anchors from 1 to 60
  EXPECT_LE(iterations(tank(100, 100, 1)), 8);                // a thin sheet on a floor
  Scene cut = tank(64, 64, 64);
  cut.cut = true;
  EXPECT_LE(iterations(cut), 12);
  EXPECT_LE(iterations(in_air(
                100,
                [](int i, int j, int k) {  // a thin sheet in the air
                  return std::abs(float(k) - 50.0f - 8.0f * std::sin(0.1f * float(i + j))) - 1.2f;
                })),
            10);
  const auto a = ball(14.0f, 11.3f), b = ball(80.0f, 17.1f);
  EXPECT_LE(iterations(in_air(100,
                              [=](int i, int j, int k) {  // two blobs far from each other
                                return std::min(a(i, j, k), b(i, j, k));
                              })),
            12);
}

// Two closed boxes and an open one, walls between them; what flows in does not flow out.
TEST_P(Poisson, ClosedRegionsAreSolvedUpToAConstant) {
  Scene scene = tank(31, 20, 20);
  const auto box = [](int i) { return i / 11; };
  scene.kind = [&](int i, int, int k) {
    return i % 11 == 10 || (k == 19 && box(i) != 1) ? Kind::kWall : Kind::kFluid;
  };
  System s = system_of(scene);
  const Solved solved = solve(*device, s);
  EXPECT_LE(solved.report.last_residual, 1e-6);
  EXPECT_LE(solved.report.iterations, 15);

  // What is left: nothing in the open box, b's mean in each closed one, but for the rounding of p.
  // Closed boxes have an even pressure of about 1, the open one bears its inflow: about 50.
  const std::vector<double> ap = s.times(solved.p);
  std::array<double, 3> sum{}, cells{};
  const auto each_cell = [&](const auto& f) {
    for (std::size_t c = 0; c < s.cells(); ++c) {
      if (s.unknown(c)) f(c, static_cast<std::size_t>(box(s.place(c)[0])));
    }
  };
  each_cell([&](std::size_t c, std::size_t in) { sum[in] += double(s.b[c]), cells[in] += 1.0; });
  EXPECT_GT(sum[0] / cells[0], 0.2);
  each_cell([&](std::size_t c, std::size_t in) {
    const double left = double(s.b[c]) - ap[c];
    if (in == 1) {
      EXPECT_NEAR(left, 0.0, 1e-6 + rounding(solved.p)) << c;
    } else {
      EXPECT_NEAR(left, sum[in] / cells[in], 1e-5) << c;
    }
  });

  // And rounding it is: a residual of 1e-6 that is smooth, over 20 cells from floor to surface,
  // makes an error of (2 20 / pi)^2 1e-6 = 1.6e-4; one of 1e-4 would make a hundred times that.
  each_cell([&](std::size_t c, std::size_t in) {
    if (in != 1) s.b[c] = 0.0f;
  });
  const std::vector<double> exact = reference(s);
  each_cell([&](std::size_t c, std::size_t in) {
    if (in == 1) {
      EXPECT_NEAR(double(solved.p[c]), exact[c], 2e-4) << c;
    }
  });
}

// As long as it takes: residuals of a closed box do not come back up.
TEST_P(Poisson, AskedForTheImpossibleItStops) {
  Scene scene = tank(24, 24, 25);
  scene.kind = [](int, int, int k) { return k < 24 ? Kind::kFluid : Kind::kWall; };
  const Solved solved = solve(*device, system_of(scene), 0.0);
  EXPECT_LT(solved.report.last_residual, 1e-6);
  EXPECT_TRUE(std::isfinite(largest(solved.p)));
}

TEST_P(Poisson, NoUnknownsNoPressure) {
  System s = system_of(tank(9, 9, 9));
  for (std::vector<float>* field : {&s.x, &s.y, &s.z, &s.anchor}) field->assign(s.cells(), 0.0f);
  const Solved none = solve(*device, s);
  EXPECT_EQ(none.report.iterations, 0);
  EXPECT_EQ(largest(none.p), 0.0);
  const Solved empty = solve(*device, System{});
  EXPECT_EQ(empty.report.iterations, 0);
}

TEST_P(Poisson, NothingToDoForZerosAndForTheSolution) {
  System s = system_of(tank(20, 20, 20));
  const Solved first = solve(*device, s);
  PoissonReport again;
  with_solver(*device, s, first.p,
              [&](auto& solver, auto b, auto p) { again = solver.solve(b, p, 1e-4, 100); });
  EXPECT_EQ(again.iterations, 0);
  EXPECT_LT(again.first_residual, 1e-4);
  s.b.assign(s.cells(), 0.0f);
  const Solved zero = solve(*device, s);
  EXPECT_EQ(zero.report.iterations, 0);
  EXPECT_EQ(largest(zero.p), 0.0);
}

TEST_P(Poisson, WhatIsNoNumberDoesNotPassForSolved) {
  System s = system_of(tank(20, 20, 20));
  std::size_t c = 0;
  while (!s.unknown(c)) ++c;
  s.b[c] = std::numeric_limits<float>::quiet_NaN();
  const Solved solved = solve(*device, s);
  EXPECT_FALSE(solved.report.last_residual <= 1.0);
  EXPECT_EQ(largest(solved.p), 0.0);
}

// Faces on the low side of the first tiles have nothing behind them.
TEST_P(Poisson, FacesToTilesThatDoNotExistCountAsNothing) {
  System s = system_of(tank(16, 8, 8), 0);
  const Solved plain = solve(*device, s);
  EXPECT_GT(largest(plain.p), 1.0);
  const TileView v = s.view();
  for (std::uint32_t c = 0; c < s.cells(); ++c) {
    if (v.beside(c, -1, 0, 0) == kNoCell) s.x[c] = 3.0f;
    if (v.beside(c, 0, -1, 0) == kNoCell) s.y[c] = 3.0f;
    if (v.beside(c, 0, 0, -1) == kNoCell) s.z[c] = 3.0f;
  }
  EXPECT_EQ(solve(*device, s).p, plain.p);
}

// ---- Bodies

// A block of cells, from `low` to before `high`: an entry for each of its faces to fluid. Force and
// torque about its middle, for a pressure of 1 in the cell outside.
struct Block {
  std::array<int, 3> low, high;
  bool has(int i, int j, int k) const {
    return i >= low[0] && i < high[0] && j >= low[1] && j < high[1] && k >= low[2] && k < high[2];
  }
  double volume() const {
    return double(high[0] - low[0]) * double(high[1] - low[1]) * double(high[2] - low[2]);
  }
};
void add_faces(const System& s, const Block& block, Bodies& bodies) {
  const auto middle = [&](std::size_t axis) { return 0.5 * (block.low[axis] + block.high[axis]); };
  for (std::size_t c = 0; c < s.cells(); ++c) {
    if (!s.unknown(c)) continue;
    const std::array<int, 3> at = s.place(c);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      for (const int side : {-1, 1}) {
        std::array<int, 3> in = at;
        in[axis] -= side;  // the block is on the other side of the cell
        if (!block.has(in[0], in[1], in[2])) continue;
        std::array<double, 3> arm;
        for (std::size_t a = 0; a < 3; ++a) arm[a] = in[a] + 0.5 - middle(a);
        arm[axis] += 0.5 * side;
        std::array<double, 3> push{};
        push[axis] = -side;
        bodies.entry(c, {push[0], push[1], push[2], arm[1] * push[2] - arm[2] * push[1],
                         arm[2] * push[0] - arm[0] * push[2], arm[0] * push[1] - arm[1] * push[0]});
      }
    }
  }
}

// A cube of n/4 cells, half in the water of a tank of n^3 cells that is half full.
std::pair<System, Bodies> floating_cube(int n, double density) {
  const int edge = n / 4, low = n / 2 - edge / 2;
  const Block cube{{low, low, low}, {low + edge, low + edge, low + edge}};
  Scene scene = tank(n, n, n / 2);
  scene.kind = [=](int i, int j, int k) { return cube.has(i, j, k) ? Kind::kWall : Kind::kFluid; };
  Bodies bodies;
  const System s = system_of(scene);
  add_faces(s, cube, bodies);
  const double mass = density * cube.volume();
  bodies.body(of_mass(mass, mass * edge * edge / 6.0));
  return {s, bodies};
}

// What is left of b after a solve.
std::vector<double> left_of(const System& s, const Bodies& bodies, const std::vector<float>& p) {
  std::vector<double> r = s.times(p);
  bodies.add_times(s, p, r);
  for (std::size_t c = 0; c < r.size(); ++c) r[c] = double(s.b[c]) - r[c];
  return r;
}

// Also where the cube has a twentieth of the water's density.
TEST_P(Poisson, LightBodiesCostFewIterations) {
  for (const int n : {32, 64}) {
    const int without = solve(*device, floating_cube(n, 1.0).first).report.iterations;
    for (const double density : {1.0, 0.05}) {
      const auto [s, bodies] = floating_cube(n, density);
      const Solved solved = solve(*device, s, 1e-6, bodies);
      EXPECT_LE(solved.report.iterations, density < 1.0 ? 2 * without : without + 2);
      EXPECT_LE(largest(left_of(s, bodies, solved.p)), 1e-6 + rounding(solved.p)) << density;
    }
  }
}

// A block that closes a shaft like a piston, pushed by what flows in at the bottom at a speed of 1:
// all of the fluid goes along, which takes a pressure that falls by 1 a cell, and above it what the
// piston takes: its mass over its area.
TEST_P(Poisson, APistonTellsThePressureOfAClosedShaft) {
  const int width = 5, height = 21;
  const double mass = 37.0;
  Scene scene = tank(width, width, height + 1);
  scene.kind = [](int, int, int k) { return k < height ? Kind::kFluid : Kind::kWall; };
  System s = system_of(scene);
  for (std::size_t c = 0; c < s.cells(); ++c) {
    s.b[c] = s.unknown(c) && s.place(c)[2] == 0 ? 1.0f : 0.0f;
  }
  Bodies bodies;
  add_faces(s, {{0, 0, height}, {width, width, height + 1}}, bodies);
  bodies.body(of_mass(mass, 1e6));
  const Solved solved = solve(*device, s, 1e-6, bodies);
  EXPECT_LE(solved.report.iterations, 15);
  for (std::size_t c = 0; c < s.cells(); ++c) {
    if (!s.unknown(c)) continue;
    const double expected = mass / (width * width) + height - 1 - s.place(c)[2];
    ASSERT_NEAR(solved.p[c], expected, 1e-4 * height) << c;
  }
}

// Constants that move no body are as unknown as without it: under water in a closed tank; between
// two closed chambers; where it can only turn, and not about this axis. What is left of b is its
// mean over all that such a constant is in.
TEST_P(Poisson, ConstantsThatMoveNoBodyAreTakenOff) {
  const Block inside{{6, 5, 7}, {10, 9, 12}}, between{{7, 0, 0}, {9, 16, 16}};
  std::array<Bodies::Six, 6> turning{};
  for (std::size_t i = 3; i < 6; ++i) turning[i][i] = 0.1;
  const struct {
    const char* name;
    Block block;
    std::array<Bodies::Six, 6> k;
  } cases[] = {{"under water", inside, of_mass(8.0, 20.0)},
               {"between chambers", between, of_mass(30.0, 500.0)},
               {"turning", between, turning}};
  for (const auto& [name, block, k] : cases) {
    SCOPED_TRACE(name);
    Scene scene = tank(16, 16, 17);
    scene.kind = [&](int x, int y, int z) {
      return z == 16 || block.has(x, y, z) ? Kind::kWall : Kind::kFluid;
    };
    System s = system_of(scene);
    Bodies bodies;
    add_faces(s, block, bodies);
    bodies.body(k);
    for (std::size_t c = 0; c < s.cells(); ++c) {  // chambers with different means
      if (s.unknown(c) && s.place(c)[0] > 8) s.b[c] += 0.4f;
    }
    const Solved solved = solve(*device, s, 1e-6, bodies);
    EXPECT_LE(solved.report.last_residual, 1e-6);
    EXPECT_LE(solved.report.iterations, 20);
    const bool apart = k[0][0] == 0.0;
    std::array<double, 2> sum{}, cells{};
    const auto side = [&](std::size_t c) { return apart && s.place(c)[0] > 8 ? 1u : 0u; };
    for (std::size_t c = 0; c < s.cells(); ++c) {
      if (s.unknown(c)) sum[side(c)] += double(s.b[c]), cells[side(c)] += 1.0;
    }
    EXPECT_GT(sum[0] / cells[0], 0.2);
    const std::vector<double> left = left_of(s, bodies, solved.p);
    for (std::size_t c = 0; c < s.cells(); ++c) {
      const double mean = s.unknown(c) ? sum[side(c)] / cells[side(c)] : 0.0;
      ASSERT_NEAR(left[c], mean, 1e-4) << c;
    }
  }
}

// (A + J^T K J) p = b by elimination, for the unknowns of a small system.
std::vector<double> eliminate(const System& s, const Bodies& bodies) {
  std::vector<std::size_t> cells;
  for (std::size_t c = 0; c < s.cells(); ++c) {
    if (s.unknown(c)) cells.push_back(c);
  }
  const std::size_t n = cells.size();
  std::vector<std::vector<double>> rows(n, std::vector<double>(n + 1));
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> one(s.cells());
    one[cells[i]] = 1.0;
    std::vector<double> column = s.times(one);
    bodies.add_times(s, one, column);
    for (std::size_t r = 0; r < n; ++r) rows[r][i] = column[cells[r]];
    rows[i][n] = double(s.b[cells[i]]);
  }
  for (std::size_t i = 0; i < n; ++i) {  // positive definite: no pivoting
    for (std::size_t r = 0; r < n; ++r) {
      const double factor = r == i ? 0.0 : rows[r][i] / rows[i][i];
      for (std::size_t c = i; factor != 0.0 && c <= n; ++c) rows[r][c] -= factor * rows[i][c];
    }
  }
  std::vector<double> p(s.cells());
  for (std::size_t i = 0; i < n; ++i) p[cells[i]] = rows[i][n] / rows[i][i];
  return p;
}

// Random entries, of which some are in the same cell, some in a cell of two bodies, some in walls
// and some nowhere; a K of full rank, one of rank 2, and one that does nothing.
std::pair<System, Bodies> random_bodies(const Scene& scene) {
  const System s = system_of(scene);
  std::vector<std::size_t> unknown, other;
  for (std::size_t c = 0; c < s.cells(); ++c) (s.unknown(c) ? unknown : other).push_back(c);
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  Bodies bodies;
  for (const std::size_t rank : {6u, 2u, 0u}) {
    const auto entry = [&](std::size_t c) {
      Bodies::Six j;
      for (double& of : j) of = normal(random);
      bodies.entry(c, j);
    };
    for (int i = 0; i < 300; ++i) entry(unknown[random() % unknown.size()]);
    entry(unknown[10]), entry(unknown[10]);
    for (int i = 0; i < 5; ++i) entry(other[random() % other.size()]);
    entry(kNoCell);
    std::array<Bodies::Six, 6> k{};
    for (std::size_t r = 0; r < rank; ++r) {
      Bodies::Six v;
      for (double& of : v) of = 0.1 * normal(random);
      for (std::size_t i = 0; i < 36; ++i) k[i / 6][i % 6] += v[i / 6] * v[i % 6];
    }
    bodies.body(k);
  }
  return {s, bodies};
}

TEST_P(Poisson, BodiesAgreeWithElimination) {
  Scene scene = tank(9, 6, 5);
  scene.cut = true;
  const auto [s, bodies] = random_bodies(scene);
  const std::vector<double> expected = eliminate(s, bodies), without = eliminate(s, {});
  double change = 0.0;
  for (std::size_t c = 0; c < s.cells(); ++c) {
    change = std::max(change, std::abs(expected[c] - without[c]));
  }
  EXPECT_GT(change, 0.1 * largest(expected));
  const Solved solved = solve(*device, s, 1e-6, bodies);
  EXPECT_LE(solved.report.last_residual, 1e-6);
  for (std::size_t c = 0; c < s.cells(); ++c) {
    ASSERT_NEAR(solved.p[c], expected[c], 2e-5 * largest(expected)) << c;
  }
  // The guess goes through the bodies' term, too.
  PoissonReport again;
  with_solver(
      *device, s, solved.p,
      [&](auto& solver, auto b, auto p) { again = solver.solve(b, p, 1e-4, 100); }, bodies);
  EXPECT_EQ(again.iterations, 0);
}

// Until the largest |r| is the larger one of both bounds.
TEST_P(Poisson, StopsAtAnAbsoluteBound) {
  System s = system_of(tank(20, 20, 20));
  for (float& b : s.b) b *= 8.0f;
  const auto with = [&](double tolerance, double absolute) {
    PoissonReport report;
    with_solver(*device, s, std::vector<float>(s.cells()), [&](auto& solver, auto b, auto p) {
      report = solver.solve(b, p, tolerance, 100, absolute);
    });
    EXPECT_NEAR(report.largest, report.last_residual * largest(s.b), 1e-6 * report.largest);
    EXPECT_LE(report.largest, std::max(tolerance * largest(s.b), absolute));
    return report;
  };
  const PoissonReport coarse = with(0.0, 1e-2), fine = with(1e-6, 0.0);
  EXPECT_GT(coarse.largest, 1e-4);
  EXPECT_LT(coarse.iterations, fine.iterations);
  EXPECT_EQ(with(1e-6, 1e-2).iterations, coarse.iterations);
  EXPECT_EQ(with(1e-6, 1e-9).iterations, fine.iterations);
  EXPECT_EQ(with(0.0, 1e3).iterations, 0);
}

// What an earlier matrix and its bodies left in the solver's memory does not show.
TEST_P(Poisson, AUsedSolverIsAsGoodAsANewOne) {
  const auto [large, bodies] = random_bodies(in_air(40, ball(20.0f, 17.0f)));
  const System small = system_of(tank(13, 22, 17));
  const Solved fresh = solve(*device, small);
  std::vector<float> used;
  with_solver(
      *device, large, std::vector<float>(large.cells()),
      [&](auto& solver, auto b, auto p) {
        solver.solve(b, p, 1e-6, 100);
        Buffer<std::uint64_t> number(*device);
        Buffer<std::uint32_t> around(*device);
        Buffer<float> x(*device), y(*device), z(*device), anchor(*device), rhs(*device),
            out(*device);
        number.upload(small.number), around.upload(small.around);
        x.upload(small.x), y.upload(small.y), z.upload(small.z), anchor.upload(small.anchor);
        rhs.upload(small.b), out.upload(std::vector<float>(small.cells()));
        solver.prepare(
            {small.frame, std::as_const(number).view(), std::as_const(around).view(), {}},
            {std::as_const(x).view(), std::as_const(y).view(), std::as_const(z).view(),
             std::as_const(anchor).view()});
        solver.solve(std::as_const(rhs).view(), out.view(), 1e-6, 100);
        used = out.download();
      },
      bodies);
  EXPECT_EQ(used, fresh.p);
}

// Cells at a wall cease to be unknowns: their faces become anchors of their neighbours.
System without_some_at_a_wall(const System& whole) {
  System changed = whole;
  const TileView grid = whole.view();
  int gone = 0;
  for (std::uint32_t c = 0; c < whole.cells(); ++c) {
    const auto [i, j, k] = whole.place(c);
    if (!whole.unknown(c) || i > 0 || (j + k) % 3 != 0) continue;
    ++gone;
    std::vector<float>* faces[3] = {&changed.x, &changed.y, &changed.z};
    for (int a = 0; a < 3; ++a) {
      const std::uint32_t low = grid.before(c, a), high = grid.behind(c, a);
      if (low != kNoCell) changed.anchor[low] += std::exchange((*faces[a])[c], 0.0f);
      if (high != kNoCell) changed.anchor[high] += std::exchange((*faces[a])[high], 0.0f);
    }
    changed.anchor[c] = 0.0f;
    changed.b[c] = 0.0f;
  }
  EXPECT_GT(gone, 300);
  for (std::uint32_t c = 0; c < whole.cells(); ++c) {
    if (!changed.unknown(c)) changed.anchor[c] = changed.b[c] = 0.0f;
  }
  return changed;
}

// What is solved for in a box without an opening: b less its mean.
System balanced(System s) {
  double sum = 0.0, unknowns = 0.0;
  for (std::uint32_t c = 0; c < s.cells(); ++c) {
    if (s.unknown(c)) sum += static_cast<double>(s.b[c]), unknowns += 1.0;
  }
  for (std::uint32_t c = 0; c < s.cells(); ++c) {
    if (s.unknown(c)) s.b[c] -= static_cast<float>(sum / unknowns);
  }
  return s;
}

// And back: what is closed as a whole is so again once they have returned.
TEST_P(Poisson, AChangedMatrixIsSolvedAsWell) {
  for (const bool closed : {false, true}) {
    System whole = system_of(tank(40, 40, 40));
    if (closed) std::fill(whole.anchor.begin(), whole.anchor.end(), 0.0f);
    const System changed = without_some_at_a_wall(whole);
    Buffer<float> x(*device), y(*device), z(*device), anchor(*device), rhs(*device);
    const auto matrix_of = [&](const System& system) {
      x.upload(system.x), y.upload(system.y), z.upload(system.z);
      anchor.upload(system.anchor), rhs.upload(system.b);
      return PoissonMatrix{std::as_const(x).view(), std::as_const(y).view(),
                           std::as_const(z).view(), std::as_const(anchor).view()};
    };
    for (const bool back : {false, true}) {
      const System last = !back ? changed : (closed ? balanced(whole) : whole);
      Solved solved;
      solved.p = with_solver(
          *device, whole, std::vector<float>(whole.cells()), [&](auto& solver, auto b, auto p) {
            solver.solve(b, p, 1e-2, 100);
            solver.change(matrix_of(changed));
            if (back) {
              solver.solve(std::as_const(rhs).view(), p, 1e-2, 100);
              solver.change(matrix_of(whole));
            }
            solved.report = solver.solve(std::as_const(rhs).view(), p, 1e-6, 100);
          });
      EXPECT_LE(residual(last, solved.p), 1e-6 + rounding(solved.p) / largest(last.b));
      EXPECT_LE(solved.report.iterations, 20);
      // The control: it is not the other one's solution.
      EXPECT_GT(residual(back ? changed : whole, solved.p), 1e-2);
    }
  }
}

BARCHAN_ON_EACH_DEVICE(Poisson);

TEST(PoissonThreads, SameBytesOnAnyNumber) {
  Scene scene = in_air(64, ball(31.0f, 26.0f));
  scene.cut = true;
  const auto [s, bodies] = random_bodies(scene);
  std::vector<std::vector<float>> without, pressures;
  for (const int threads : {1, 2, 4}) {
    Cpu cpu(threads);
    without.push_back(solve(cpu, s).p);
    pressures.push_back(solve(cpu, s, 1e-6, bodies).p);
  }
  EXPECT_GT(largest(pressures[0]), 1.0);
  EXPECT_NE(pressures[0], without[0]);
  for (const std::size_t i : {1u, 2u}) {
    EXPECT_EQ(without[0], without[i]);
    EXPECT_EQ(pressures[0], pressures[i]);
  }
}

// A tile at a time, axis by axis, against a cell at a time.
template <int E>
void compare_transfers() {
  constexpr int C = E / 2;
  Cpu cpu(2);
  const System s = system_of(in_air(30, ball(14.0f, 12.0f)));
  std::vector<std::uint32_t> around = s.around;
  for (std::uint32_t& of : around) of = of == kNoCell ? std::uint32_t(s.number.size()) : of;
  const LevelTiles level{{around.data(), around.size()}, {}, s.number.size()};
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  const auto field = [&](int edge) {
    const auto cells = std::size_t(edge * edge * edge);
    std::vector<float> values((level.tiles + 1) * cells);
    for (std::size_t i = 0; i < level.tiles * cells; ++i) values[i] = normal(random);
    return values;
  };
  const auto view = [](const std::vector<float>& values) {
    return View<const float>{values.data(), values.size()};
  };
  const std::vector<float> weight = field(E), fine = field(E), coarse = field(C);

  std::vector<float> q = fine, q_plain = fine;
  between_levels<E>(cpu, "", Prolong<E>{level, view(coarse), view(weight), {q.data(), q.size()}});
  for_each(cpu, "", std::int64_t(level.tiles) * E * E * E,
           Prolong<E>{level, view(coarse), view(weight), {q_plain.data(), q_plain.size()}});
  for (std::size_t i = 0; i < q.size(); ++i) ASSERT_NEAR(q[i], q_plain[i], 1e-5f);

  std::vector<float> down = coarse, down_plain = coarse;
  between_levels<E>(cpu, "", Restrict<E>{level, view(fine), {down.data(), down.size()}});
  for_each(cpu, "", std::int64_t(level.tiles) * C * C * C,
           Restrict<E>{level, view(fine), {down_plain.data(), down_plain.size()}});
  for (std::size_t i = 0; i < down.size(); ++i) ASSERT_NEAR(down[i], down_plain[i], 3e-5f);
}
TEST(PoissonTransfers, TilesAsCells) {
  compare_transfers<8>();
  compare_transfers<4>();
  compare_transfers<2>();
}

}  // namespace
}  // namespace barchan
