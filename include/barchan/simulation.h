// A simulation in your own program, without a run folder:
//
//     barchan::Simulation simulation("dam-break");
//     while (simulation.time() < 1.0) simulation.step();
//     const barchan::Field x = simulation.positions();
//     float highest = *std::max_element(x.component<float>(1), x.component<float>(1) + x.size);
//
// Everything throws barchan::Error (barchan/error.h). A simulation belongs to one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "barchan/state.h"

namespace barchan {

class Simulation {
 public:
  struct Options {
    std::string device = "cpu";         // or "cuda"
    int threads = 0;                    // 0: as many as cores
    std::vector<std::string> settings;  // "section.key=value", as after --set
  };

  // SCENE as on the command line: a file, or the name of a shipped scene.
  explicit Simulation(const std::string& scene);
  Simulation(const std::string& scene, const Options& options);
  // From the text of a scene file. Errors call it `name`; meshes are looked for in the current
  // folder.
  static Simulation from_toml(const std::string& text, const std::string& name = "scene");
  static Simulation from_toml(const std::string& text, const std::string& name,
                              const Options& options);
  ~Simulation();
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) noexcept;

  // One time step, of a length that is safe; it never passes the next frame's time.
  StepInfo step();
  // Steps up to the time of the next frame.
  void advance_frame();
  // Steps until `time` [s] is reached, asking after each whether to go on.
  void run_until(
      double time, const std::function<bool()>& each_step = [] { return true; });

  double time() const;         // [s]
  std::int64_t frame() const;  // frames completed
  std::size_t size() const;    // particles
  double duration() const;     // of the scene [s]; nothing stops you from going on
  double spacing() const;      // particle spacing [m]
  std::string scene() const;   // as TOML, with every default filled in

  // Fields in the particles' present order, which may change with every step; ids stay.
  Field positions() const;                       // 3 x f32 [m]
  Field velocities() const;                      // 3 x f32 [m/s]
  Field ids() const;                             // u64
  Field materials() const;                       // u8: which of material_names()
  Field field(const std::string& name) const;    // by its name in frames: "density", ...
  std::vector<std::string> field_names() const;  // those there are
  std::vector<std::string> material_names() const;
  std::vector<Body> bodies() const;

  // Between two steps. x, y, z of the first particle, then of the second: 3 * size() numbers [m/s].
  void set_velocities(const std::vector<float>& xyz);

 private:
  struct Parts;
  explicit Simulation(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace barchan
