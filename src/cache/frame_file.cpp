#include "cache/frame_file.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/error.h"
#include "cache/h5_file.h"

namespace barchan {

namespace fs = std::filesystem;

namespace {

static_assert(sizeof(Vec3) == 3 * sizeof(float), "positions are read straight into Vec3");

struct Required {
  const char* name;
  Type type;
  int components;
};
constexpr std::array<Required, 4> kRequired = {{{"position", Type::f32, 3},
                                                {"velocity", Type::f32, 3},
                                                {"id", Type::u64, 1},
                                                {"material", Type::u8, 1}}};

bool is_required(const std::string& name) {
  return std::any_of(kRequired.begin(), kRequired.end(),
                     [&](const Required& r) { return name == r.name; });
}

// The columns a frame's file gets, in its order.
std::vector<const HostColumn*> columns_to_write(const Frame& frame) {
  std::vector<const HostColumn*> chosen;
  for (const Required& r : kRequired) {
    const auto found = std::find_if(frame.columns.begin(), frame.columns.end(),
                                    [&](const HostColumn& c) { return c.spec.name == r.name; });
    if (found == frame.columns.end() || found->spec.type != r.type ||
        found->spec.components != r.components) {
      fail("frame {} has no column '{}' of {} x {}", frame.index, r.name, name_of(r.type),
           r.components);
    }
    chosen.push_back(&*found);
  }
  for (const HostColumn& column : frame.columns) {
    if (column.spec.in_frames && !is_required(column.spec.name)) chosen.push_back(&column);
  }
  return chosen;
}

void write_body(H5Writer& file, const BodyState& body) {
  const std::string group = "bodies/" + body.name + "/";
  const auto vector = [&](const char* name, const Vec3d& v) {
    file.numbers<double>(group + name, std::array{v.x, v.y, v.z});
  };
  const Quatd& q = body.orientation;
  vector("position", body.position);
  file.numbers<double>(group + "orientation", std::array{q.w, q.x, q.y, q.z});
  vector("velocity", body.velocity);
  vector("angular_velocity", body.angular_velocity);
}

// Numbers that must be exactly so many.
template <std::size_t Count>
std::array<double, Count> exactly(const H5Reader& file, const std::string& name) {
  std::array<double, Count> values{};
  file.read(name, {Type::f64, Count, 1}, values.data());
  return values;
}

BodyState read_body(const H5Reader& file, const std::string& name) {
  const std::string group = "bodies/" + name + "/";
  const auto vector = [&](const char* what) {
    const auto v = exactly<3>(file, group + what);
    return Vec3d(v[0], v[1], v[2]);
  };
  BodyState body;
  body.name = name;
  body.position = vector("position");
  const auto q = exactly<4>(file, group + "orientation");
  body.orientation = Quatd(q[0], q[1], q[2], q[3]);
  body.velocity = vector("velocity");
  body.angular_velocity = vector("angular_velocity");
  return body;
}

std::vector<std::string> body_names(const H5Reader& file) {
  return file.has("bodies") ? file.children("bodies") : std::vector<std::string>();
}

FrameField field_of(const H5Reader& file, const std::string& name) {
  const H5Shape shape = file.shape(name);
  return {name, shape.type, shape.components, shape.rows};
}

// Every dataset but those of the bodies; groups ("spheres") one level deep.
std::vector<FrameField> all_fields(const H5Reader& file) {
  std::vector<FrameField> fields;
  for (const std::string& name : file.children("/")) {
    if (name == "bodies") continue;
    if (!file.is_group(name)) {
      fields.push_back(field_of(file, name));
      continue;
    }
    for (const std::string& inner : file.children(name)) {
      fields.push_back(field_of(file, name + "/" + inner));
    }
  }
  return fields;
}

// The four that every frame has, and as many rows in each column as there are particles.
void require_fields(const H5Reader& file, const std::vector<FrameField>& fields) {
  for (const Required& r : kRequired) {
    const auto found = std::find_if(fields.begin(), fields.end(),
                                    [&](const FrameField& f) { return f.name == r.name; });
    if (found == fields.end()) file.broken(r.name, "is missing");
    if (found->type != r.type || found->components != r.components) {
      file.broken(r.name, fmt::format("is {} x {}, not {} x {}", name_of(found->type),
                                      found->components, name_of(r.type), r.components));
    }
  }
  const std::size_t particles = file.shape("position").rows;
  for (const FrameField& field : fields) {
    if (field.size != particles && field.name.find('/') == std::string::npos) {
      file.broken(field.name, fmt::format("has {} rows, 'position' {}", field.size, particles));
    }
  }
}

FrameSummary summarize(const H5Reader& file) {
  file.require_kind("frame");
  FrameSummary summary;
  summary.index = file.integer("/", "frame");
  summary.time = file.number("/", "time");
  summary.spacing = file.number("/", "spacing");
  summary.surface_radius = file.number("/", "surface_radius");
  summary.file_bytes = file.bytes();
  summary.fields = all_fields(file);
  require_fields(file, summary.fields);
  summary.particles = file.shape("position").rows;
  summary.materials = file.text_list("material", "materials");
  summary.bodies = body_names(file);
  return summary;
}

void require_known_materials(const H5Reader& file, const LoadedFrame& frame) {
  if (frame.material.empty() || frame.materials.empty()) return;
  const int largest = *std::max_element(frame.material.begin(), frame.material.end());
  if (static_cast<std::size_t>(largest) >= frame.materials.size()) {
    file.broken("material", fmt::format("has material number {}, but only {} are named", largest,
                                        frame.materials.size()));
  }
}

}  // namespace

void write_frame(const fs::path& path, const Frame& frame) {
  const std::vector<const HostColumn*> columns = columns_to_write(frame);
  std::size_t bytes = std::size_t{1} << 16;
  for (const HostColumn* column : columns) bytes += column->bytes();

  H5Writer file(bytes);
  mark_kind(file, "frame");
  file.set_integer("/", "frame", frame.index);
  file.set_number("/", "time", frame.time);
  file.set_number("/", "spacing", frame.spacing);
  file.set_number("/", "surface_radius", frame.surface_radius);
  for (const HostColumn* column : columns) file.column(column->spec.name, *column);
  file.set_texts("material", "materials", frame.materials);
  for (const BodyState& body : frame.bodies) write_body(file, body);
  file.save(path);
}

const ExtraColumn* LoadedFrame::find(const std::string& name) const {
  const auto found = std::find_if(extra.begin(), extra.end(),
                                  [&](const ExtraColumn& column) { return column.name == name; });
  return found == extra.end() ? nullptr : &*found;
}

LoadedFrame read_frame(const fs::path& path) {
  const H5Reader file(path);
  FrameSummary summary = summarize(file);
  LoadedFrame frame;
  frame.index = summary.index;
  frame.time = summary.time;
  frame.spacing = summary.spacing;
  frame.surface_radius = summary.surface_radius;
  frame.materials = std::move(summary.materials);

  const auto particles = static_cast<std::size_t>(summary.particles);
  frame.position.resize(particles);
  frame.velocity.resize(particles);
  file.read("position", {Type::f32, particles, 3}, frame.position.data());
  file.read("velocity", {Type::f32, particles, 3}, frame.velocity.data());
  frame.id = file.numbers<std::uint64_t>("id");
  frame.material = file.numbers<std::uint8_t>("material");
  require_known_materials(file, frame);

  for (const FrameField& field : summary.fields) {
    if (is_required(field.name)) continue;
    ExtraColumn column{field.name, field.type, field.components, field.size, {}};
    column.interleaved.resize(field.size * static_cast<std::size_t>(field.components) *
                              size_of(field.type));
    file.read(field.name, {field.type, field.size, field.components}, column.interleaved.data());
    frame.extra.push_back(std::move(column));
  }
  for (const std::string& name : summary.bodies) frame.bodies.push_back(read_body(file, name));
  return frame;
}

FrameSummary summarize_frame(const fs::path& path) {
  return summarize(H5Reader(path));
}

FrameSummary summarize_frame(const Frame& frame) {
  FrameSummary summary;
  summary.index = frame.index;
  summary.time = frame.time;
  summary.spacing = frame.spacing;
  summary.surface_radius = frame.surface_radius;
  summary.materials = frame.materials;
  for (const HostColumn* column : columns_to_write(frame)) {
    const ColumnSpec& spec = column->spec;
    summary.fields.push_back({spec.name, spec.type, spec.components, column->size});
  }
  summary.particles = summary.fields.front().size;
  for (const BodyState& body : frame.bodies) summary.bodies.push_back(body.name);
  return summary;
}

void verify_frame(const fs::path& path) {
  const H5Reader file(path);
  const FrameSummary summary = summarize(file);
  for (const std::string& name : summary.bodies) read_body(file, name);
  file.verify();
}

}  // namespace barchan
