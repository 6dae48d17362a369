#include "barchan/simulation.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/nearest_name.h"
#include "scene/scene.h"
#include "sim/driver.h"
#include "solvers/make_solver.h"

namespace barchan {

namespace {

// What a field's owner keeps: memory is given back to its device, so the device goes last.
struct Kept {
  std::shared_ptr<Device> device;
  std::shared_ptr<const Buffer<std::byte>> buffer;
};

Field describe(const ColumnSpec& spec, std::size_t size) {
  Field field;
  field.name = spec.name;
  field.type = spec.type;
  field.components = spec.components;
  field.size = size;
  return field;
}

// Of a GPU's memory the host sees a copy.
Field copied(Device& device, const Column& column) {
  auto host = std::make_shared<HostColumn>(download(device, column));
  Field field = describe(column.spec(), column.size());
  field.stride = component_stride(host->size);
  field.data = host->data.get();
  field.owner = std::move(host);
  return field;
}

Field shared(const std::shared_ptr<Device>& device, const Column& column) {
  Field field = describe(column.spec(), column.size());
  field.stride = column.stride();
  field.data = column.data();
  field.owner = std::make_shared<Kept>(Kept{device, column.buffer()});
  return field;
}

std::array<double, 3> numbers(const Vec3d& v) {
  return {v.x, v.y, v.z};
}

}  // namespace

struct Simulation::Parts {
  Parts(Scene read, const Options& options)
      : scene(std::move(read)),
        device(make_device(options.device, options.threads)),
        solver(make_solver(scene, *device)),
        driver(scene, *device, *solver) {}

  Field field(const std::string& name) const {
    const Column& column = driver.state().column(name);
    return device->on_host() ? shared(device, column) : copied(*device, column);
  }

  Scene scene;
  std::shared_ptr<Device> device;
  std::unique_ptr<Solver> solver;
  Driver driver;
};

Simulation::Simulation(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Simulation::Simulation(const std::string& scene) : Simulation(scene, Options()) {}
Simulation::Simulation(const std::string& scene, const Options& options)
    : parts_(std::make_unique<Parts>(load_scene(scene, options.settings), options)) {}
Simulation Simulation::from_toml(const std::string& text, const std::string& name) {
  return from_toml(text, name, Options());
}
Simulation Simulation::from_toml(const std::string& text, const std::string& name,
                                 const Options& options) {
  return Simulation(std::make_unique<Parts>(read_scene(text, name, options.settings), options));
}
Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

StepInfo Simulation::step() {
  const StepReport report = parts_->driver.step_within_frame();
  return {report.dt_used, report.iterations, report.density_error_max, report.divergence_max,
          report.max_speed};
}

void Simulation::advance_frame() {
  const std::int64_t next = frame() + 1;
  while (frame() < next) step();
}

void Simulation::run_until(double time, const std::function<bool()>& each_step) {
  while (this->time() < time) {
    step();
    if (!each_step()) return;
  }
}

double Simulation::time() const {
  return parts_->driver.state().time;
}
std::int64_t Simulation::frame() const {
  return parts_->driver.state().frame;
}
std::size_t Simulation::size() const {
  return parts_->driver.state().size();
}
double Simulation::duration() const {
  return parts_->scene.general.duration;
}
double Simulation::spacing() const {
  return parts_->scene.general.resolution;
}
std::string Simulation::scene() const {
  return to_toml(parts_->scene);
}

Field Simulation::positions() const {
  return parts_->field("position");
}
Field Simulation::velocities() const {
  return parts_->field("velocity");
}
Field Simulation::ids() const {
  return parts_->field("id");
}
Field Simulation::materials() const {
  return parts_->field("material");
}

Field Simulation::field(const std::string& name) const {
  const std::vector<std::string> names = field_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    const std::string nearest = nearest_name(name, names);
    reject("no field '{}': {} has {}{}", name, parts_->scene.general.solver, fmt::join(names, ", "),
           nearest.empty() ? "" : "; did you mean '" + nearest + "'?");
  }
  return parts_->field(name);
}

std::vector<std::string> Simulation::field_names() const {
  std::vector<std::string> names;
  for (const Column& column : parts_->driver.state().columns()) {
    if (column.spec().in_frames) names.push_back(column.spec().name);
  }
  return names;
}

std::vector<std::string> Simulation::material_names() const {
  std::vector<std::string> names;
  for (const Material& material : parts_->scene.materials) names.push_back(material.name);
  return names;
}

std::vector<Body> Simulation::bodies() const {
  std::vector<Body> bodies;
  for (const BodyState& body : parts_->driver.state().bodies) {
    const Quatd& q = body.orientation;
    bodies.push_back({body.name,
                      numbers(body.position),
                      {q.w, q.x, q.y, q.z},
                      numbers(body.velocity),
                      numbers(body.angular_velocity)});
  }
  return bodies;
}

void Simulation::set_velocities(const std::vector<float>& xyz) {
  const std::size_t n = size();
  if (xyz.size() != 3 * n) {
    reject("velocities of {} particles are {} numbers, not {}", n, 3 * n, xyz.size());
  }
  std::vector<float> split(3 * n);
  double fastest = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const Vec3d v(xyz[3 * i], xyz[3 * i + 1], xyz[3 * i + 2]);
    if (!is_finite(v)) reject("the velocity of particle {} is not finite", i);
    fastest = std::max(fastest, length(v));
    for (std::size_t axis = 0; axis < 3; ++axis) split[axis * n + i] = xyz[3 * i + axis];
  }
  parts_->driver.disturb([&](State& state) {
    const View3<float> v = state.write_velocity();
    parts_->device->upload(v.x, split.data(), n * sizeof(float));
    parts_->device->upload(v.y, split.data() + n, n * sizeof(float));
    parts_->device->upload(v.z, split.data() + 2 * n, n * sizeof(float));
    state.max_speed = fastest;
  });
}

}  // namespace barchan
