// Conversions between what people write and SI, and numbers as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace barchan {

inline constexpr double kPi = 3.14159265358979323846;

constexpr double radians(double degrees) {
  return degrees * (kPi / 180.0);
}
constexpr double degrees(double radians) {
  return radians * (180.0 / kPi);
}

std::string human_bytes(double bytes);         // 1234567 -> "1.2 MB"
std::string human_count(std::uint64_t count);  // 1234567 -> "1,234,567"
std::string human_seconds(double seconds);     // 83 -> "1 min 23 s"

}  // namespace barchan
