// Non-owning views that kernels take by value: a pointer and a length, checked in debug builds.
// Vectors are stored as separate coordinate arrays; View3 lets a kernel say x[i] all the same.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/hd.h"
#include "math/quat.h"
#include "math/vec3.h"

namespace barchan {

template <class T>
struct View {
  T* data = nullptr;
  std::size_t size = 0;

  HD T& operator[](std::size_t i) const {
    BARCHAN_ASSERT(i < size);
    return data[i];
  }
  HD operator View<const T>() const { return {data, size}; }
};

// A point in one 16-byte load: what kernels that gather many neighbours want on a GPU.
struct alignas(16) Float4 {
  float x, y, z, w;
};
// Two numbers more of each, where that is enough: a GPU's load unit pays by the byte.
struct alignas(8) Float2 {
  float x, y;
};

// Three places in memory that read and write as one Vec3.
struct Vec3Ref {
  float& x;
  float& y;
  float& z;

  HD operator Vec3() const { return {x, y, z}; }
  HD const Vec3Ref& operator=(const Vec3& v) const {
    x = v.x, y = v.y, z = v.z;
    return *this;
  }
  HD const Vec3Ref& operator=(const Vec3Ref& v) const { return *this = static_cast<Vec3>(v); }
  HD const Vec3Ref& operator+=(const Vec3& v) const {
    x += v.x, y += v.y, z += v.z;
    return *this;
  }
};

template <class T>
struct View3 {
  static_assert(std::is_same_v<std::remove_const_t<T>, float>);
  T* x = nullptr;
  T* y = nullptr;
  T* z = nullptr;
  std::size_t size = 0;

  HD auto operator[](std::size_t i) const {
    BARCHAN_ASSERT(i < size);
    if constexpr (std::is_const_v<T>) {
      return Vec3(x[i], y[i], z[i]);
    } else {
      return Vec3Ref{x[i], y[i], z[i]};
    }
  }
  HD operator View3<const T>() const { return {x, y, z, size}; }
};

// Orientations in four separate arrays: w, x, y, z.
template <class T>
struct View4 {
  static_assert(std::is_same_v<std::remove_const_t<T>, float>);
  T* w = nullptr;
  T* x = nullptr;
  T* y = nullptr;
  T* z = nullptr;
  std::size_t size = 0;

  HD Quat operator[](std::size_t i) const {
    BARCHAN_ASSERT(i < size);
    return {w[i], x[i], y[i], z[i]};
  }
  HD void set(std::size_t i, const Quat& q) const {
    BARCHAN_ASSERT(i < size);
    w[i] = q.w, x[i] = q.x, y[i] = q.y, z[i] = q.z;
  }
  HD operator View4<const T>() const { return {w, x, y, z, size}; }
};

// Point i of either layout.
HD inline Vec3 point(const View3<const float>& points, std::uint32_t i) {
  BARCHAN_ASSERT(i < points.size);
  return {points.x[i], points.y[i], points.z[i]};
}
HD inline Float4 packed(const View<const Float4>& points, std::uint32_t i) {
  BARCHAN_ASSERT(i < points.size);
#if defined(__CUDA_ARCH__)
  const float4 p = __ldg(reinterpret_cast<const float4*>(points.data) + i);
  return {p.x, p.y, p.z, p.w};
#else
  return points.data[i];
#endif
}
HD inline Float2 packed(const View<const Float2>& pairs, std::uint32_t i) {
  BARCHAN_ASSERT(i < pairs.size);
#if defined(__CUDA_ARCH__)
  const float2 p = __ldg(reinterpret_cast<const float2*>(pairs.data) + i);
  return {p.x, p.y};
#else
  return pairs.data[i];
#endif
}
HD inline Vec3 point(const View<const Float4>& points, std::uint32_t i) {
  const Float4 p = packed(points, i);
  return {p.x, p.y, p.z};
}

// |point i - p|^2. In loops under `omp simd` no variable of class type may be declared, or g++ does
// not vectorise them; inside a function like this one it may.
template <class Points>
HD inline float distance_squared(const Points& points, std::uint32_t i, const Vec3& p) {
  const Vec3 d = point(points, i) - p;
  return fmaf(d.z, d.z, fmaf(d.y, d.y, d.x * d.x));
}

// Point i is near p where |point i - p|^2 - too_far, summed from the last on, is negative. Whoever
// asks sums so (simd.h, spatial/fill_lists.cuh): all get the same answer for a pair at the very
// edge of a radius. `too_far` is the least square that is (too_far_for).
template <class Points>
HD inline float beyond(const Points& points, std::uint32_t i, const Vec3& p, float too_far) {
  const Vec3 d = point(points, i) - p;
  return fmaf(d.z, d.z, fmaf(d.y, d.y, fmaf(d.x, d.x, -too_far)));
}
inline float too_far_for(float radius) {
  return std::nextafter(radius * radius, 3e38f);
}

}  // namespace barchan
