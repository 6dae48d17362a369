// What transfers between particles and grid must keep (docs: Zhu & Bridson 2005, section 4.1).
#include "solvers/flip/transfers.h"

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "compute/buffer.h"
#include "compute/cpu.h"
#include "compute/dispatch.h"
#include "spatial/cells.h"
#include "spatial/tile_grid.h"
#include "unit/devices.h"

namespace barchan {
namespace {

constexpr float kSize = 0.1f;  // of a cell [m]
using Field = std::function<Vec3(Vec3)>;

// Eight particles a cell, one in each octant, in a block of cells.
std::vector<Vec3> block(int cells, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> in(0.0f, 0.5f);
  std::vector<Vec3> points;
  for (int n = 0; n < 8 * cells * cells * cells; ++n) {
    const int c = n / 8, o = n % 8;
    const auto at = [&](int cell, int half) {
      return kSize * (static_cast<float>(cell) + 0.5f * static_cast<float>(half) + in(random));
    };
    points.emplace_back(at(c % cells, o & 1), at(c / cells % cells, o >> 1 & 1),
                        at(c / cells / cells, o >> 2));
  }
  return points;
}

// Owns the particles and the grid of a test.
template <class D>
struct Exchange {
  Device& memory;
  TileGrid<D> grid;
  Buffer3 x, v, cx, cy, cz;
  Buffer<float> value[3], zero[3], fill;
  Buffer<std::uint64_t> everywhere;

  Exchange(Device& device, D& on, const std::vector<Vec3>& points, const Field& velocity)
      : memory(device), grid(on), x(device), v(device), cx(device), cy(device), cz(device) {
    x.upload(points);
    grid.build(std::as_const(x).view(), kSize, 2);
    Buffer3 sorted(device);
    permute(device, std::as_const(x).view(), grid.order(), sorted);
    const std::vector<Vec3> at = sorted.download();
    std::vector<Vec3> of;
    for (const Vec3& p : at) of.push_back(velocity(p));
    x.upload(at);
    v.upload(of);
    for (int a = 0; a < 3; ++a) {
      value[a] = Buffer<float>(device, grid.view().cells());
      zero[a] = Buffer<float>(device, grid.view().cells());
      zero[a].clear_to_zero();
    }
    fill = Buffer<float>(device, grid.view().cells());
    everywhere = Buffer<std::uint64_t>(device);
    everywhere.upload(std::vector<std::uint64_t>(grid.view().cells() / 64, ~std::uint64_t{0}));
  }
  void give(D& device, bool affine) {
    flip::AffineView c;
    if (affine) {
      c = {std::as_const(cx).view(), std::as_const(cy).view(), std::as_const(cz).view()};
    }
    flip::to_faces(device,
                   flip::ToFaces{grid.view(),
                                 std::as_const(x).view(),
                                 std::as_const(v).view(),
                                 c,
                                 {{value[0].view(), value[1].view(), value[2].view()}},
                                 fill.view()},
                   {std::as_const(everywhere).view(), {}});
  }
  void take(D& device, float ratio, bool affine) {
    for (Buffer3* c : {&cx, &cy, &cz}) c->resize(affine ? x.size() : 0);
    const auto read = [](const Buffer<float>(&of)[3]) {
      return flip::ConstFaceView{{of[0].view(), of[1].view(), of[2].view()}};
    };
    const auto to = [&](Buffer3& c) { return affine ? c.view() : View3<float>{}; };
    Buffer3 moved(memory, x.size());
    flip::carry(device, flip::CarryParticles{grid.view(),
                                             read(value),
                                             read(zero),
                                             read(zero),
                                             {0.0f, 1.0f / kSize, ratio, 1.0f},
                                             std::as_const(x).view(),
                                             v.view(),
                                             moved.view(),
                                             to(cx),
                                             to(cy),
                                             to(cz)});
  }
};

// Middle of a cell's lower face along axis a [m].
Vec3 face_of(const TileView& host, std::uint32_t cell, int a) {
  return host.corner_of(cell) +
         kSize * Vec3(a == 0 ? 0.0f : 0.5f, a == 1 ? 0.0f : 0.5f, a == 2 ? 0.0f : 0.5f);
}

// The largest error of face values against the field, over faces well inside of the block, and the
// mean error.
struct Errors {
  double largest = 0.0, mean = 0.0;
  int faces = 0;
};

// The grid's table on the host, for corners of cells.
std::vector<std::uint64_t> numbers(Device& device, const TileView& view) {
  std::vector<std::uint64_t> number(view.number.size);
  device.download(number.data(), view.number.data, number.size() * sizeof(std::uint64_t));
  return number;
}

template <class D>
Errors errors(Device& device, Exchange<D>& exchange, const Field& field, int cells) {
  TileView host = exchange.grid.view();
  const std::vector<std::uint64_t> number = numbers(device, host);
  host.number = {number.data(), number.size()};
  Errors out;
  for (int a = 0; a < 3; ++a) {
    const std::vector<float> value = exchange.value[a].download();
    for (std::uint32_t c = 0; c < value.size(); ++c) {
      const Vec3 face = face_of(host, c, a);
      const float lo = 1.5f * kSize, hi = (static_cast<float>(cells) - 1.5f) * kSize;
      if (!(face.x > lo && face.y > lo && face.z > lo)) continue;
      if (!(face.x < hi && face.y < hi && face.z < hi)) continue;
      const double error = static_cast<double>(value[c]) - static_cast<double>(field(face)[a]);
      out.largest = std::max(out.largest, std::abs(error));
      out.mean += error;
      ++out.faces;
    }
  }
  out.mean /= out.faces;
  return out;
}

template <class D>
void put_exact(Device& device, Exchange<D>& exchange, const Field& field) {
  TileView host = exchange.grid.view();
  const std::vector<std::uint64_t> number = numbers(device, host);
  host.number = {number.data(), number.size()};
  for (int a = 0; a < 3; ++a) {
    std::vector<float> exact(host.cells());
    for (std::uint32_t c = 0; c < exact.size(); ++c) exact[c] = field(face_of(host, c, a))[a];
    exchange.value[a].upload(exact);
  }
}

class FlipTransfers : public OnDevice {};

TEST_P(FlipTransfers, ConstantsComeBackExactly) {
  on_device(*device, [&]<class D>(D& d) {
    const Field field = [](Vec3) { return Vec3(1.5f, -2.0f, 0.25f); };
    Exchange<D> exchange(*device, d, block(12, 1), field);
    exchange.give(d, false);
    const Errors e = errors(*device, exchange, field, 12);
    EXPECT_GT(e.faces, 2000);
    EXPECT_LT(e.largest, 1e-6);
    for (const float ratio : {0.0f, 1.0f}) {
      exchange.take(d, ratio, false);
      const std::vector<Vec3> v = exchange.v.download(), x = exchange.x.download();
      for (std::size_t i = 0; i < v.size(); ++i) {
        const bool inside = min(min(x[i].x, x[i].y), x[i].z) > kSize &&
                            max(max(x[i].x, x[i].y), x[i].z) < 11 * kSize;
        if (inside) {
          EXPECT_LT(length(v[i] - field(x[i])), 2e-6f);
        }
      }
    }
    return 0;
  });
}

// APIC carries linear fields; without it the particles' uneven places show.
TEST_P(FlipTransfers, LinearFieldsComeBackWithApic) {
  on_device(*device, [&]<class D>(D& d) {
    const Field field = [](Vec3 p) {
      return Vec3(1.0f + 2.0f * p.x - p.y + 0.5f * p.z, 3.0f * p.x + p.y, p.z - 2.0f * p.y);
    };
    Exchange<D> exchange(*device, d, block(12, 2), field);
    exchange.give(d, false);
    EXPECT_GT(errors(*device, exchange, field, 12).largest, 0.01);  // the control
    // The field itself on the faces; particles take it and give it back.
    put_exact(*device, exchange, field);
    exchange.take(d, 0.0f, true);
    exchange.give(d, true);
    EXPECT_LT(errors(*device, exchange, field, 12).largest, 2e-5);
    return 0;
  });
}

// Each component along an axis that is not its own: faces are where they are said to be.
TEST_P(FlipTransfers, LinearFieldsComeBackOnTheMean) {
  on_device(*device, [&]<class D>(D& d) {
    const Field field = [](Vec3 p) { return Vec3(p.y + p.z, p.x + p.z, p.x + p.y); };
    Exchange<D> exchange(*device, d, block(12, 5), field);
    exchange.give(d, false);
    EXPECT_NEAR(errors(*device, exchange, field, 12).mean, 0.0, 0.01 * double{kSize});
    return 0;
  });
}

// To the particles and back, on the mean over faces and seeds: f = x^2 becomes f + f'' dx^2 / 6,
// half of it from either way.
TEST_P(FlipTransfers, AParabolaIsRaisedByASixth) {
  on_device(*device, [&]<class D>(D& d) {
    const Field field = [](Vec3 p) { return Vec3(p.x * p.x, p.y * p.y, p.z * p.z); };
    double sum = 0.0;
    for (unsigned seed = 10; seed < 14; ++seed) {
      Exchange<D> exchange(*device, d, block(12, seed), field);
      put_exact(*device, exchange, field);
      exchange.take(d, 0.0f, false);
      exchange.give(d, false);
      sum += errors(*device, exchange, field, 12).mean;
    }
    const double expected = 2.0 * static_cast<double>(kSize * kSize) / 6.0;
    EXPECT_NEAR(sum / 4.0, expected, 0.05 * expected);
    return 0;
  });
}

BARCHAN_ON_EACH_DEVICE(FlipTransfers);

}  // namespace
}  // namespace barchan
