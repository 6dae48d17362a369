#include "sim/initial_state.h"

#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "base/units.h"
#include "geometry/covering.h"
#include "geometry/fill.h"

namespace barchan {

namespace {

bool inside_any_solid(const SolidSet& solids, const Vec3d& point) {
  for (int s = 0; s < solids.count(); ++s) {
    if (solids.buried(s, point, 0.0, 0.0)) return true;
  }
  return false;
}

// Grains must not reach into solids at the start, or they would be thrown out of them.
void keep_clear(const SolidSet& solids, double radius, std::vector<Vec3>& points) {
  for (int s = 0; s < solids.count(); ++s) {
    const Solid& solid = solids[s];
    const Vec3d origin = natural_origin(solid.shape);
    const SdfProgram program = compile(solid.shape, origin, solids.mesh_voxel());
    const Pose pose = solids.pose(s, 0.0);
    const double sign = solid.inside_out ? -1.0 : 1.0;
    std::erase_if(points, [&](const Vec3& p) {
      const Vec3 local(pose.to_local(Vec3d(p)) - origin);
      const float d = distance_only(program.begin(), program.end(), local);
      return sign * static_cast<double>(d) < radius;
    });
  }
}

// Two fills may touch; a particle more than half a spacing deep in an earlier fill is an overlap.
void check_overlap(const Scene& scene, std::size_t later, const std::vector<Vec3>& points) {
  const double margin = 0.5 * scene.general.resolution;
  for (std::size_t earlier = 0; earlier < later; ++earlier) {
    const Shape& shape = scene.fills[earlier].shape.shape;
    const Aabb box = bounds(shape);
    const auto inside = std::count_if(points.begin(), points.end(), [&](const Vec3& p) {
      return box.contains(Vec3d(p)) && deeper_than(shape, Vec3d(p), margin);
    });
    if (inside > 0) {
      reject(
          "{}: fill {} overlaps fill {} ({} particles); move one, or take the other away from it "
          "with difference = [a, b]",
          scene.fills[later].place, later + 1, earlier + 1,
          human_count(static_cast<std::uint64_t>(inside)));
    }
  }
}

std::vector<Vec3> fill_points(const Scene& scene, std::size_t number, const SolidSet& solids,
                              std::uint64_t first_id) {
  const Fill& fill = scene.fills[number];
  const FillSettings settings{scene.general.resolution, fill.params.sampling == "jittered",
                              fill.params.jitter, scene.general.seed, first_id};
  std::vector<Vec3> points;
  if (fill.params.sampling == "covering") {
    const double radius = 0.5 * scene.general.resolution;
    for (const Vec3d& p : cover(fill.shape.shape, radius, scene.general.seed).points) {
      points.emplace_back(p);
    }
  } else {
    points = fill_shape(fill.shape.shape, settings);
  }
  const std::size_t in_shape = points.size();
  std::erase_if(points, [&](const Vec3& p) { return inside_any_solid(solids, Vec3d(p)); });
  if (scene.general.solver == "dem") {
    constexpr double kHair = 0.99;  // a grain may just touch
    const auto material = static_cast<std::size_t>(fill.material);
    keep_clear(solids, kHair * solver_setup(scene).grain_radii(material).second, points);
  }
  if (in_shape == 0) {
    reject(
        "{}: fill {} holds no particle: its shape is smaller than the spacing of {} m; use a "
        "smaller resolution",
        fill.place, number + 1, scene.general.resolution);
  }
  if (points.empty()) {
    reject(
        "{}: fill {} lies inside a solid as a whole; move it, or set inside_out = true on its "
        "container",
        fill.place, number + 1);
  }
  check_overlap(scene, number, points);
  return points;
}

// Particles that the boxes around the fills would hold, against the machine's memory: a resolution
// with one zero too many should get a sentence, not the system's out-of-memory killer.
void check_memory(const Scene& scene) {
  constexpr double kBytesEach = 100.0;  // two states and the points as they are made
  const double spacing = scene.general.resolution;
  double particles = 0.0;
  for (const Fill& fill : scene.fills) {
    const Vec3d size = bounds(fill.shape.shape).extent();
    particles += size.x * size.y * size.z / (spacing * spacing * spacing);
  }
  const double memory =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (particles * kBytesEach > memory) {
    reject(
        "{}: resolution = {} m asks for about {:.2g} particles, more than this machine's memory "
        "holds; use a coarser resolution or smaller fills",
        scene.fills.front().place, spacing, particles);
  }
}

}  // namespace

namespace {

// The shape is moved so that its centre of mass is the origin of its own frame, which starts where
// that was.
void make_dynamic(const SceneSolid& from, Solid& solid) {
  solid.drive = SolidDrive::dynamic;
  solid.mass = mass_properties(solid.shape, from.params.density);
  solid.start.position = solid.mass.center;
  solid.shape = placed(std::move(solid.shape), {-solid.mass.center, Quatd::identity()});
  solid.mass.center = {};
  solid.velocity = from.params.velocity;
  solid.angular_velocity = from.params.angular_velocity;
}

}  // namespace

namespace {

std::vector<Solid> describe_solids(const Scene& scene) {
  std::vector<Solid> solids;
  for (const SceneSolid& from : scene.solids) {
    Solid solid;
    solid.name = from.params.name;
    solid.shape = from.shape.shape;
    solid.inside_out = from.params.inside_out;
    solid.friction = from.params.friction;
    solid.restitution = from.params.restitution;
    if (from.params.motion == "keyframes") {
      solid.drive = SolidDrive::keyframes;
      solid.motion = Motion(from.keyframes);
    }
    if (from.params.motion == "dynamic") make_dynamic(from, solid);
    solids.push_back(std::move(solid));
  }
  return solids;
}

// The place of an endless shape that is nearest to a point [m].
Vec3d nearest_on(const Shape& shape, const Vec3d& point) {
  const SdfProgram program = compile(shape, point);
  const Distance at = distance(program.begin(), program.end(), {});
  return point - static_cast<double>(at.d) * Vec3d(at.gradient);
}

// What the scene's bounded shapes take up, and the places of endless ones that are nearest to it,
// within 400 spacings: what is poured or falls ends there.
//
// And around it what material that runs out over an endless floor may reach: three times the size,
// but not so much that a large scene would get too many samples.
Aabb stage_of(const Scene& scene) {
  const double spacing = scene.general.resolution;
  Aabb stage;
  const auto add = [&](const Shape& shape) {
    const Aabb box = bounds(shape);
    if (box.is_bounded()) stage = join(stage, box);
  };
  for (const Fill& fill : scene.fills) add(fill.shape.shape);
  for (const SceneSolid& solid : scene.solids) add(solid.shape.shape);
  for (const Emitter& emitter : scene.emitters) add(emitter.shape.shape);
  if (stage.is_empty()) return stage;
  const Vec3d middle = stage.center();
  for (const SceneSolid& solid : scene.solids) {
    if (bounds(solid.shape.shape).is_bounded()) continue;
    const Vec3d foot = nearest_on(solid.shape.shape, middle);
    if (length(foot - middle) < 400.0 * spacing) stage = join(stage, {foot, foot});
  }
  const Vec3d size = stage.extent();
  const double largest = std::max({size.x, size.y, size.z});
  return stage.grown(std::min(3.0 * largest, 200.0 * spacing));
}

}  // namespace

SolverSetup solver_setup(const Scene& scene) {
  SolverSetup setup;
  setup.spacing = scene.general.resolution;
  setup.gravity = scene.general.gravity;
  setup.seed = scene.general.seed;
  for (const Material& material : scene.materials) setup.materials.push_back(material.params);
  setup.solids = describe_solids(scene);
  setup.stage = stage_of(scene);
  if (scene.general.solver == "dem") {
    for (const Material& material : scene.materials) {
      setup.grains.push_back(make_grain(material.grain));
    }
  }
  return setup;
}

SolidSet make_solids(const Scene& scene, Device& device) {
  return SolidSet(describe_solids(scene), device, 0.5 * scene.general.resolution);
}

void fill_state(const Scene& scene, const SolidSet& solids, State& state) {
  check_memory(scene);
  std::vector<std::vector<Vec3>> points;
  std::size_t count = 0;
  for (std::size_t f = 0; f < scene.fills.size(); ++f) {
    points.push_back(fill_points(scene, f, solids, count));
    count += points.back().size();
  }
  if (count > (std::size_t{1} << 31) - 1) reject("{} particles are more than 2^31", count);

  std::vector<HostColumn> columns;
  for (const char* name : {"position", "velocity", "id", "material"}) {
    columns.push_back(make_host_column(state.column(name).spec(), count));
  }
  std::size_t i = 0;
  for (std::size_t f = 0; f < points.size(); ++f) {
    const Fill& fill = scene.fills[f];
    const Aabb box = bounds(fill.shape.shape);
    const Vec3d middle = 0.5 * (box.lo + box.hi);
    for (const Vec3& p : points[f]) {
      const Vec3d v = fill.params.velocity + cross(fill.params.angular_velocity, Vec3d(p) - middle);
      for (int axis = 0; axis < 3; ++axis) {
        columns[0].component<float>(axis)[i] = p[axis];
        columns[1].component<float>(axis)[i] = static_cast<float>(v[axis]);
      }
      columns[2].component<std::uint64_t>(0)[i] = i;
      columns[3].component<std::uint8_t>(0)[i] = static_cast<std::uint8_t>(fill.material);
      ++i;
    }
  }
  state.assign(count, columns);
  state.next_id = count;
}

}  // namespace barchan
