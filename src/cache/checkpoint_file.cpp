#include "cache/checkpoint_file.h"

#include <span>
#include <vector>

#include "cache/h5_file.h"

namespace barchan {

namespace fs = std::filesystem;

namespace {

// A body as one row: position 3, orientation 4 (w x y z), velocity 3, angular velocity 3, impulse
// 3, angular impulse 3.
constexpr int kBodyNumbers = 19;

void put(std::vector<double>& row, const Vec3d& v) {
  row.insert(row.end(), {v.x, v.y, v.z});
}

Vec3d take_vector(const double*& at) {
  const Vec3d v(at[0], at[1], at[2]);
  at += 3;
  return v;
}

void write_bodies(H5Writer& file, const std::vector<BodyState>& bodies) {
  std::vector<std::string> names;
  std::vector<double> rows;
  for (const BodyState& body : bodies) {
    // Does not compile once a body has a field more: it must be kept here and in read_bodies.
    const auto& [name, position, q, velocity, angular_velocity, impulse, angular_impulse] = body;
    names.push_back(name);
    put(rows, position);
    rows.insert(rows.end(), {q.w, q.x, q.y, q.z});
    put(rows, velocity);
    put(rows, angular_velocity);
    put(rows, impulse);
    put(rows, angular_impulse);
  }
  file.texts("bodies/names", names);
  file.numbers<double>("bodies/values", rows, kBodyNumbers);
}

std::vector<BodyState> read_bodies(const H5Reader& file) {
  const std::vector<std::string> names = file.texts("bodies/names");
  const std::vector<double> rows = file.numbers<double>("bodies/values", kBodyNumbers);
  if (rows.size() != names.size() * kBodyNumbers) {
    file.broken("bodies/values", "has another number of rows than 'bodies/names'");
  }
  std::vector<BodyState> bodies;
  const double* at = rows.data();
  for (const std::string& name : names) {
    BodyState body;
    body.name = name;
    body.position = take_vector(at);
    body.orientation = Quatd(at[0], at[1], at[2], at[3]);
    at += 4;
    body.velocity = take_vector(at);
    body.angular_velocity = take_vector(at);
    body.impulse = take_vector(at);
    body.angular_impulse = take_vector(at);
    bodies.push_back(std::move(body));
  }
  return bodies;
}

// Names and values apart, as a scalar may have any name.
void write_scalars(H5Writer& file, const std::map<std::string, double>& scalars) {
  std::vector<std::string> names;
  std::vector<double> values;
  for (const auto& [name, value] : scalars) {
    names.push_back(name);
    values.push_back(value);
  }
  file.texts("scalars/names", names);
  file.numbers<double>("scalars/values", values);
}

std::map<std::string, double> read_scalars(const H5Reader& file) {
  const std::vector<std::string> names = file.texts("scalars/names");
  const std::vector<double> values = file.numbers<double>("scalars/values");
  if (names.size() != values.size()) {
    file.broken("scalars/values", "has another number of rows than 'scalars/names'");
  }
  std::map<std::string, double> scalars;
  for (std::size_t i = 0; i < names.size(); ++i) scalars[names[i]] = values[i];
  return scalars;
}

// Under `folder`, which is "columns" for the particles and "kept" for what has its own length.
void write_columns(H5Writer& file, const std::string& folder, const std::string& list,
                   const std::vector<HostColumn>& columns) {
  std::vector<std::string> names;
  for (const HostColumn& column : columns) {
    const std::string path = folder + "/" + column.spec.name;
    file.column(path, column);
    file.set_integer(path, "in_frames", column.spec.in_frames ? 1 : 0);
    names.push_back(column.spec.name);
  }
  file.texts(list, names);  // their order, which is the solver's
}

std::vector<HostColumn> read_columns(const H5Reader& file, const std::string& folder,
                                     const std::string& list) {
  std::vector<HostColumn> columns;
  for (const std::string& name : file.texts(list)) {
    const std::string path = folder + "/" + name;
    HostColumn column = file.column(path);
    column.spec.name = name;
    column.spec.in_frames = file.integer(path, "in_frames") != 0;
    columns.push_back(std::move(column));
  }
  return columns;
}

CheckpointSummary summarize(const H5Reader& file) {
  file.require_kind("checkpoint");
  CheckpointSummary summary;
  summary.time = file.number("/", "time");
  summary.step = file.integer("/", "step");
  summary.frame = file.integer("/", "frame");
  summary.particles = file.count("/", "count");
  summary.file_bytes = file.bytes();
  return summary;
}

}  // namespace

void write_checkpoint(const fs::path& path, const Snapshot& snapshot, const std::string& scene) {
  // Does not compile once a snapshot has a field more: it must be kept here and in read_checkpoint.
  const auto& [time, step, frame, last_dt, next_id, max_speed, bodies, scalars, count, columns,
               kept] = snapshot;
  std::size_t bytes = std::size_t{1} << 16;
  for (const HostColumn& column : columns) bytes += column.bytes();
  for (const HostColumn& column : kept) bytes += column.bytes();

  H5Writer file(bytes);
  mark_kind(file, "checkpoint");
  file.set_number("/", "time", time);
  file.set_integer("/", "step", step);
  file.set_integer("/", "frame", frame);
  file.set_count("/", "count", count);
  file.numbers<double>("clock/last_dt", std::span(&last_dt, 1));
  file.numbers<std::uint64_t>("clock/next_id", std::span(&next_id, 1));
  file.numbers<double>("clock/max_speed", std::span(&max_speed, 1));
  file.texts("scene", {scene});
  write_scalars(file, scalars);
  write_bodies(file, bodies);
  write_columns(file, "columns", "column_names", columns);
  write_columns(file, "kept", "kept_names", kept);
  file.save(path);
}

LoadedCheckpoint read_checkpoint(const fs::path& path) {
  const H5Reader file(path);
  const CheckpointSummary summary = summarize(file);
  LoadedCheckpoint loaded;
  Snapshot& snapshot = loaded.snapshot;
  snapshot.time = summary.time;
  snapshot.step = summary.step;
  snapshot.frame = summary.frame;
  snapshot.count = static_cast<std::size_t>(summary.particles);
  file.read("clock/last_dt", {Type::f64, 1, 1}, &snapshot.last_dt);
  file.read("clock/next_id", {Type::u64, 1, 1}, &snapshot.next_id);
  file.read("clock/max_speed", {Type::f64, 1, 1}, &snapshot.max_speed);
  const std::vector<std::string> scene = file.texts("scene");
  if (scene.size() != 1) file.broken("scene", "is not one text");
  loaded.scene = scene.front();
  snapshot.scalars = read_scalars(file);
  snapshot.bodies = read_bodies(file);
  snapshot.columns = read_columns(file, "columns", "column_names");
  if (file.has("kept_names")) snapshot.kept = read_columns(file, "kept", "kept_names");
  return loaded;
}

CheckpointSummary summarize_checkpoint(const fs::path& path) {
  return summarize(H5Reader(path));
}

void verify_checkpoint(const fs::path& path) {
  const H5Reader file(path);
  summarize(file);
  file.verify();
}

}  // namespace barchan
