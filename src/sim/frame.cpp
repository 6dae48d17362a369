#include "sim/frame.h"

namespace barchan {

Snapshot take_snapshot(const State& state) {
  Snapshot snapshot;
  snapshot.time = state.time;
  snapshot.step = state.step;
  snapshot.frame = state.frame;
  snapshot.last_dt = state.last_dt;
  snapshot.next_id = state.next_id;
  snapshot.max_speed = state.max_speed;
  snapshot.bodies = state.bodies;
  snapshot.scalars = state.scalars;
  snapshot.count = state.size();
  for (const Column& column : state.columns()) {
    snapshot.columns.push_back(download(state.device(), column));
  }
  for (const Column& column : state.kept()) {
    snapshot.kept.push_back(download(state.device(), column));
  }
  return snapshot;
}

void restore(const Snapshot& snapshot, State& state) {
  state.assign(snapshot.count, snapshot.columns);
  state.assign_kept(snapshot.kept);
  state.time = snapshot.time;
  state.step = snapshot.step;
  state.frame = snapshot.frame;
  state.last_dt = snapshot.last_dt;
  state.next_id = snapshot.next_id;
  state.max_speed = snapshot.max_speed;
  state.bodies = snapshot.bodies;
  state.scalars = snapshot.scalars;
}

}  // namespace barchan
