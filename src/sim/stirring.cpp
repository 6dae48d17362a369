#include "sim/stirring.h"

#include <algorithm>
#include <cmath>

#include "sim/crowd.h"
#include "sim/frame.h"
#include "sim/path_start.h"

namespace barchan {

namespace {

std::vector<Vec3d> free_places(const Pour& what, const SolidSet& solids, double spacing,
                               const State& state) {
  // Those who are in the way
  const HostColumn there = download(state.device(), state.column("position"));
  Crowd crowd(0.9 * spacing);
  for (std::size_t i = 0; i < there.size; ++i) {
    const Vec3d p(there.component<float>(0)[i], there.component<float>(1)[i],
                  there.component<float>(2)[i]);
    if (length(p - what.at) < what.radius + 2.0 * spacing) crowd.add(p);
  }

  // A lattice over the ball
  const int reach = std::min(static_cast<int>(what.radius / spacing), 32);
  std::vector<Vec3d> places;
  for (int k = -reach; k <= reach; ++k) {
    for (int j = -reach; j <= reach; ++j) {
      for (int i = -reach; i <= reach; ++i) {
        const Vec3d p = what.at + spacing * Vec3d(i, j, k);
        if (length(p - what.at) > what.radius || !crowd.has_room_at(p)) continue;
        bool buried = false;
        for (int s = 0; s < solids.count() && !buried; ++s) {
          buried = solids.buried(s, p, state.time, -0.5 * spacing);
        }
        if (!buried) places.push_back(p);
      }
    }
  }
  return places;
}

}  // namespace

std::size_t pour(const Pour& what, const SolidSet& solids, double spacing, State& state) {
  const std::vector<Vec3d> places = free_places(what, solids, spacing, state);
  const std::size_t n = places.size();
  if (n == 0) return 0;
  std::vector<HostColumn> columns;
  for (const char* name : {"position", "velocity", "id", "material", kPathStart}) {
    if (state.has(name)) columns.push_back(make_host_column(state.column(name).spec(), n));
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      columns[0].component<float>(axis)[i] = static_cast<float>(places[i][axis]);
      columns[1].component<float>(axis)[i] = static_cast<float>(what.velocity[axis]);
      if (columns.size() > 4)
        columns[4].component<float>(axis)[i] = static_cast<float>(places[i][axis]);
    }
    columns[2].component<std::uint64_t>(0)[i] = state.next_id + i;
    columns[3].component<std::uint8_t>(0)[i] = what.material;
  }
  state.max_speed = std::max(state.max_speed, length(what.velocity));
  state.append(n, columns);
  state.next_id += n;
  return n;
}

void push(const Push& what, State& state) {
  Snapshot all = take_snapshot(state);
  const auto find = [&](const char* name) -> HostColumn& {
    return *std::find_if(all.columns.begin(), all.columns.end(),
                         [&](const HostColumn& c) { return c.spec.name == name; });
  };
  const HostColumn& x = find("position");
  HostColumn& v = find("velocity");
  for (std::size_t i = 0; i < all.count; ++i) {
    Vec3d away = -what.at, speed;
    for (int axis = 0; axis < 3; ++axis) away[axis] += x.component<float>(axis)[i];
    const double share = 1.0 - length(away) / what.radius;
    if (!(share > 0.0)) continue;
    for (int axis = 0; axis < 3; ++axis) {
      v.component<float>(axis)[i] += static_cast<float>(share * what.velocity[axis]);
      speed[axis] = v.component<float>(axis)[i];
    }
    all.max_speed = std::max(all.max_speed, length(speed));
  }
  restore(all, state);
}

}  // namespace barchan
