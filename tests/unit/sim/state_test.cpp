#include "sim/state.h"

#include "sim/frame.h"
#include "unit/devices.h"

namespace barchan {
namespace {

using StateOnDevice = OnDevice;

std::vector<HostColumn> sample_columns(const State& state, std::size_t n) {
  std::vector<HostColumn> columns;
  for (const Column& column : state.columns()) {
    columns.push_back(make_host_column(column.spec(), n));
    HostColumn& host = columns.back();
    for (int c = 0; c < host.spec.components; ++c) {
      for (std::size_t i = 0; i < n; ++i) {
        switch (host.spec.type) {
          case Type::f32:
            host.component<float>(c)[i] = static_cast<float>(10 * i) + static_cast<float>(c);
            break;
          case Type::u64:
            host.component<std::uint64_t>(c)[i] = 1000 + i;
            break;
          case Type::u8:
            host.component<std::uint8_t>(c)[i] = static_cast<std::uint8_t>(i % 3);
            break;
          default:
            break;
        }
      }
    }
  }
  return columns;
}

TEST_P(StateOnDevice, SharingCopiesOnlyWhatIsWritten) {
  State now(*device, {{"stress", Type::f32, 6}}), next(*device, {{"stress", Type::f32, 6}});
  now.assign(100, sample_columns(now, 100));
  next.follow(now);
  EXPECT_EQ(next.column("id").data(), now.column("id").data());
  next.write_position();
  EXPECT_NE(next.column("position").data(), now.column("position").data());
  EXPECT_EQ(next.column("stress").data(), now.column("stress").data());
  const HostColumn kept = download(*device, now.column("position"));
  EXPECT_EQ(kept.component<float>(2)[7], 72.0f);
}

TEST_P(StateOnDevice, DoubleBufferingNeedsNoNewMemory) {
  State now(*device), next(*device);
  now.assign(5000, sample_columns(now, 5000));
  for (int k = 0; k < 2; ++k) {
    next.follow(now);
    next.write_position();
    next.write_velocity();
    std::swap(now, next);
  }
  const std::size_t allocated = device->allocated();
  for (int k = 0; k < 10; ++k) {
    next.follow(now);
    next.write_position();
    next.write_velocity();
    std::swap(now, next);
  }
  EXPECT_EQ(device->allocated(), allocated);
}

TEST_P(StateOnDevice, ReorderMovesWholeRowsAndCanRemove) {
  State state(*device, {{"stress", Type::f32, 6}});
  state.assign(6, sample_columns(state, 6));
  Buffer<std::uint32_t> order(*device);
  order.upload({5, 0, 3});
  state.reorder(order.view());
  ASSERT_EQ(state.size(), 3u);
  EXPECT_EQ(download(*device, state.column("id")).component<std::uint64_t>(0)[0], 1005u);
  EXPECT_EQ(download(*device, state.column("material")).component<std::uint8_t>(0)[2], 0u);
  EXPECT_EQ(download(*device, state.column("stress")).component<float>(5)[1], 5.0f);
  EXPECT_EQ(download(*device, state.column("velocity")).component<float>(1)[2], 31.0f);
}

TEST_P(StateOnDevice, AppendPutsRowsBehindTheOthers) {
  State state(*device, {{"stress", Type::f32, 6}});
  state.assign(6, sample_columns(state, 6));
  std::vector<HostColumn> given = sample_columns(state, 3);
  given.pop_back();  // no stress
  state.append(3, given);
  ASSERT_EQ(state.size(), 9u);
  const HostColumn velocity = download(*device, state.column("velocity"));
  const HostColumn stress = download(*device, state.column("stress"));
  for (std::size_t i = 0; i < 9; ++i) {
    const std::size_t row = i < 6 ? i : i - 6;
    EXPECT_EQ(velocity.component<float>(2)[i], static_cast<float>(10 * row) + 2.0f);
    EXPECT_EQ(stress.component<float>(5)[i], i < 6 ? static_cast<float>(10 * i) + 5.0f : 0.0f);
  }
  EXPECT_EQ(download(*device, state.column("id")).component<std::uint64_t>(0)[8], 1002u);
}

TEST_P(StateOnDevice, AppendLeavesSharedColumnsAlone) {
  State now(*device), next(*device);
  now.assign(100, sample_columns(now, 100));
  next.follow(now);
  const std::uint64_t before = hash_of(now);
  next.append(5, sample_columns(next, 5));
  EXPECT_EQ(next.size(), 105u);
  EXPECT_EQ(now.size(), 100u);
  EXPECT_EQ(hash_of(now), before);
}

// Rows that come a few at a time: memory grows by a share of itself, and the rows before stay.
TEST_P(StateOnDevice, ManySmallAppendsMoveLittle) {
  State state(*device);
  state.assign(0, {});
  const std::vector<HostColumn> three = sample_columns(state, 3);
  int moves = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::byte* at = state.column("position").data();
    state.append(3, three);
    if (state.column("position").data() != at) ++moves;
  }
  EXPECT_LT(moves, 40);
  ASSERT_EQ(state.size(), 3000u);
  const HostColumn id = download(*device, state.column("id"));
  const HostColumn velocity = download(*device, state.column("velocity"));
  for (std::size_t i = 0; i < 3000; ++i) {
    ASSERT_EQ(id.component<std::uint64_t>(0)[i], 1000u + i % 3);
    ASSERT_EQ(velocity.component<float>(1)[i], static_cast<float>(10 * (i % 3)) + 1.0f);
  }
}

TEST_P(StateOnDevice, StepsThatTakeAndAddRowsNeedNoNewMemory) {
  State now(*device), next(*device);
  now.assign(5000, sample_columns(now, 5000));
  std::vector<std::uint32_t> rows(4990);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::uint32_t>(i + 10);
  Buffer<std::uint32_t> order(*device);
  order.upload(rows);
  const std::vector<HostColumn> ten = sample_columns(now, 10);
  std::size_t allocated = 0;
  for (int k = 0; k < 20; ++k) {
    next.follow(now);
    next.write_position();
    next.write_velocity();
    std::swap(now, next);
    now.reorder(std::as_const(order).view());
    now.append(10, ten);
    if (k == 8) allocated = device->allocated();
  }
  EXPECT_EQ(device->allocated(), allocated);
  EXPECT_EQ(now.size(), 5000u);
}

TEST_P(StateOnDevice, CopiedColumnsAreIndependent) {
  State state(*device, {{"before", Type::f32, 3}});
  state.assign(40, sample_columns(state, 40));
  state.copy_column("velocity", "before");
  state.append(2, sample_columns(state, 2));
  state.write_velocity();
  const HostColumn before = download(*device, state.column("before"));
  EXPECT_EQ(before.component<float>(1)[39], 391.0f);
  EXPECT_EQ(before.component<float>(1)[41], 11.0f);
  EXPECT_THROW(state.copy_column("id", "before"), Error);
}

TEST_P(StateOnDevice, SnapshotRestoresEverything) {
  State state(*device, {{"beta", Type::f32, 1}});
  state.assign(50, sample_columns(state, 50));
  state.time = 1.25, state.step = 77, state.frame = 3, state.last_dt = 0.004, state.next_id = 50;
  state.max_speed = 2.5;
  state.scalars["remainder"] = 0.3;
  state.bodies.push_back({"ball", {1, 2, 3}, {}, {4, 5, 6}, {}, {7, 8, 9}, {}});
  State back(*device, {{"beta", Type::f32, 1}});
  restore(take_snapshot(state), back);
  EXPECT_EQ(hash_of(back), hash_of(state));
  EXPECT_EQ(back.time, state.time);
  EXPECT_EQ(back.step, 77);
  EXPECT_EQ(back.frame, 3);
  EXPECT_EQ(back.last_dt, 0.004);
  EXPECT_EQ(back.next_id, 50u);
  EXPECT_EQ(back.max_speed, 2.5);
  EXPECT_EQ(back.scalars, state.scalars);
  EXPECT_EQ(back.bodies[0].impulse, (Vec3d{7, 8, 9}));
}

TEST_P(StateOnDevice, HashSeesASingleBit) {
  State a(*device), b(*device);
  auto columns = sample_columns(a, 20);
  a.assign(20, columns);
  columns[1].component<float>(1)[13] = std::nextafter(columns[1].component<float>(1)[13], 1e9f);
  b.assign(20, columns);
  EXPECT_NE(hash_of(a), hash_of(b));
}

TEST_P(StateOnDevice, UndeclaredColumnsAreAnError) {
  const State state(*device);
  EXPECT_THROW(state.vectors("stress"), Error);
}

BARCHAN_ON_EACH_DEVICE(StateOnDevice);

}  // namespace
}  // namespace barchan
