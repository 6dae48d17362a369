// Neighbour search against brute force, on each device.
#include "spatial/neighbours.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "compute/cpu.h"
#include "compute/dispatch.h"
#include "unit/devices.h"

namespace barchan {
namespace {

using Pairs = std::vector<std::vector<std::uint32_t>>;  // by original index, sorted

// In float, as the search computes it: at the very edge the two must agree.
bool are_near(const Vec3& a, const Vec3& b, float too_far) {
  const float dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z;
  return std::fma(dz, dz, std::fma(dy, dy, std::fma(dx, dx, -too_far))) < 0.0f;
}

Pairs brute_force(const std::vector<Vec3>& x, const std::vector<Vec3>& other, float radius,
                  bool same) {
  Pairs pairs(x.size());
  for (std::uint32_t i = 0; i < x.size(); ++i) {
    for (std::uint32_t j = 0; j < other.size(); ++j) {
      if (same && i == j) continue;
      if (are_near(x[i], other[j], too_far_for(radius))) pairs[i].push_back(j);
    }
  }
  return pairs;
}

// Lists of sorted points, back in the points' own numbers.
Pairs in_own_numbers(const Pairs& lists, const std::vector<std::uint32_t>& order,
                     const std::vector<std::uint32_t>& other_order) {
  Pairs pairs(lists.size());
  for (std::size_t i = 0; i < lists.size(); ++i) {
    auto& list = pairs[order[i]];
    for (const std::uint32_t j : lists[i]) list.push_back(other_order[j]);
    std::sort(list.begin(), list.end());
  }
  return pairs;
}

std::vector<std::uint32_t> download(Device& device, View<const std::uint32_t> view) {
  std::vector<std::uint32_t> host(view.size);
  if (view.size > 0) device.download(host.data(), view.data, view.size * 4);
  return host;
}

enum class Way { fast, packed, reference };

// What a search finds, and how it went about it.
struct Found {
  std::vector<std::uint32_t> order;
  Pairs lists;         // of the sorted points, in the order of the entries
  bool whole = false;  // the table had all cells
  std::uint64_t pairs = 0;
};

Found find(Device& any, const std::vector<Vec3>& points, float radius, Way way = Way::fast) {
  return on_device(any, [&]<class D>(D& device) {
    Buffer3 x(any), sorted(any);
    Buffer<Float4> packed(any);
    x.upload(points);
    CellSort<D> cells(device);
    cells.sort(std::as_const(x).view(), radius);
    permute(any, std::as_const(x).view(), cells.order(), sorted);
    NeighbourSearch<D> neighbours(device);
    const View3<const float> s = std::as_const(sorted).view();
    if (way == Way::fast) {
      neighbours.build(cells.cells(), s, radius);
    } else if (way == Way::packed) {
      permute_packed(device, std::as_const(x).view(), cells.order(), packed);
      neighbours.build(cells.cells(), std::as_const(packed).view(), radius);
    } else {
      neighbours.build_reference(cells.cells(), s, cells.cells(), s, radius);
    }
    return Found{download(any, cells.order()), neighbours.download(), cells.cells().whole,
                 neighbours.pairs()};
  });
}

Pairs search(Device& any, const std::vector<Vec3>& points, float radius, Way way = Way::fast) {
  const Found found = find(any, points, radius, way);
  return in_own_numbers(found.lists, found.order, found.order);
}

std::vector<Vec3> random_points(std::size_t n, float size, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> in(0.0f, size);
  std::vector<Vec3> points(n);
  for (Vec3& p : points) p = {in(random), in(random), in(random)};
  return points;
}

using Search = OnDevice;

// Two devices may round a distance differently; pairs within a few bits of the radius may be found
// or not, all others must be right.
void expect_right(const Pairs& found, const std::vector<Vec3>& points, float radius) {
  const Pairs surely = brute_force(points, points, radius * (1.0f - 1e-6f), true);
  const Pairs perhaps = brute_force(points, points, radius * (1.0f + 1e-6f), true);
  std::size_t at_edge = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto in = [](const auto& a, const auto& b) {
      return std::includes(b.begin(), b.end(), a.begin(), a.end());
    };
    ASSERT_TRUE(in(surely[i], found[i]) && in(found[i], perhaps[i])) << "particle " << i;
    at_edge += perhaps[i].size() - surely[i].size();
  }
  EXPECT_LT(at_edge, 40u) << "the tolerance must not hide much";
}

TEST_P(Search, RandomPoints) {
  const auto points = random_points(3000, 1.0f, 1);
  for (const float radius : {0.01f, 0.1f, 0.3f, 2.0f}) {
    expect_right(search(*device, points, radius), points, radius);
  }
}

TEST_P(Search, ClusteredPoints) {
  auto points = random_points(1500, 0.05f, 2);
  for (const Vec3& p : random_points(500, 3.0f, 3)) points.push_back(p);
  expect_right(search(*device, points, 0.1f), points, 0.1f);
}

TEST_P(Search, CoincidentPoints) {
  std::vector<Vec3> points(400, Vec3{0.3f, -0.2f, 7.0f});
  EXPECT_EQ(search(*device, points, 0.1f), brute_force(points, points, 0.1f, true));
}

TEST_P(Search, FarFlungPoints) {
  auto points = random_points(800, 0.5f, 4);
  std::mt19937 random(5);
  std::uniform_real_distribution<float> far(-3e4f, 3e4f);
  for (int k = 0; k < 50; ++k) points.push_back({far(random), far(random), far(random)});
  EXPECT_EQ(search(*device, points, 0.1f), brute_force(points, points, 0.1f, true));
}

TEST_P(Search, TenMillionMetresAway) {
  auto points = random_points(500, 0.5f, 6);
  // Floats are a metre apart out there; equal points are neighbours, others are not.
  for (int k = 0; k < 20; ++k) points.push_back({1e7f, -1e7f, 1e7f + static_cast<float>(k / 2)});
  EXPECT_EQ(search(*device, points, 0.1f), brute_force(points, points, 0.1f, true));
}

TEST_P(Search, EmptyAndSingle) {
  EXPECT_TRUE(search(*device, {}, 0.1f).empty());
  EXPECT_EQ(search(*device, {{1, 2, 3}}, 0.1f), Pairs(1));
}

TEST_P(Search, PointsOnCellFacesAndAtTheEdgeOfTheRadius) {
  std::vector<Vec3> points;
  for (int i = 0; i < 12; ++i) {
    for (int j = 0; j < 12; ++j) {
      for (int k = 0; k < 3; ++k) {
        points.push_back({0.25f * float(i), 0.25f * float(j), 0.25f * float(k)});
      }
    }
  }
  EXPECT_EQ(search(*device, points, 0.5f), brute_force(points, points, 0.5f, true));
}

TEST_P(Search, MemoryFollowsTheParticlesNotTheBox) {
  const auto blob = random_points(4000, 0.5f, 7);
  auto two = blob;
  for (Vec3 p : blob) two.push_back(p + Vec3{1000, 500, -800});
  const auto used = [&](const std::vector<Vec3>& points) {
    auto fresh = make_device(device->name(), 2);
    search(*fresh, points, 0.05f);
    return fresh->peak_allocated();
  };
  EXPECT_LT(used(two), 2.3 * static_cast<double>(used(blob)));
}

TEST_P(Search, OneSetAgainstAnother) {
  const auto points = random_points(1200, 1.0f, 8), walls = random_points(900, 1.4f, 9);
  const float radius = 0.12f;
  on_device(*device, [&]<class D>(D& d) {
    Buffer3 x(*device), w(*device), sorted_x(*device), sorted_w(*device);
    x.upload(points);
    w.upload(walls);
    Extent extent = extent_of(d, std::as_const(x).view(), radius);
    const Extent of_walls = extent_of(d, std::as_const(w).view(), radius);
    extent.lo = min(extent.lo, of_walls.lo);
    extent.hi = max(extent.hi, of_walls.hi);
    const CellFrame frame = frame_around(extent, radius);
    CellSort<D> cells(d), wall_cells(d);
    cells.sort(std::as_const(x).view(), frame);
    wall_cells.sort(std::as_const(w).view(), frame);
    permute(*device, std::as_const(x).view(), cells.order(), sorted_x);
    permute(*device, std::as_const(w).view(), wall_cells.order(), sorted_w);
    NeighbourSearch<D> near(d);
    near.build(cells.cells(), std::as_const(sorted_x).view(), wall_cells.cells(),
               std::as_const(sorted_w).view(), radius);
    EXPECT_EQ(in_own_numbers(near.download(), download(*device, cells.order()),
                             download(*device, wall_cells.order())),
              brute_force(points, walls, radius, false));
    return 0;
  });
}

// As solvers ask for them: packed, both ways, and in room that is guessed at first; in cubes, and
// in cubes cut in two. Those that have anybody near are gathered, each once.
TEST_P(Search, BothWaysAtOnce) {
  const auto points = random_points(1200, 1.0f, 10), walls = random_points(90, 1.0f, 11);
  const float radius = 0.12f;
  for (const int reach : {1, 2})
    on_device(*device, [&]<class D>(D& d) {
      Buffer3 x(*device), w(*device);
      x.upload(points);
      w.upload(walls);
      const CellFrame frame = frame_around({{{0, 0, 0}, {1, 1, 1}}, {}}, radius, reach);
      CellSort<D> cells(d), wall_cells(d);
      cells.sort(std::as_const(x).view(), frame);
      wall_cells.sort(std::as_const(w).view(), frame);
      Buffer<Float4> sorted_x(*device), sorted_w(*device);
      permute_packed(d, std::as_const(x).view(), cells.order(), sorted_x);
      permute_packed(d, std::as_const(w).view(), wall_cells.order(), sorted_w);
      NeighbourSearch<D> near(d), back(d);
      Buffer<std::uint32_t> counts(*device, 2), list(*device, 1200), slot_of(*device, 1200);
      counts.clear_to_zero();
      std::ptrdiff_t turn = 0;
      for (bool settled = false; !settled;) {
        near.build_both_later(
            back, cells.cells(), std::as_const(sorted_x).view(), wall_cells.cells(),
            std::as_const(sorted_w).view(), radius, {},
            {counts.data() + turn, counts.data() + (1 - turn), list.view(), slot_of.view()});
        turn = 1 - turn;
        device->wait();
        const bool there = near.settled(), and_back = back.settled();
        settled = there && and_back;
      }
      const auto order = download(*device, cells.order());
      const auto wall_order = download(*device, wall_cells.order());
      EXPECT_EQ(in_own_numbers(near.download(), order, wall_order),
                brute_force(points, walls, radius, false));
      EXPECT_EQ(in_own_numbers(back.download(), wall_order, order),
                brute_force(walls, points, radius, false));
      // Of the last search: the count, which is not cleared yet, the list and the places in it.
      const auto lists = near.download();
      const std::vector<std::uint32_t> touched = list.download(), slots = slot_of.download();
      const auto all = static_cast<std::uint32_t>(
          std::count_if(lists.begin(), lists.end(), [](const auto& one) { return !one.empty(); }));
      EXPECT_EQ(counts.download()[static_cast<std::size_t>(1 - turn)], all);
      EXPECT_EQ(counts.download()[static_cast<std::size_t>(turn)], 0u);
      EXPECT_GT(all, 100u);
      EXPECT_LT(all, 1100u);
      for (std::size_t i = 0; i < lists.size(); ++i) {
        EXPECT_EQ(slots[i] != ~0u, !lists[i].empty());
        if (slots[i] == ~0u) continue;
        EXPECT_EQ(touched[slots[i]], i);
      }
      return 0;
    });
}

// Two sets in one frame of cells so large that one set's table has all of them and the other's has
// not (on a GPU; a CPU has only tables of cells that hold particles).
TEST_P(Search, OneSetAgainstAnotherInALargeFrame) {
  const auto many = random_points(device->on_host() ? 20'000 : 2'200'000, 1.9f, 21);
  const auto few = random_points(200, 1.9f, 22);
  const float radius = 0.0119f;
  const CellFrame frame = frame_around({{{0, 0, 0}, {1.9f, 1.9f, 1.9f}}, {}}, radius);
  const Pairs near_few = on_device(*device, [&]<class D>(D& d) {
    Buffer3 x(*device), w(*device), sorted_x(*device), sorted_w(*device);
    x.upload(many);
    w.upload(few);
    CellSort<D> cells(d), few_cells(d);
    cells.sort(std::as_const(x).view(), frame);
    few_cells.sort(std::as_const(w).view(), frame);
    EXPECT_EQ(cells.cells().whole, !device->on_host());
    EXPECT_FALSE(few_cells.cells().whole);
    permute(*device, std::as_const(x).view(), cells.order(), sorted_x);
    permute(*device, std::as_const(w).view(), few_cells.order(), sorted_w);
    const View3<const float> from = std::as_const(sorted_x).view();
    const View3<const float> to = std::as_const(sorted_w).view();
    NeighbourSearch<D> there(d), back(d);
    there.build(cells.cells(), from, few_cells.cells(), to, radius);
    back.build(few_cells.cells(), to, cells.cells(), from, radius);
    const auto order = download(*device, cells.order());
    const auto few_order = download(*device, few_cells.order());
    const Pairs found = in_own_numbers(back.download(), few_order, order);
    // The same pairs the other way round.
    Pairs turned(few.size());
    const Pairs forth = in_own_numbers(there.download(), order, few_order);
    for (std::uint32_t i = 0; i < forth.size(); ++i) {
      for (const std::uint32_t j : forth[i]) turned[j].push_back(i);
    }
    EXPECT_EQ(turned, found);
    return found;
  });
  EXPECT_EQ(near_few, brute_force(few, many, radius, false));
}

// Runs of thousands of particles.
TEST_P(Search, OneSetAgainstALongRunOfAnother) {
  auto many = random_points(5500, 0.02f, 23);
  for (Vec3& p : many) p.x *= 10.0f;
  const auto few = random_points(300, 0.2f, 24);
  const CellFrame frame = frame_around({{{0, 0, 0}, {0.2f, 0.2f, 0.2f}}, {}}, 0.1f);
  on_device(*device, [&]<class D>(D& d) {
    Buffer3 x(*device), w(*device), sorted_x(*device), sorted_w(*device);
    x.upload(many);
    w.upload(few);
    CellSort<D> cells(d), few_cells(d);
    cells.sort(std::as_const(x).view(), frame);
    few_cells.sort(std::as_const(w).view(), frame);
    permute(*device, std::as_const(x).view(), cells.order(), sorted_x);
    permute(*device, std::as_const(w).view(), few_cells.order(), sorted_w);
    NeighbourSearch<D> near(d);
    near.build(few_cells.cells(), std::as_const(sorted_w).view(), cells.cells(),
               std::as_const(sorted_x).view(), 0.1f);
    EXPECT_EQ(in_own_numbers(near.download(), download(*device, few_cells.order()),
                             download(*device, cells.order())),
              brute_force(few, many, 0.1f, false));
    return 0;
  });
}

// Points so dense that lists have hundreds of entries, beside others with few; and a run of cells
// with thousands of particles.
TEST_P(Search, LongLists) {
  auto points = random_points(2500, 0.1f, 13);
  for (const Vec3& p : random_points(4000, 2.0f, 14)) points.push_back(p);
  const Found found = find(*device, points, 0.1f);
  std::size_t longest = 0;
  for (const auto& list : found.lists) longest = std::max(longest, list.size());
  EXPECT_GT(longest, 1000u);
  expect_right(in_own_numbers(found.lists, found.order, found.order), points, 0.1f);
}

TEST_P(Search, LongRuns) {
  auto points = random_points(5500, 0.02f, 15);
  for (Vec3& p : points) p.x *= 10.0f;
  for (const Vec3& p : random_points(1500, 1.0f, 16)) points.push_back(p);
  const Found found = find(*device, points, 0.1f);
  expect_right(in_own_numbers(found.lists, found.order, found.order), points, 0.1f);
}

// Sorted points keep their order within a cell, and lists go through the sorted points upwards:
// the same lists, entry by entry, as the CPU's, at every run, from either layout of the points.
TEST_P(Search, ListsAreInTheOrderOfTheSortedPoints) {
  Cpu cpu(2);
  auto points = random_points(30000, 1.0f, 17);
  for (const Vec3& p : random_points(300, 0.02f, 18)) points.push_back(p);
  for (const float far : {1.0f, 2e4f}) {
    points.back() = {far, far, far};
    const float radius = 0.0625f;
    const Found expected = find(cpu, points, radius);
    for (const Way way : {Way::fast, Way::packed, Way::fast}) {
      const Found found = find(*device, points, radius, way);
      EXPECT_EQ(found.whole, !device->on_host() && far == 1.0f);
      EXPECT_EQ(found.order, expected.order);
      EXPECT_EQ(found.lists, expected.lists);
      EXPECT_EQ(found.pairs, expected.pairs);
    }
  }
}

// One search object, from few particles to many to none and back: buffers and guesses carry over.
TEST_P(Search, BuildsAgainAndAgain) {
  on_device(*device, [&]<class D>(D& d) {
    CellSort<D> cells(d);
    NeighbourSearch<D> near(d);
    Buffer3 x(*device), sorted(*device);
    unsigned seed = 30;
    for (const std::size_t n : {40, 3000, 0, 1, 33, 6000, 31}) {
      // Crowded, so that the guessed room is too small.
      const auto points = random_points(n, n > 5000 ? 0.03f : 0.2f, seed++);
      x.upload(points);
      cells.sort(std::as_const(x).view(), 0.05f);
      permute(*device, std::as_const(x).view(), cells.order(), sorted);
      near.build(cells.cells(), std::as_const(sorted).view(), 0.05f);
      const auto order = download(*device, cells.order());
      EXPECT_EQ(in_own_numbers(near.download(), order, order),
                brute_force(points, points, 0.05f, true));
    }
    return 0;
  });
}

// What is not a number has no neighbours, and costs nobody else any.
TEST_P(Search, PointsThatAreNoNumbers) {
  auto points = random_points(2000, 0.5f, 19);
  const float nan = std::nanf("");
  for (std::size_t k = 0; k < points.size(); k += 97) points[k] = {nan, points[k].y, -nan};
  points[5] = {INFINITY, 0, 0};
  EXPECT_EQ(search(*device, points, 0.1f), brute_force(points, points, 0.1f, true));
}

// With a skin the lists hold every pair within the radius for as long as nothing moved more than
// half of it; and max_displacement sees when something has.
TEST_P(Search, ListsWithASkinStayComplete) {
  const auto before = random_points(1500, 1.0f, 10);
  const float radius = 0.1f, skin = 0.03f;
  const Pairs with_skin = search(*device, before, radius + skin);
  auto after = before;
  std::mt19937 random(11);
  std::normal_distribution<float> normal;
  for (Vec3& p : after) {
    p += 0.499f * skin * normalized(Vec3{normal(random), normal(random), normal(random)});
  }
  const Pairs now = brute_force(after, after, radius, true);
  for (std::size_t i = 0; i < after.size(); ++i) {
    ASSERT_TRUE(
        std::includes(with_skin[i].begin(), with_skin[i].end(), now[i].begin(), now[i].end()));
  }
  on_device(*device, [&](auto& d) {
    Buffer3 a(*device), b(*device);
    a.upload(before);
    after[700] = before[700] + Vec3{0.0f, 0.25f, 0.0f};
    b.upload(after);
    EXPECT_NEAR(max_displacement(d, std::as_const(b).view(), std::as_const(a).view()), 0.25f,
                1e-6f);
    return 0;
  });
}

BARCHAN_ON_EACH_DEVICE(Search);

// The vectorised kernel of the CPU against the generic one, list by list.
bool fast_lists_equal_reference(std::uint32_t seed) {
  Cpu device(2);
  std::mt19937 random(seed);
  const std::size_t n = random() % 2000;
  const float size = 0.05f + static_cast<float>(random() % 100) * 0.02f;
  const auto points = random_points(n, size, seed);
  const float radius = 0.02f + 0.001f * static_cast<float>(random() % 150);
  return search(device, points, radius) == search(device, points, radius, Way::reference);
}

RC_GTEST_PROP(SearchCpu, FastListsEqualTheGenericKernel, (std::uint32_t seed)) {
  RC_ASSERT(fast_lists_equal_reference(seed));
}

// A cloud with a pair so close to the radius that the order of the sum decides.
TEST(SearchCpu, FastListsEqualTheGenericKernelAtTheEdge) {
  EXPECT_TRUE(fast_lists_equal_reference(1631261626));
}

TEST(SearchCpu, ListsAreTheSameForAnyNumberOfThreads) {
  const auto points = random_points(20000, 1.0f, 12);
  Cpu one(1), four(4);
  EXPECT_EQ(search(one, points, 0.05f), search(four, points, 0.05f));
}

}  // namespace
}  // namespace barchan
