// Everything that lives from one step to the next. A step reads one State and writes the next; a
// checkpoint is a State on disk. Whatever a solver must remember stands here as an extra column, a
// kept array or a scalar, or a retried or resumed run could not give the same bytes.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "compute/buffer.h"
#include "math/quat.h"
#include "math/vec3.h"
#include "sim/columns.h"

namespace barchan {

// Where a solid is and how it moves; static and keyframed solids too.
struct BodyState {
  std::string name;
  Vec3d position;                    // of its own origin [m]
  Quatd orientation;                 // unit
  Vec3d velocity, angular_velocity;  // [m/s], [rad/s]
  Vec3d impulse, angular_impulse;    // from the material since the frame began [N s], [N m s]
};

class State {
 public:
  State(Device& device, std::vector<ColumnSpec> extra = {});

  Device& device() const { return *device_; }
  std::size_t size() const { return columns_.front().size(); }

  // The clock.
  double time = 0.0;          // [s]
  std::int64_t step = 0;      // steps taken
  std::int64_t frame = 0;     // frames completed
  double last_dt = 0.0;       // the step before this moment [s]; 0 at the start
  std::uint64_t next_id = 0;  // ids are never used twice
  double max_speed = 0.0;     // of any particle [m/s]; what time steps are chosen by

  std::vector<BodyState> bodies;
  std::map<std::string, double> scalars;  // whatever else must survive: remainders, sums of a frame

  // Reading. T must be the column's type.
  View3<const float> position() const { return vectors("position"); }
  View3<const float> velocity() const { return vectors("velocity"); }
  View<const std::uint64_t> id() const { return numbers<std::uint64_t>("id"); }
  View<const std::uint8_t> material() const { return numbers<std::uint8_t>("material"); }
  View3<const float> vectors(const std::string& name) const;
  template <class T>
  View<const T> numbers(const std::string& name, int component = 0) const {
    const Column& c = column(name);
    return {c.component<T>(component), c.size()};
  }

  View4<const float> orientations(const std::string& name) const;

  // Changing a column that this state has written, row by row.
  View3<float> rewrite_vectors(const std::string& name);
  View4<float> rewrite_orientations(const std::string& name);
  template <class T>
  View<T> rewrite_numbers(const std::string& name) {
    Column& c = writable(name);
    return {reinterpret_cast<T*>(c.grow(c.size())), c.size()};
  }

  // Writing: the column gets memory of its own (contents undefined) for size() elements.
  View3<float> write_vectors(const std::string& name);
  View3<float> write_position() { return write_vectors("position"); }
  View3<float> write_velocity() { return write_vectors("velocity"); }
  View4<float> write_orientations(const std::string& name);
  template <class T>
  View<T> write_numbers(const std::string& name) {
    Column& c = writable(name);
    return {reinterpret_cast<T*>(c.overwrite(c.size())), c.size()};
  }

  // Becomes the successor of `now`: same particles, clock, bodies and scalars. Columns are shared
  // until written.
  void follow(const State& now);
  // Row i becomes what row order[i] was, in every column; fewer rows remove particles.
  void reorder(View<const std::uint32_t> order) { reorder(order, {}); }
  // But for some columns, which a solver writes anew: they are left as they are.
  void reorder(View<const std::uint32_t> order, std::initializer_list<std::string_view> except);
  // Replaces all particles. Columns not given become 0.
  void assign(std::size_t count, const std::vector<HostColumn>& columns);
  // `count` more particles behind those there are. Columns not given are 0 for them.
  void append(std::size_t count, const std::vector<HostColumn>& columns);
  // Column `to` becomes what `from` is now, sharing its memory: same type and components.
  void copy_column(const std::string& from, const std::string& to);

  // Arrays of a length of their own that a solver keeps from step to step beside the particles: a
  // grid's. nullptr: none of that name was kept.
  const Column* kept(const std::string& name) const;
  const std::deque<Column>& kept() const { return kept_; }
  // Replaces them all.
  void assign_kept(const std::vector<HostColumn>& columns);
  // Writing: memory for `size` elements, contents undefined.
  Column& keep(const ColumnSpec& spec, std::size_t size);

  const std::vector<Column>& columns() const { return columns_; }
  const Column& column(const std::string& name) const;
  bool has(const std::string& name) const;

 private:
  Column& writable(const std::string& name);
  Column& kept_column(const ColumnSpec& spec);
  // Puts `given`, or 0 where it does not have the column, into `count` rows from `first` on.
  void put_rows(std::size_t first, std::size_t count, const std::vector<HostColumn>& given,
                const Column& column, std::byte* to) const;

  Device* device_;
  std::vector<Column> columns_;
  std::deque<Column> kept_;  // keep() hands out references
};

// Hash of every byte of the particles and of what is kept, for tests of determinism.
std::uint64_t hash_of(const State& state);

}  // namespace barchan
