// The module _barchan: barchan::Simulation for Python, its fields as NumPy arrays without a copy.
// barchan/__init__.py makes it pleasant.
#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "barchan/error.h"
#include "barchan/simulation.h"
#include "barchan/version.h"

namespace py = pybind11;
using barchan::Body;
using barchan::Field;
using barchan::Simulation;
using barchan::StepInfo;

namespace {

py::dtype dtype_of(barchan::Type type) {
  switch (type) {
    case barchan::Type::f32:
      return py::dtype::of<float>();
    case barchan::Type::f64:
      return py::dtype::of<double>();
    case barchan::Type::u8:
      return py::dtype::of<std::uint8_t>();
    case barchan::Type::u32:
      return py::dtype::of<std::uint32_t>();
    case barchan::Type::u64:
      return py::dtype::of<std::uint64_t>();
  }
  throw py::type_error("a field of an unknown type");
}

// (N, components), or (N,) for one number a particle. It reads the simulation's own memory, which
// its base keeps alive; nobody may write there.
py::array view(const Field& field) {
  const py::dtype type = dtype_of(field.type);
  const auto bytes = static_cast<py::ssize_t>(type.itemsize());
  std::vector<py::ssize_t> shape = {static_cast<py::ssize_t>(field.size)}, strides = {bytes};
  if (field.components > 1) {
    shape.push_back(field.components);
    strides.push_back(static_cast<py::ssize_t>(field.stride) * bytes);
  }
  using Owner = std::shared_ptr<const void>;
  const py::capsule base(new Owner(field.owner), [](void* p) { delete static_cast<Owner*>(p); });
  py::array array(type, shape, strides, field.data, base);
  array.attr("flags").attr("writeable") = false;
  return array;
}

std::unique_ptr<Simulation> make(const std::string& scene, const std::string& text_name,
                                 const std::string& device, int threads,
                                 const std::vector<std::string>& settings) {
  const Simulation::Options options{device, threads, settings};
  return std::make_unique<Simulation>(text_name.empty()
                                          ? Simulation(scene, options)
                                          : Simulation::from_toml(scene, text_name, options));
}

using Velocities = py::array_t<float, py::array::c_style | py::array::forcecast>;

void set_velocities(Simulation& simulation, const Velocities& v) {
  if (v.ndim() != 2 || v.shape(1) != 3) throw py::value_error("velocities are an array (N, 3)");
  simulation.set_velocities({v.data(), v.data() + v.size()});
}

void add_errors(py::module_& module) {
  static py::exception<barchan::Error> error(module, "Error");
  static const py::object input = py::reinterpret_steal<py::object>(
      PyErr_NewException("barchan._barchan.InputError",
                         py::make_tuple(error, py::handle(PyExc_ValueError)).ptr(), nullptr));
  module.add_object("InputError", input);
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const barchan::Error& e) {
      PyErr_SetString(e.fault() == barchan::Fault::input ? input.ptr() : error.ptr(), e.what());
    }
  });
}

}  // namespace

PYBIND11_MODULE(_barchan, module) {
  module.attr("__version__") = barchan::version();
  add_errors(module);

  py::class_<StepInfo>(module, "StepInfo", "What a step did; NaN where the solver does not say.")
      .def_readonly("dt", &StepInfo::dt)
      .def_readonly("iterations", &StepInfo::iterations)
      .def_readonly("density_error", &StepInfo::density_error)
      .def_readonly("divergence", &StepInfo::divergence)
      .def_readonly("max_speed", &StepInfo::max_speed);

  py::class_<Body>(module, "Body", "A solid: where it is and how it moves.")
      .def_readonly("name", &Body::name)
      .def_readonly("position", &Body::position)
      .def_readonly("orientation", &Body::orientation)
      .def_readonly("velocity", &Body::velocity)
      .def_readonly("angular_velocity", &Body::angular_velocity);

  py::class_<Simulation>(module, "Simulation")
      .def(py::init(&make), py::arg("scene"), py::arg("text_name"), py::arg("device"),
           py::arg("threads"), py::arg("settings"))
      .def("step", &Simulation::step, "One time step, of a length that is safe.")
      .def("advance_frame", &Simulation::advance_frame, "Steps up to the next frame's time.")
      .def("_run_until", &Simulation::run_until)
      .def_property_readonly("time", &Simulation::time, "[s]")
      .def_property_readonly("frame", &Simulation::frame, "Frames completed.")
      .def_property_readonly("duration", &Simulation::duration, "Of the scene [s].")
      .def_property_readonly("spacing", &Simulation::spacing, "Particle spacing [m].")
      .def_property_readonly("scene", &Simulation::scene, "TOML, every default filled in.")
      .def("__len__", &Simulation::size)
      .def_property_readonly(
          "positions", [](const Simulation& s) { return view(s.positions()); }, "(N, 3) [m]")
      .def_property(
          "velocities", [](const Simulation& s) { return view(s.velocities()); }, &set_velocities,
          "(N, 3) [m/s]; can be assigned between steps.")
      .def_property_readonly(
          "ids", [](const Simulation& s) { return view(s.ids()); }, "(N,); they stay.")
      .def_property_readonly(
          "materials", [](const Simulation& s) { return view(s.materials()); },
          "(N,): which of material_names.")
      .def_property_readonly("material_names", &Simulation::material_names)
      .def(
          "field", [](const Simulation& s, const std::string& name) { return view(s.field(name)); },
          "A field by its name in frames.")
      .def_property_readonly("field_names", &Simulation::field_names)
      .def_property_readonly("bodies", [](const Simulation& s) {
        py::dict bodies;
        for (const Body& body : s.bodies()) bodies[py::str(body.name)] = body;
        return bodies;
      });
}
