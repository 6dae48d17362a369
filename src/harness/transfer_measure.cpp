#include "harness/transfer_measure.h"

#include <utility>

#include "base/error.h"
#include "cache/frame_file.h"
#include "compute/buffer.h"
#include "compute/cpu.h"
#include "geometry/aabb.h"
#include "solvers/flip/transfers.h"
#include "spatial/cells.h"
#include "spatial/tile_grid.h"

namespace barchan {

namespace {

// Particles and the grid around them, with one velocity component that counts: f along x.
class RoundTrip {
 public:
  RoundTrip(const std::vector<Vec3>& points, float size) : size_(size) {
    Buffer3 unsorted(device_);
    unsorted.upload(points);
    grid_.build(std::as_const(unsorted).view(), size, 2);
    permute(device_, std::as_const(unsorted).view(), grid_.order(), x_);
    v_.resize(points.size());
    const std::size_t cells = grid_.view().cells();
    for (int a = 0; a < 3; ++a) {
      faces_[a].resize(cells);
      nothing_[a].resize(cells);
      faces_[a].clear_to_zero();
      nothing_[a].clear_to_zero();
    }
    fill_.resize(cells);
    everywhere_.upload(std::vector<std::uint64_t>(cells / 64, ~std::uint64_t{0}));
  }

  // Middles of the faces across x [m].
  std::vector<Vec3> faces() const {
    const TileView tiles = grid_.view();
    std::vector<Vec3> middles;
    for (std::uint32_t c = 0; c < tiles.cells(); ++c) {
      middles.push_back(tiles.corner_of(c) + 0.5f * size_ * Vec3(0.0f, 1.0f, 1.0f));
    }
    return middles;
  }

  std::vector<float> there_and_back(const std::vector<float>& f) {
    faces_[0].upload(f);
    const flip::Carry pic_at_rest{0.0f, 1.0f / size_, 0.0f, 1.0f};
    Buffer3 moved(device_, x_.size());
    flip::CarryParticles take{grid_.view(),
                              read(faces_),
                              read(nothing_),
                              read(nothing_),
                              pic_at_rest,
                              x(),
                              v_.view(),
                              moved.view(),
                              {},
                              {},
                              {}};
    flip::carry(device_, take);
    flip::to_faces(device_,
                   flip::ToFaces{grid_.view(),
                                 x(),
                                 std::as_const(v_).view(),
                                 {},
                                 {{faces_[0].view(), faces_[1].view(), faces_[2].view()}},
                                 fill_.view()},
                   {std::as_const(everywhere_).view(), {}});
    return faces_[0].download();
  }

 private:
  View3<const float> x() const { return x_.view(); }
  static flip::ConstFaceView read(const Buffer<float> (&of)[3]) {
    return {{of[0].view(), of[1].view(), of[2].view()}};
  }

  Cpu device_{1};
  float size_;  // of a cell [m]
  TileGrid<Cpu> grid_{device_};
  Buffer3 x_{device_}, v_{device_};
  Buffer<float> faces_[3] = {Buffer<float>(device_), Buffer<float>(device_),
                             Buffer<float>(device_)};
  Buffer<float> nothing_[3] = {Buffer<float>(device_), Buffer<float>(device_),
                               Buffer<float>(device_)};
  Buffer<float> fill_{device_};
  Buffer<std::uint64_t> everywhere_{device_};
};

// Over faces whose particles have particles around them, too.
double mean_error(const std::vector<Vec3>& points, float size) {
  Aabb box;
  for (const Vec3& p : points) box = join(box, {Vec3d(p), Vec3d(p)});
  RoundTrip trip(points, size);
  const std::vector<Vec3> at = trip.faces();
  const auto middle = static_cast<float>(box.center().x);
  std::vector<float> f;
  for (const Vec3& face : at) f.push_back((face.x - middle) * (face.x - middle));
  const std::vector<float> back = trip.there_and_back(f);

  const Aabb amid = box.grown(-1.5 * static_cast<double>(size));
  double sum = 0.0, faces = 0.0;
  for (std::size_t c = 0; c < at.size(); ++c) {
    if (!amid.contains(Vec3d(at[c]))) continue;
    sum += static_cast<double>(back[c]) - static_cast<double>(f[c]);
    faces += 1.0;
  }
  if (faces == 0.0) reject("transfer: fewer than four cells of particles along an axis");
  return sum / faces;
}

}  // namespace

const std::vector<std::string>& transfer_keys() {
  static const std::vector<std::string> keys = {"error", "coefficient"};
  return keys;
}

double transfer_measure(const RunFolder& run, const std::string& key) {
  const LoadedFrame frame = read_frame(run.frame(0));
  const double size = 2.0 * frame.spacing;
  const double error = mean_error(frame.position, static_cast<float>(size));
  return key == "error" ? error : error / (2.0 * size * size);
}

}  // namespace barchan
