// The CPU's volume kernel against the generic one that GPUs run.
#include <gtest/gtest.h>

#include <random>

#include "compute/cpu.h"
#include "sim/measure_kernels_cpu.h"
#include "sim/measures_impl.h"

namespace barchan {
namespace {

TEST(Volumes, CpuKernelEqualsTheGenericOne) {
  Cpu device(2);
  std::mt19937 random(3);
  std::uniform_real_distribution<float> in(0.0f, 0.5f);
  std::vector<Vec3> points(6000);
  for (Vec3& p : points) p = {in(random), in(random), in(random)};
  points.resize(6300, points[17]);  // a crowd in one place
  Buffer3 x(device), sorted(device);
  x.upload(points);
  const float support = 0.05f;
  CellSort<Cpu> cells(device);
  cells.sort(std::as_const(x).view(), support);
  permute(device, std::as_const(x).view(), cells.order(), sorted);
  const View3<const float> s = std::as_const(sorted).view();
  const auto n = static_cast<std::int64_t>(points.size());

  Buffer<float> fast(device, points.size()), plain(device, points.size());
  Buffer<std::uint32_t> table(device);
  const RunsView runs = find_runs(device, "runs", cells.cells(), cells.cells(), table);
  for_each(device, "plain", n, ParticleVolume{runs, s, CubicSpline(support), 1.0f, plain.view()});
  for_each_range(device, "fast", static_cast<std::int64_t>(cells.cells().key.size), kCellsPerBlock,
                 VolumesByCell{cells.cells(), s, CubicSpline(support), 1.0f, fast.view()});
  const std::vector<float> a = fast.download(), b = plain.download();
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-4f * b[i]);
}

}  // namespace
}  // namespace barchan
