#include "sim/measures.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>
#include <utility>

#include "compute/dispatch.h"
#include "compute/parallel.h"
#include "sim/measure_kernels.h"

namespace barchan {

// Defined in measures_impl.h, compiled in measures_cpu.cpp and measures_cuda.cu.
template <class Device>
VitalSigns vitals_on(Device& device, const State& state);
template <class Device>
ParticleSums sums_on(Device& device, const State& state, View<const double> mass_of);
template <class Device>
double volume_on(Device& device, const State& state, float spacing, float lattice_sum);

Vitals measure_vitals(const State& state) {
  const VitalSigns signs =
      on_device(state.device(), [&](auto& device) { return vitals_on(device, state); });
  return {std::sqrt(static_cast<double>(signs.max_speed_squared)),
          signs.first_bad == ~0u ? -1 : static_cast<std::int64_t>(signs.first_bad)};
}

Totals measure_totals(const State& state, const std::vector<double>& masses, const Vec3d& gravity) {
  Buffer<double> mass_of(state.device());
  mass_of.upload(masses);
  const ParticleSums sums = on_device(state.device(), [&](auto& device) {
    return sums_on(device, state, std::as_const(mass_of).view());
  });
  return {sums.mass, sums.momentum, sums.kinetic_energy, -dot(gravity, sums.mass_times_position)};
}

double lattice_sum(double spacing) {
  const CubicSpline W(static_cast<float>(2.0 * spacing));
  double sum = 0.0;
  for (int z = -2; z <= 2; ++z) {
    for (int y = -2; y <= 2; ++y) {
      for (int x = -2; x <= 2; ++x) {
        sum += static_cast<double>(
            W.w(static_cast<float>(spacing * std::sqrt(x * x + y * y + z * z))));
      }
    }
  }
  return sum * spacing * spacing * spacing;
}

double measure_volume(const State& state, double spacing) {
  if (state.size() == 0) return 0.0;
  return on_device(state.device(), [&](auto& device) {
    return volume_on(device, state, static_cast<float>(spacing),
                     static_cast<float>(lattice_sum(spacing)));
  });
}

std::int64_t count_leaks(const State& state, const SolidSet& solids, double margin) {
  if (solids.count() == 0) return 0;
  const HostColumn position = download(state.device(), state.column("position"));
  const float* x = position.component<float>(0);
  const float* y = position.component<float>(1);
  const float* z = position.component<float>(2);
  const auto buried = [&](std::size_t i) {
    const Vec3d p(x[i], y[i], z[i]);
    for (int s = 0; s < solids.count(); ++s) {
      if (solids.buried(s, p, state.time, margin)) return true;
    }
    return false;
  };
  // On the host, whatever the device: this is to be other code than what keeps particles out.
  constexpr std::size_t kBlock = 16384;
  const int threads = state.device().threads();
  const ThreadPool pool(threads > 0 ? threads
                                    : static_cast<int>(std::thread::hardware_concurrency()));
  std::atomic<std::int64_t> leaks = 0;
  pool.parallel_blocks((position.size + kBlock - 1) / kBlock, [&](std::size_t b) {
    std::int64_t here = 0;
    const std::size_t end = std::min(position.size, (b + 1) * kBlock);
    for (std::size_t i = b * kBlock; i < end; ++i) here += buried(i) ? 1 : 0;
    leaks += here;
  });
  return leaks;
}

}  // namespace barchan
