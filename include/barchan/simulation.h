// A simulation in your own program, without a run folder:
//
//     barchan::Simulation simulation("dam-break");
//     while (simulation.time() < 1.0) simulation.step();
//     std::vector<float> xyz = simulation.positions();
//
// Everything throws barchan::Error (barchan/error.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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
  ~Simulation();
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) noexcept;

  // One time step, of a length that is safe; it never passes the next frame's time.
  void step();
  // Steps up to the time of the next frame.
  void advance_frame();

  double time() const;         // [s]
  std::int64_t frame() const;  // frames completed
  std::size_t size() const;    // particles

  // Copies for the host, in the particles' present order: x, y, z of the first, then of the second.
  std::vector<float> positions() const;   // [m]
  std::vector<float> velocities() const;  // [m/s]
  std::vector<std::uint64_t> ids() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace barchan
