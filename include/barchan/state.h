// What a simulation holds at a moment, as views of its own memory: nothing is copied on the CPU.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace barchan {

// What the numbers of an array are.
enum class Type : std::uint8_t { f32, f64, u8, u32, u64 };

// One number or vector a particle. A vector field has its components in arrays of their own, one
// `stride` numbers behind the other: component(0)[i], component(1)[i], component(2)[i].
//
// A field is of the moment it was asked for, and stays: `owner` keeps the memory alive, and while
// somebody holds it the simulation writes elsewhere. Holding fields costs memory, nothing else;
// they may outlive the simulation.
struct Field {
  std::string name;
  Type type = Type::f32;
  int components = 1;
  std::size_t size = 0;    // particles
  std::size_t stride = 0;  // numbers from one component to the next
  const void* data = nullptr;
  std::shared_ptr<const void> owner;

  // T must be what `type` says.
  template <class T>
  const T* component(int c) const {
    return static_cast<const T*>(data) + static_cast<std::size_t>(c) * stride;
  }
};

// A solid: where it is and how it moves; static ones, too.
struct Body {
  std::string name;
  std::array<double, 3> position;          // of its own origin [m]
  std::array<double, 4> orientation;       // unit quaternion w, x, y, z
  std::array<double, 3> velocity;          // [m/s]
  std::array<double, 3> angular_velocity;  // [rad/s]
};

// What a step did. A number that the solver does not measure is NaN.
struct StepInfo {
  double dt = 0.0;  // [s]
  double iterations = 0.0;
  double density_error = 0.0;  // largest, relative
  double divergence = 0.0;     // largest [1/s]
  double max_speed = 0.0;      // of the particles after it [m/s]
};

}  // namespace barchan
