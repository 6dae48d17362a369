#include "export/usda_file.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "barchan/version.h"
#include "base/atomic_file.h"
#include "geometry/aabb.h"

namespace barchan {

namespace fs = std::filesystem;

namespace {

// ---- Values as USD writes them; floats with as many digits as reading them back takes

template <class T>
void print(const T& integer, std::string& out) {
  fmt::format_to(std::back_inserter(out), FMT_COMPILE("{}"), integer);
}
template <class T>
void print(const Vector3<T>& v, std::string& out) {
  fmt::format_to(std::back_inserter(out), FMT_COMPILE("({}, {}, {})"), v.x, v.y, v.z);
}
void print(const Quatd& q, std::string& out) {
  fmt::format_to(std::back_inserter(out), FMT_COMPILE("({}, {}, {}, {})"), q.w, q.x, q.y, q.z);
}
void print(const Triangle& t, std::string& out) {
  fmt::format_to(std::back_inserter(out), FMT_COMPILE("{}, {}, {}"), t[0], t[1], t[2]);
}
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + '"';
}

template <class T>
std::string list(const std::vector<T>& values) {
  std::string out = "[";
  for (const T& value : values) {
    if (out.size() > 1) out += ", ";
    print(value, out);
  }
  return out + "]";
}

// Two corners; for no points the largest float and its opposite, as USD itself has it.
std::vector<Vec3> extent_of(const std::vector<Vec3>& points, double margin) {
  constexpr float kMost = std::numeric_limits<float>::max();
  if (points.empty()) return {Vec3(kMost, kMost, kMost), Vec3(-kMost, -kMost, -kMost)};
  Aabb box;
  for (const Vec3& p : points) box = join(box, Aabb{Vec3d(p), Vec3d(p)});
  box = box.grown(margin);
  return {Vec3(box.lo), Vec3(box.hi)};
}

// A scene's names may hold '-' and begin with a digit; those of USD may not, and two names must not
// become one.
std::vector<std::string> usd_names(const std::vector<NamedMesh>& solids) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const NamedMesh& solid : solids) {
    std::string name = solid.name;
    std::replace(name.begin(), name.end(), '-', '_');
    if (name.front() >= '0' && name.front() <= '9') name.insert(0, "_");
    while (!taken.insert(name).second) name += "_";
    names.push_back(name);
  }
  return names;
}

}  // namespace

// The values of one attribute over time.
class TimeSamples {
 public:
  // `attribute` with its type: "point3f[] points". Larger amounts go to nameless files in `folder`.
  TimeSamples(std::string attribute, fs::path folder)
      : attribute_(std::move(attribute)), folder_(std::move(folder)) {}

  template <class T>
  void add(std::int64_t frame, const T& value) {
    begin(frame);
    print(value, text_);
    text_ += ",\n";
  }

  template <class T>
  void add(std::int64_t frame, const std::vector<T>& values) {
    begin(frame);
    text_ += '[';
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) text_ += ", ";
      print(values[i], text_);
      if (text_.size() > kInMemory) put_aside();
    }
    text_ += "],\n";
  }

  void write(AtomicFile& out) const {
    out.append("        " + attribute_ + ".timeSamples = {\n");
    if (aside_) out.append(*aside_);
    out.append(text_);
    out.append("        }\n");
  }

 private:
  static constexpr std::size_t kInMemory = std::size_t{1} << 20;  // [bytes]

  void begin(std::int64_t frame) {
    fmt::format_to(std::back_inserter(text_), "            {}: ", frame);
  }
  void put_aside() {
    if (!aside_) aside_.emplace(folder_);
    aside_->append(text_);
    text_.clear();
  }

  std::string attribute_;
  fs::path folder_;
  std::string text_;                  // what came last
  std::optional<ScratchFile> aside_;  // what came before it
};

struct UsdaFile::Samples {
  Samples(const fs::path& folder, std::size_t solids)
      : extent("float3[] extent", folder),
        points("point3f[] points", folder),
        velocities("vector3f[] velocities", folder),
        ids("int64[] ids", folder),
        materials("int[] primvars:displayColor:indices", folder),
        surface_extent("float3[] extent", folder),
        surface_points("point3f[] points", folder),
        surface_normals("normal3f[] normals", folder),
        surface_velocities("vector3f[] velocities", folder),
        corners_of_faces("int[] faceVertexCounts", folder),
        corners("int[] faceVertexIndices", folder) {
    for (std::size_t s = 0; s < solids; ++s) {
      translate.emplace_back("double3 xformOp:translate", folder);
      orient.emplace_back("quatd xformOp:orient", folder);
    }
  }

  TimeSamples extent, points, velocities, ids, materials;
  TimeSamples surface_extent, surface_points, surface_normals, surface_velocities;
  TimeSamples corners_of_faces, corners;
  std::vector<TimeSamples> translate, orient;  // one a solid
};

namespace {

// `translate` and `orient` count if it moves.
void write_solid(const NamedMesh& solid, const std::string& name, const TimeSamples& translate,
                 const TimeSamples& orient, AtomicFile& out) {
  out.append(fmt::format("        def Mesh \"{}\"\n        {{\n", name));
  const std::vector<Vec3> points(solid.mesh.vertices.begin(), solid.mesh.vertices.end());
  const std::vector<int> threes(solid.mesh.triangles.size(), 3);
  out.append(fmt::format("        custom string barchan:name = {}\n", quoted(solid.name)));
  out.append("        float3[] extent = " + list(extent_of(points, 0.0)) + "\n");
  out.append("        int[] faceVertexCounts = " + list(threes) + "\n");
  out.append("        int[] faceVertexIndices = " + list(solid.mesh.triangles) + "\n");
  out.append("        point3f[] points = " + list(points) + "\n");
  out.append("        uniform token subdivisionScheme = \"none\"\n");
  // Viewers hide guides unless asked: a container would hide what is in it
  if (solid.container) out.append("        uniform token purpose = \"guide\"\n");
  if (solid.moves) {
    translate.write(out);
    orient.write(out);
    out.append(
        "        uniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:orient\"]\n");
  }
  out.append("        }\n");
}

}  // namespace

UsdaFile::UsdaFile(fs::path file, UsdaStage stage)
    : file_(std::move(file)),
      stage_(std::move(stage)),
      samples_(std::make_unique<Samples>(
          file_.has_parent_path() ? file_.parent_path() : fs::path("."), stage_.solids.size())) {}

UsdaFile::~UsdaFile() = default;

void UsdaFile::add(const LoadedFrame& frame, const SurfaceMesh& surface) {
  const std::int64_t at = frame.index;
  if (first_ < 0) first_ = at;
  last_ = at;

  samples_->extent.add(at, extent_of(frame.position, 0.5 * stage_.width));
  samples_->points.add(at, frame.position);
  samples_->velocities.add(at, frame.velocity);
  samples_->ids.add(at, frame.id);
  samples_->materials.add(at, frame.material);

  samples_->surface_extent.add(at, extent_of(surface.vertices, 0.0));
  samples_->surface_points.add(at, surface.vertices);
  samples_->surface_normals.add(at, surface.normals);
  samples_->surface_velocities.add(at, surface.velocities);
  samples_->corners_of_faces.add(at, std::vector<int>(surface.triangles.size(), 3));
  samples_->corners.add(at, surface.triangles);

  for (std::size_t s = 0; s < stage_.solids.size(); ++s) {
    const Pose pose = pose_in(frame, stage_.solids[s].name);
    samples_->translate[s].add(at, pose.position);
    samples_->orient[s].add(at, pose.orientation);
  }
}

void UsdaFile::finish() {
  AtomicFile out(file_);
  out.append(
      fmt::format("#usda 1.0\n(\n    defaultPrim = \"run\"\n    doc = {}\n    startTimeCode = {}\n"
                  "    endTimeCode = {}\n    timeCodesPerSecond = {}\n    framesPerSecond = {}\n"
                  "    metersPerUnit = 1\n    upAxis = \"{}\"\n)\n\n",
                  quoted(fmt::format("barchan {}: {}", version(), stage_.title)), first_, last_,
                  stage_.fps, stage_.fps, stage_.z_up ? 'Z' : 'Y'));
  out.append("def Xform \"run\"\n{\n    def Points \"particles\"\n    {\n");
  const std::string colors = list(stage_.colors);
  out.append(
      fmt::format("        color3f[] primvars:displayColor = {} (\n"
                  "            interpolation = \"vertex\"\n        )\n",
                  colors));
  out.append(
      fmt::format("        float[] widths = [{}] (\n"
                  "            interpolation = \"constant\"\n        )\n",
                  static_cast<float>(stage_.width)));
  for (const TimeSamples* samples : {&samples_->materials, &samples_->extent, &samples_->ids,
                                     &samples_->points, &samples_->velocities}) {
    samples->write(out);
  }
  out.append("    }\n\n    def Mesh \"surface\"\n    {\n");
  out.append("        uniform token subdivisionScheme = \"none\"\n");
  out.append("        normal3f[] normals (\n            interpolation = \"vertex\"\n        )\n");
  for (const TimeSamples* samples :
       {&samples_->surface_extent, &samples_->corners_of_faces, &samples_->corners,
        &samples_->surface_points, &samples_->surface_normals, &samples_->surface_velocities}) {
    samples->write(out);
  }
  out.append("    }\n\n    def Scope \"solids\"\n    {\n");
  const std::vector<std::string> names = usd_names(stage_.solids);
  for (std::size_t s = 0; s < names.size(); ++s) {
    write_solid(stage_.solids[s], names[s], samples_->translate[s], samples_->orient[s], out);
  }
  out.append("    }\n}\n");
  out.commit();
}

}  // namespace barchan
