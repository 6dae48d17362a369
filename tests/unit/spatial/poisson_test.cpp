#include "spatial/poisson.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
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
                               const F& f) {
  Buffer<std::uint64_t> number(any);
  Buffer<std::uint32_t> around(any), start(any);
  Buffer<float> x(any), y(any), z(any), anchor(any), b(any), p(any);
  number.upload(s.number), around.upload(s.around), start.upload(s.start);
  x.upload(s.x), y.upload(s.y), z.upload(s.z), anchor.upload(s.anchor), b.upload(s.b);
  p.upload(guess);
  on_device(any, [&]<class D>(D& device) {
    PoissonSolver<D> solver(device);
    const TileView grid{s.frame, std::as_const(number).view(), std::as_const(around).view(),
                        std::as_const(start).view()};
    solver.prepare(grid, {std::as_const(x).view(), std::as_const(y).view(), std::as_const(z).view(),
                          std::as_const(anchor).view()});
    f(solver, std::as_const(b).view(), p.view());
    return 0;
  });
  return p.download();
}

Solved solve(Device& any, const System& s, double tolerance = 1e-6) {
  Solved solved;
  solved.p = with_solver(any, s, std::vector<float>(s.cells()), [&](auto& solver, auto b, auto p) {
    solved.report = solver.solve(b, p, tolerance, 100);
  });
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

  // What is left: nothing in the open box, b's mean in each closed one.
  const std::vector<double> ap = s.times(solved.p);
  std::array<double, 3> sum{}, cells{};
  for (std::size_t c = 0; c < s.cells(); ++c) {
    if (!s.unknown(c)) continue;
    const auto in = static_cast<std::size_t>(box(s.place(c)[0]));
    sum[in] += double(s.b[c]);
    cells[in] += 1.0;
  }
  EXPECT_GT(sum[0] / cells[0], 0.2);
  for (std::size_t c = 0; c < s.cells(); ++c) {
    if (!s.unknown(c)) continue;
    const auto in = static_cast<std::size_t>(box(s.place(c)[0]));
    ASSERT_NEAR(double(s.b[c]) - ap[c], in == 1 ? 0.0 : sum[in] / cells[in], 1e-4) << c;
  }
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

// What an earlier matrix left in the solver's memory does not show.
TEST_P(Poisson, AUsedSolverIsAsGoodAsANewOne) {
  const System large = system_of(in_air(40, ball(20.0f, 17.0f)));
  const System small = system_of(tank(13, 22, 17));
  const Solved fresh = solve(*device, small);
  std::vector<float> used;
  with_solver(*device, large, std::vector<float>(large.cells()), [&](auto& solver, auto b, auto p) {
    solver.solve(b, p, 1e-6, 100);
    Buffer<std::uint64_t> number(*device);
    Buffer<std::uint32_t> around(*device);
    Buffer<float> x(*device), y(*device), z(*device), anchor(*device), rhs(*device), out(*device);
    number.upload(small.number), around.upload(small.around);
    x.upload(small.x), y.upload(small.y), z.upload(small.z), anchor.upload(small.anchor);
    rhs.upload(small.b), out.upload(std::vector<float>(small.cells()));
    solver.prepare({small.frame, std::as_const(number).view(), std::as_const(around).view(), {}},
                   {std::as_const(x).view(), std::as_const(y).view(), std::as_const(z).view(),
                    std::as_const(anchor).view()});
    solver.solve(std::as_const(rhs).view(), out.view(), 1e-6, 100);
    used = out.download();
  });
  EXPECT_EQ(used, fresh.p);
}

BARCHAN_ON_EACH_DEVICE(Poisson);

TEST(PoissonThreads, SameBytesOnAnyNumber) {
  Scene scene = in_air(64, ball(31.0f, 26.0f));
  scene.cut = true;
  const System s = system_of(scene);
  std::vector<std::vector<float>> pressures;
  for (const int threads : {1, 2, 4}) {
    Cpu cpu(threads);
    pressures.push_back(solve(cpu, s).p);
  }
  EXPECT_GT(largest(pressures[0]), 1.0);
  EXPECT_EQ(pressures[0], pressures[1]);
  EXPECT_EQ(pressures[0], pressures[2]);
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
  between_levels<E>(cpu, "",
                    Restrict<E>{level, view(weight), view(fine), {down.data(), down.size()}});
  for_each(cpu, "", std::int64_t(level.tiles) * C * C * C,
           Restrict<E>{level, view(weight), view(fine), {down_plain.data(), down_plain.size()}});
  for (std::size_t i = 0; i < down.size(); ++i) ASSERT_NEAR(down[i], down_plain[i], 3e-5f);
}
TEST(PoissonTransfers, TilesAsCells) {
  compare_transfers<8>();
  compare_transfers<4>();
  compare_transfers<2>();
}

}  // namespace
}  // namespace barchan
