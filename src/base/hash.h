// A 64-bit hash for comparing results (FNV-1a). Not for security.
#pragma once

#include <cstddef>
#include <cstdint>

namespace barchan {

inline constexpr std::uint64_t kHashStart = 14695981039346656037ull;

inline std::uint64_t hash_bytes(const void* bytes, std::size_t count,
                                std::uint64_t hash = kHashStart) {
  const auto* byte = static_cast<const unsigned char*>(bytes);
  for (std::size_t i = 0; i < count; ++i) hash = (hash ^ byte[i]) * 1099511628211ull;
  return hash;
}

}  // namespace barchan
