#include "api/pictures.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/units.h"
#include "cache/run_folder.h"
#include "geometry/solid.h"
#include "render/color_map.h"
#include "render/denoise.h"
#include "render/looks.h"
#include "render/overlay.h"
#include "render/solid_models.h"
#include "sim/initial_state.h"
#include "surface/surface.h"

namespace barchan {

namespace fs = std::filesystem;

namespace {

// What a quality stands for.
struct Effort {
  int samples;  // a pixel
  int moments;  // of an open shutter
  int bounces, splits;
  float least;
  int photons;  // from the sun, for each moment
};
Effort effort_of(const RenderParams& params) {
  const bool final = params.quality == "final";
  Effort effort = final ? Effort{96, 16, 6, 4, 0.0f, 1600000} : Effort{4, 4, 1, 2, 0.12f, 150000};
  if (params.samples > 0) effort.samples = params.samples;
  effort.moments = params.shutter > 0.0 ? std::min(effort.moments, effort.samples) : 1;
  return effort;
}

// A box around a dynamic body, however it is turned; nothing for other solids.
Aabb bounds_of(const Scene& scene, const BodyState& body) {
  for (const SceneSolid& solid : scene.solids) {
    if (solid.params.name != body.name || solid.params.motion != "dynamic") continue;
    const double reach = 0.5 * length(bounds(solid.shape.shape).extent());
    return Aabb{body.position, body.position}.grown(reach);
  }
  return {};
}

// What the camera should see: containers, and the particles and bodies of a few frames of the whole
// run, whatever part of it is drawn. And what stands on the ground: the same without bodies, whose
// boxes have room for every way to be turned.
struct Subject {
  Aabb seen, standing;
};

Subject subject_of(const Scene& scene, const RunFolder& run) {
  Subject subject;
  for (const SceneSolid& solid : scene.solids) {
    const Aabb around = bounds(solid.shape.shape);
    if (around.is_bounded() && solid.params.inside_out) {
      subject.standing = join(subject.standing, around);
    }
  }
  const std::vector<std::int64_t> frames = run.frames();
  const std::size_t every = std::max<std::size_t>(1, frames.size() / 8);
  for (std::size_t f = 0; f < frames.size(); f += every) {
    try {
      const LoadedFrame frame = read_frame(run.frame(frames[f]));
      for (const Vec3& p : frame.position) {
        if (is_finite(p)) subject.standing = join(subject.standing, Aabb{Vec3d(p), Vec3d(p)});
      }
      for (const BodyState& body : frame.bodies) {
        subject.seen = join(subject.seen, bounds_of(scene, body));
      }
    } catch (const Error&) {
      continue;  // said when its picture is due
    }
  }
  subject.seen = join(subject.seen, subject.standing);
  if (subject.standing.is_empty()) subject.standing = subject.seen;
  return subject;
}

// The height of the lowest corner of a box, or of 0 where it has none.
double lowest(const Aabb& box, const Vec3d& up) {
  if (box.is_empty() || !box.is_bounded()) return 0.0;
  double least = Aabb::kEndless;
  for (int corner = 0; corner < 8; ++corner) {
    const Vec3d p((corner & 1) ? box.hi.x : box.lo.x, (corner & 2) ? box.hi.y : box.lo.y,
                  (corner & 4) ? box.hi.z : box.lo.z);
    least = std::min(least, dot(p, up));
  }
  return least;
}

// The value that 99.5 % of a frame's particles do not exceed.
double high_value(std::vector<float> values) {
  if (values.empty()) return 0.0;
  const auto rank = static_cast<std::ptrdiff_t>(0.995 * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<std::size_t>(rank)];
}

std::vector<float> speeds(const LoadedFrame& frame) {
  std::vector<float> values;
  for (const Vec3& v : frame.velocity) {
    if (is_finite(v)) values.push_back(length(v));
  }
  return values;
}

// The top of the colour scale, rounded to a number people like: a few drops that are thrown much
// faster than the rest do not take the colours from all others. Of the whole run, whatever part of
// it is drawn.
double top_speed(const RunFolder& run) {
  const std::vector<std::int64_t> frames = run.frames();
  const std::size_t every = std::max<std::size_t>(1, frames.size() / 16);
  double fastest = 0.0;
  for (std::size_t f = 0; f < frames.size(); f += every) {
    try {
      fastest = std::max(fastest, high_value(speeds(read_frame(run.frame(frames[f])))));
    } catch (const Error&) {
      continue;  // said when its picture is due
    }
  }
  if (!(fastest > 1e-6)) return 1.0;
  const double unit = std::pow(10.0, std::floor(std::log10(fastest)));
  return std::ceil(fastest / unit * 2.0) / 2.0 * unit;
}

std::string chosen_look(const Scene& scene) {
  if (scene.render.look != "auto") return scene.render.look;
  if (scene.general.solver == "dem") return "grains";
  const bool fluids = std::all_of(scene.materials.begin(), scene.materials.end(),
                                  [](const auto& m) { return m.params.friction_angle == 0.0; });
  return fluids ? "water" : "sand";
}

Camera camera_at(const CameraParams& params, const Camera& still, double time) {
  Camera camera = still;
  if (!params.keyframes.empty()) {
    const CameraKey key = interpolated(params.keyframes, time);
    camera.eye = key.position;
    camera.target = key.target;
  }
  return camera;
}

}  // namespace

struct Pictures::Studio {
  Scene scene;
  std::string name;  // of the run
  std::string look;
  Effort effort;
  Cpu device;
  SolidSet solids;
  Camera still;  // without keyframes
  StageView view;
  Vec3 ahead;  // where the camera looks first: a camera that moves does not take the sun along
  std::unique_ptr<SolidModels> models;
  double top = 0.0;               // of the colour scale
  std::vector<Vec3> birthplaces;  // by id [m]

  Studio(const fs::path& folder, const Scene& scene_, int threads)
      : scene(scene_),
        name(fs::canonical(folder).filename().string()),
        look(chosen_look(scene_)),
        effort(effort_of(scene_.render)),
        device(threads > 0 ? threads : make_cpu_device()->threads()),
        solids(make_solids(scene, device)) {
    const Subject subject = subject_of(scene, RunFolder(folder));
    const double aspect = static_cast<double>(scene.render.width) / scene.render.height;
    still = fit_camera(subject.seen, scene.up(), radians(scene.camera.fov), aspect);
    if (is_set(scene.camera.target)) still.target = scene.camera.target;
    if (is_set(scene.camera.position)) still.eye = scene.camera.position;
    const Camera first = camera_at(scene.camera, still, 0.0);
    if (!(length(first.target - first.eye) > 0.0)) {
      reject("the camera looks nowhere: its position and its target are the same point");
    }
    view = {first.target, scene.up(), length(first.target - first.eye),
            lowest(subject.standing, scene.up())};
    ahead = Vec3(first.target - first.eye);
    models = std::make_unique<SolidModels>(solids, view);
    if (look == "particles" && scene.render.color_by == "speed") top = top_speed(RunFolder(folder));
    if (look == "sand" && !RunFolder(folder).frames().empty()) remember_births(folder);
  }

  // Where particles were in the run's first frame. Those that come later count as born where their
  // number puts them, all in one place: they share the coarse texture, not the grains.
  void remember_births(const fs::path& folder) {
    try {
      const LoadedFrame frame = read_frame(RunFolder(folder).frame(RunFolder(folder).frames()[0]));
      for (std::size_t i = 0; i < frame.size(); ++i) {
        if (frame.id[i] >= birthplaces.size() && frame.id[i] < 16 * frame.size() + 1024) {
          birthplaces.resize(frame.id[i] + 1);
        }
        if (frame.id[i] < birthplaces.size()) birthplaces[frame.id[i]] = frame.position[i];
      }
    } catch (const Error&) {
      return;  // said when its picture is due
    }
  }

  // Dynamic bodies stand where the frame says, and move on as it says; the others know themselves.
  void place_bodies(const LoadedFrame& frame, double shift) {
    for (const BodyState& body : frame.bodies) {
      const int s = solids.find(body.name);
      if (s < 0 || solids[s].drive != SolidDrive::dynamic) continue;
      const Pose pose{body.position + shift * body.velocity,
                      integrate(body.orientation, body.angular_velocity, shift)};
      solids.set_dynamic(s, frame.time + shift, pose, frame.time + shift, pose);
    }
  }

  std::vector<Vec3> material_colors(const LoadedFrame& frame) const {
    std::vector<Vec3> of;
    for (const Material& material : scene.materials) of.emplace_back(material.params.color);
    std::vector<Vec3> colors(frame.size());
    for (std::size_t i = 0; i < frame.size(); ++i) {
      const std::size_t m = frame.material[i];
      colors[i] = m < of.size() ? of[m] : Vec3(0.5f, 0.5f, 0.5f);
    }
    return colors;
  }

  // A colour for each particle, by what [render] color_by says.
  std::vector<Vec3> particle_colors(const LoadedFrame& frame) const {
    const ColorMap map;
    std::vector<Vec3> colors = material_colors(frame);
    const ExtraColumn* density = frame.find("density");
    if (scene.render.color_by == "speed") {
      for (std::size_t i = 0; i < frame.size(); ++i) {
        colors[i] = map(static_cast<float>(length(frame.velocity[i]) / top));
      }
    } else if (scene.render.color_by == "density" && density) {
      // From a tenth below the material's density to a tenth above it
      for (std::size_t i = 0; i < frame.size(); ++i) {
        const std::size_t m = std::min<std::size_t>(frame.material[i], scene.materials.size() - 1);
        const double rest = scene.materials[m].params.density;
        colors[i] = map(static_cast<float>(5.0 * (density->as<float>()[i] / rest - 0.9)));
      }
    }
    return colors;
  }

  void add_material(const LoadedFrame& frame, const std::vector<Vec3>& position, double time,
                    TraceScene& world) {
    if (look == "water") return add_fluid(frame, position, time, world);
    if (look == "sand") {
      std::vector<Vec3> born(frame.size());
      for (std::size_t i = 0; i < frame.size(); ++i) {
        if (frame.id[i] < birthplaces.size()) born[i] = birthplaces[frame.id[i]];
      }
      const std::vector<Vec3> colors = material_colors(frame);
      return add_sand({position, frame.id, born, colors, frame.spacing}, view.origin, world);
    }
    const bool grains = look == "grains";
    if (grains && frame.find("spheres/position")) return add_grains(frame, position, world);
    const std::vector<Vec3> colors = grains ? material_colors(frame) : particle_colors(frame);
    const std::vector<float> radius(frame.size(), static_cast<float>(0.5 * frame.spacing));
    add_balls(position, radius, colors, view.origin, grains ? 0.4f : 0.0f, world);
  }

  // The spheres that grains are made of; they have moved on as their grain has.
  void add_grains(const LoadedFrame& frame, const std::vector<Vec3>& position, TraceScene& world) {
    const ExtraColumn* places = frame.find("spheres/position");
    const ExtraColumn* radii = frame.find("spheres/radius");
    const ExtraColumn* owners = frame.find("spheres/grain");
    if (!radii || !owners || radii->size != places->size || owners->size != places->size ||
        places->components != 3 || places->type != Type::f32 || radii->type != Type::f32 ||
        owners->type != Type::u32) {
      fail(
          "frame {}: its group 'spheres' needs position (M, 3) f32, radius (M) f32 and grain (M) "
          "u32",
          frame.index);
    }
    const std::vector<Vec3> of_grain = material_colors(frame);
    std::vector<Vec3> centers(places->size), colors(places->size);
    for (std::size_t i = 0; i < places->size; ++i) {
      const std::size_t grain = owners->as<std::uint32_t>()[i];
      if (grain >= frame.size()) fail("frame {}: sphere {} belongs to no grain", frame.index, i);
      const float* x = places->as<float>() + 3 * i;
      centers[i] = Vec3(x[0], x[1], x[2]) + (position[grain] - frame.position[grain]);
      colors[i] = of_grain[grain];
    }
    add_balls(centers, {radii->as<float>(), radii->size}, colors, view.origin, 0.4f, world);
  }

  void add_fluid(const LoadedFrame& frame, const std::vector<Vec3>& position, double time,
                 TraceScene& world) {
    const SurfaceInput input{position, frame.velocity, frame.spacing, frame.surface_radius};
    SurfaceMesh surface = make_surface(input, scene.surface, device);
    TraceMesh mesh{std::move(surface.vertices), std::move(surface.normals),
                   std::move(surface.triangles)};
    for (Vec3& v : mesh.vertices) v = Vec3(Vec3d(v) - view.origin);
    models->wet(solids, time, frame.spacing, device.pool(), mesh);
    const double clarity =
        is_set(scene.render.clarity) ? scene.render.clarity : 0.3 * view.distance;
    const Vec3 color(scene.materials.empty() ? Vec3d(0.1, 0.35, 0.6)
                                             : scene.materials[0].params.color);
    add_water(std::move(mesh), color, clarity, world);
  }

  AreaLight area_light(const LightParams& light) const {
    const Vec3d front = normalized(light.target - light.position);
    const Vec3d side = cross(scene.up(), front);
    const Vec3d along = length(side) > 1e-6 ? normalized(side) : Vec3d(1, 0, 0);
    const Vec3d across = cross(front, along);
    return {Vec3(light.position - view.origin), Vec3(0.5 * light.width * along),
            Vec3(0.5 * light.height * across), Vec3(light.strength * light.color)};
  }

  // The world `shift` [s] after the frame.
  TraceScene world_at(const LoadedFrame& frame, double shift, const Camera& camera) {
    TraceScene world;
    world.size = static_cast<float>(view.distance);
    world.light = daylight(Vec3(scene.up()), ahead);
    if (is_set(scene.render.sun)) {
      world.light.to_sun = normalized(Vec3(scene.render.sun), world.light.to_sun);
    }
    for (const LightParams& light : scene.lights) world.light.areas.push_back(area_light(light));
    std::vector<Vec3> position = frame.position;
    if (shift != 0.0) {
      for (std::size_t i = 0; i < position.size(); ++i) {
        position[i] += static_cast<float>(shift) * frame.velocity[i];
      }
    }
    const double time = frame.time + shift;
    place_bodies(frame, shift);
    models->place(solids, time, camera.eye, world);
    add_material(frame, position, time, world);
    world.build();
    world.cast_caustics(effort.photons / effort.moments, device.pool());
    return world;
  }
};

Pictures::Pictures(const fs::path& folder, const Scene& scene, int threads)
    : studio_(std::make_unique<Studio>(folder, scene, threads)) {}

Pictures::~Pictures() = default;

const std::string& Pictures::look() const {
  return studio_->look;
}

LightImage Pictures::light(const LoadedFrame& frame) {
  Studio& s = *studio_;
  const RenderParams& params = s.scene.render;
  const double open = params.shutter / s.scene.general.fps;
  Film film(params.width, params.height);
  int taken = 0;
  for (int k = 0; k < s.effort.moments; ++k) {
    // In the middle of its part of the time that the shutter is open, around the frame
    const double shift = open * ((k + 0.5) / s.effort.moments - 0.5);
    const int goal = s.effort.samples * (k + 1) / s.effort.moments;
    const Camera camera = camera_at(s.scene.camera, s.still, frame.time + shift);
    Projection eye = make_projection(camera, params.width, params.height);
    eye.eye = eye.eye - s.view.origin;
    const TraceScene world = s.world_at(frame, shift, camera);
    TraceSettings settings;
    settings.bounces = s.effort.bounces;
    settings.splits = s.effort.splits;
    settings.least = s.effort.least;
    settings.ambient = 0.35f * (world.light.zenith + world.light.horizon);
    settings.brightest = 6.0f;
    film.expose(world, settings, eye, goal - taken, s.device.pool());
    taken = goal;
  }
  return denoised(film.means(), s.device.pool());
}

Image Pictures::picture(const LightImage& light, const LoadedFrame& frame) const {
  const Studio& s = *studio_;
  Image image =
      tone_mapped(light, static_cast<float>(std::exp2(s.scene.render.exposure)), s.device.pool());
  if (s.look != "particles") return image;
  draw_caption(image, fmt::format("{}   frame {}   t = {:.3f} s", s.name, frame.index, frame.time));
  const Projection view =
      make_projection(camera_at(s.scene.camera, s.still, frame.time), light.width, light.height);
  draw_scale_bar(image, view.focal / s.view.distance);
  if (s.top > 0.0) draw_color_bar(image, ColorMap(), s.top);
  return image;
}

}  // namespace barchan
