// for_each and reduce, one source for both devices (launch_cpu_test.cpp, launch_cuda_test.cu).
#pragma once

#include <cmath>
#include <vector>

#include "base/hd.h"
#include "compute/buffer.h"
#include "compute/listed.h"
#include "compute/pair_sums.h"
#include "compute/reduce_ops.h"
#include "spatial/cells.h"
#include "spatial/neighbours.h"

namespace barchan::launch_checks {

struct Scale {
  View3<const float> in;
  View3<float> out;
  float by;
  HD void operator()(int i) const {
    const Vec3 v = in[static_cast<std::size_t>(i)];
    out[static_cast<std::size_t>(i)] = by * v;
  }
};

struct Wave {
  HD double operator()(int i) const { return 1.0 / (1.0 + static_cast<double>(i)); }
};

struct Squares {
  HD std::uint64_t operator()(int i) const {
    return static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(i);
  }
};

struct Bump {
  int top;
  HD float operator()(int i) const {
    return i == top ? 3.0f : 1.0f / (1.0f + static_cast<float>(i));
  }
};

// Every item gets 1, those of a kind 2 more.
struct MarkSome {
  View<std::uint32_t> out;
  int kind;
  HD bool operator()(int i) const {
    out[static_cast<std::size_t>(i)] = 1;
    return i % kind == 0;
  }
  HD void some(int i) const { out[static_cast<std::size_t>(i)] += 2; }
};

struct WaveOfSome {
  int kind;
  HD bool counts(int i) const { return i % kind == 0; }
  HD double operator()(int i) const { return 1.0 / (1.0 + static_cast<double>(i / kind)); }
};

// out[i] = in[i] + in[i - reach]
struct AddFrom {
  View<const std::uint32_t> in;
  View<std::uint32_t> out;
  std::size_t reach;
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    out[i] = in[i] + (i >= reach ? in[i - reach] : 0u);
  }
};
struct ReadNumber {
  View<const std::uint32_t> in;
  HD std::uint64_t operator()(int i) const { return in[static_cast<std::size_t>(i)]; }
};
struct SetOne {
  View<std::uint32_t> out;
  std::uint32_t value;
  HD void operator()(int i) const { out[static_cast<std::size_t>(i)] = value; }
};

// Sums of all before, by doubling: each stage needs what all threads did in the one before. Then
// `more` times: adds what a reduction over all of them leaves of 16 bits.
struct SumUp {
  View<std::uint32_t> a, b;
  int more;
  HD_SCHEDULE
  template <class Device>
  HD void operator()(Device& device) const {
    const auto n = static_cast<std::int64_t>(a.size);
    begin_together(device);
    for_each(device, "ones", n / 2, SetOne{a, 1});
    for_each(device, "ones", n - n / 2,
             SetOne{{a.data + n / 2, static_cast<std::size_t>(n - n / 2)}, 1});
    end_together(device);
    View<std::uint32_t> from = a, to = b;
    for (std::size_t reach = 1; reach < a.size; reach *= 2) {
      for_each(device, "add", n, AddFrom{from, to, reach});
      const View<std::uint32_t> next = from;
      from = to, to = next;
    }
    for (int k = 0; k < more; ++k) {
      const std::uint64_t all = reduce<Sum<std::uint64_t>>(device, "all", n, ReadNumber{from});
      for_each(device, "last", 1,
               SetOne{{from.data + n - 1, 1}, static_cast<std::uint32_t>(all & 0xffffu)});
    }
    if (from.data != b.data) for_each(device, "copy", n, AddFrom{from, b, a.size});
  }
};

// Of each particle the sum of max(0, 1 - r^2 / h^2) over its list, and the same of all.
struct CloseBySums {
  static constexpr int kSums = 1;
  float per_square;  // 1 / h^2 [1/m^2]
  template <class T>
  HD void operator()(const Near<T>& j, T* sums) const {
    sums[0] += positive(1.0f - per_square * (j.x * j.x + (j.y * j.y + j.z * j.z)));
  }
};
struct CloseBy {
  Neighbours near;
  View<const Float4> points;
  float per_square;
  View<float> close;  // in and out: what it was, and the sum
  template <class Team>
  HD_INLINE double operator()(int i, Team team) const {
    const auto at = static_cast<std::uint32_t>(i);
    const auto sums =
        sum_pairs<team.kSize>(near, points, i, point(points, at), CloseBySums{per_square});
    if (!team.leads()) return 1e6;  // nobody may count it
    close[at] += sums[0];
    return static_cast<double>(sums[0]);
  }
};

// Each of the following runs one way of launching over several sizes and counts what comes out
// wrong: 0 on a device that does as it says.

template <class Device>
int wrong_by_for_each(Device& device) {
  int wrong = 0;
  for (const int n : {0, 1, 255, 1024, 1025, 100001}) {
    std::vector<Vec3> host;
    for (int i = 0; i < n; ++i) host.emplace_back(float(i), 1.0f, float(-i));
    Buffer3 in(device), out(device, host.size());
    in.upload(host);
    for_each(device, "scale", n, Scale{std::as_const(in).view(), out.view(), 2.0f});
    const std::vector<Vec3> result = out.download();
    for (std::size_t i = 0; i < host.size(); ++i) wrong += result[i] != 2.0f * host[i];
  }
  return wrong;
}

template <class Device>
int wrong_by_reduce(Device& device) {
  int wrong = 0;
  for (const int n : {0, 1, 4096, 4097, 300000}) {
    const auto m = static_cast<std::uint64_t>(n);
    const std::uint64_t exact = m == 0 ? 0 : (m - 1) * m * (2 * m - 1) / 6;
    wrong += reduce<Sum<std::uint64_t>>(device, "squares", n, Squares{}) != exact;
  }
  wrong += reduce<Largest<float>>(device, "top", 250000, Bump{249999}) != 3.0f;
  wrong += reduce<Largest<float>>(device, "top", 0, Bump{0}) != 0.0f;
  return wrong;
}

// Lists that threads share, and, of more particles than kFewLists, lists of one thread each. On a
// lattice with a spacing of 1 all that have a whole one around them have the same sum.
template <class Device>
int wrong_by_lists(Device& device) {
  int wrong = 0;
  for (const int edge : {7, 40, 41}) {  // 41^3 > kFewLists
    const int n = edge * edge * edge;
    std::vector<Vec3> lattice;
    for (int i = 0; i < n; ++i) {
      lattice.emplace_back(float(i % edge), float(i / edge % edge), float(i / edge / edge));
    }
    Buffer3 x(device);
    x.upload(lattice);
    CellSort<Device> cells(device);
    cells.sort(std::as_const(x).view(), 2.0f);
    Buffer<Float4> points(device);
    permute_packed(device, std::as_const(x).view(), cells.order(), points);
    NeighbourSearch<Device> near(device);
    near.build(cells.cells(), std::as_const(points).view(), 2.0f);
    Buffer<float> close(device, static_cast<std::size_t>(n));
    Buffer<double> all(device, 1);
    close.clear_to_zero();
    const CloseBy kernel{near.view(), std::as_const(points).view(), 0.25f, close.view()};
    for_each_list(device, "lists", n, kernel);
    reduce_lists_to<Sum<double>>(device, "lists", n, kernel, all.data());
    // 6 at 1, 12 at sqrt(2), 8 at sqrt(3): 6 * 3/4 + 12 / 2 + 8 / 4
    const std::vector<float> twice = close.download();
    double sum = 0.0;
    const std::vector<Float4> at = points.download();
    for (std::size_t i = 0; i < twice.size(); ++i) {
      const Float4 p = at[i];
      sum += 0.5 * static_cast<double>(twice[i]);
      const float top = static_cast<float>(edge - 1);
      const bool inside = p.x > 0 && p.y > 0 && p.z > 0 && p.x < top && p.y < top && p.z < top;
      wrong += inside ? std::abs(twice[i] - 25.0f) > 1e-4f : twice[i] >= 25.0f;
    }
    wrong += std::abs(all.download()[0] - sum) > 1e-6 * sum;
  }
  return wrong;
}

template <class Device>
int wrong_by_for_each_some(Device& device) {
  int wrong = 0;
  for (const int n : {0, 1, 255, 513, 100001, 1200000}) {
    for (const int kind : {1, 13, 2000000}) {
      Buffer<std::uint32_t> out(device, static_cast<std::size_t>(n));
      for_each_some(device, "some", n, MarkSome{out.view(), kind});
      const std::vector<std::uint32_t> marks = out.download();
      for (int i = 0; i < n; ++i) {
        wrong += marks[static_cast<std::size_t>(i)] != (i % kind == 0 ? 3u : 1u);
      }
    }
  }
  return wrong;
}

struct MarkAll {
  View<std::uint32_t> out;
  HD void operator()(int i) const {
    out[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(i) + 1;
  }
};

struct CountPoint {
  View3<const float> x;
  CellCounter count;
  HD void operator()(int i) const {
    count(static_cast<std::size_t>(i), x[static_cast<std::size_t>(i)]);
  }
};
struct TellPlace {
  View<std::uint32_t> came_from;
  HD void operator()(std::size_t from, std::size_t to) const {
    came_from[to] = static_cast<std::uint32_t>(from);
  }
};

// Points counted where they are made, with what is done in their new places: the order is that of
// a plain sort, in each of two steps, few points or many.
template <class Device>
int wrong_by_sort_then(Device& device) {
  int wrong = 0;
  for (const int n : {1000, 300000}) {
    std::vector<Vec3> points;
    for (int i = 0; i < n; ++i) {
      const auto u = static_cast<float>(i);
      points.emplace_back(std::sin(u), std::cos(1.7f * u), std::sin(0.3f * u + 1.0f));
    }
    Buffer3 x(device);
    x.upload(points);
    const auto at = std::as_const(x).view();
    const CellFrame frame = frame_around({{{-1, -1, -1}, {1, 1, 1}}, {}}, 0.1f, 2);
    CellSort<Device> plain(device), counted(device);
    plain.sort(at, frame);
    Buffer<std::uint32_t> expected(device, points.size()), found(device, points.size());
    device.copy(expected.data(), plain.order().data, points.size() * sizeof(std::uint32_t));
    for (int step = 0; step < 2; ++step) {
      for_each(device, "count", n, CountPoint{at, counted.counter(points.size(), &frame)});
      counted.sort_then(at, frame, "sort", TellPlace{found.view()});
      counted.clear();
      wrong += found.download() != expected.download();
    }
  }
  return wrong;
}

// The same of a list: all that its items need, and nothing of the others. Beside it, in the same
// launch, another kernel for other items.
template <class Device>
int wrong_by_listed(Device& device) {
  int wrong = 0;
  for (const std::uint32_t n : {1u, 1000u, 300000u}) {
    std::vector<std::uint32_t> odd;
    for (std::uint32_t i = 1; i < n; i += 2) odd.push_back(i);
    odd.resize(n);  // what is behind the count is not looked at
    Buffer<std::uint32_t> out(device, n), beside(device, n), list(device), count(device);
    list.upload(odd);
    count.upload({n / 2});
    out.clear_to_zero();
    for_both(device, "listed", n, MarkAll{beside.view()}, kListThreads,
             Listed<MarkSome>{count.data(), std::as_const(list).view(), {out.view(), 3}});
    const std::vector<std::uint32_t> marks = out.download(), others = beside.download();
    for (std::uint32_t i = 0; i < n; ++i) {
      wrong += marks[i] != (i % 2 == 0 ? 0u : (i % 3 == 0 ? 3u : 1u));
      wrong += others[i] != i + 1;
    }
    // An empty list, whose count nobody has set.
    for_each(device, "listed", kListThreads, Listed<MarkSome>{count.data(), {}, {out.view(), 3}});
    wrong += out.download() != marks;
  }
  return wrong;
}

// What runs aside is there once it is joined, and reductions on either side keep apart; so do those
// before it, from where it forked.
template <class Device>
int wrong_by_aside(Device& device) {
  constexpr int kItems = 1000003;
  const double alone = reduce<Sum<double>>(device, "wave", kItems, Wave{});
  Buffer<double> sums(device, 2);
  int wrong = 0;
  for (int k = 0; k < 20; ++k) {
    sums.clear_to_zero();
    begin_aside(device);
    reduce_to<Sum<double>>(device, "wave", kItems, Wave{}, sums.data());
    end_aside(device);
    reduce_to<Sum<double>>(device, "wave", kItems, Wave{}, sums.data() + 1);
    join_aside(device);
    wrong += sums.download() != std::vector<double>{alone, alone};
    sums.clear_to_zero();
    fork_aside(device);
    reduce_to<Sum<double>>(device, "wave", kItems, Wave{}, sums.data());
    begin_aside(device);
    reduce_to<Sum<double>>(device, "wave", kItems, Wave{}, sums.data() + 1);
    end_aside(device);
    join_aside(device);
    wrong += sums.download() != std::vector<double>{alone, alone};
  }
  return wrong;
}

template <class Device>
int wrong_by_schedule(Device& device) {
  int wrong = 0;
  for (const std::uint32_t n : {2u, 31u, 1025u, 70001u}) {
    Buffer<std::uint32_t> a(device, n), b(device, n);
    constexpr int kMore = 5;
    in_one_launch(device, "sum up", n, SumUp{a.view(), b.view(), kMore});
    const std::vector<std::uint32_t> found = b.download();
    for (std::uint32_t i = 0; i + 1 < n; ++i) wrong += found[i] != i + 1;
    const std::uint64_t others = std::uint64_t{n} * (n - 1) / 2;
    std::uint64_t last = n;
    for (int k = 0; k < kMore; ++k) last = (others + last) & 0xffffu;
    wrong += found[n - 1] != last;
  }
  return wrong;
}

// ---- Sums, whose bits must not change from run to run: six of the same numbers

constexpr int kTerms = 1000003;
// 1 + 1/2 + ... + 1/kTerms, by Euler's constant.
inline double harmonic_sum() {
  return std::log(static_cast<double>(kTerms)) + 0.5772156649;
}

template <class Device>
std::vector<double> six_sums(Device& device) {
  std::vector<double> sums;
  for (int k = 0; k < 6; ++k) {
    sums.push_back(reduce<Sum<double>>(device, "wave", kTerms, Wave{}));
  }
  return sums;
}

template <class Device>
std::vector<double> six_sums_of_some(Device& device) {
  Buffer<double> sum(device, 1);
  std::vector<double> sums;
  for (int k = 0; k < 6; ++k) {
    reduce_some_to<Sum<double>>(device, "some", 7 * kTerms, WaveOfSome{7}, sum.data());
    sums.push_back(sum.download()[0]);
  }
  return sums;
}

}  // namespace barchan::launch_checks
