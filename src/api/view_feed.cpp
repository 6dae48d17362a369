#include "api/view_feed.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/atomic_file.h"
#include "base/data_folder.h"
#include "base/error.h"
#include "base/log.h"
#include "base/thread_priority.h"
#include "base/warning_listener.h"
#include "export/solid_meshes.h"
#include "scene/node.h"
#include "scene/sections.h"
#include "sim/initial_state.h"
#include "view/frame_message.h"

namespace barchan {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

std::string file_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Pictures that have another name than their scene.
const std::map<std::string, std::string> kPictures = {{"ao11/sandcastle", "castle-stands.jpg"},
                                                      {"ao11/piles", "pile.jpg"},
                                                      {"bym05/covering", "covered-camel.png"}};

// pbf13/bunny-bath: pbf13-bunny-bath.jpg, otherwise bunny-bath.jpg where no scene has that name.
fs::path picture_file(const fs::path& folder, const ShippedScene& scene,
                      const std::vector<ShippedScene>& all) {
  if (const auto other = kPictures.find(scene.name); other != kPictures.end()) {
    return folder / other->second;
  }
  std::string whole = scene.name;
  std::replace(whole.begin(), whole.end(), '/', '-');
  if (fs::exists(folder / (whole + ".jpg"))) return folder / (whole + ".jpg");
  const std::string stem = fs::path(scene.name).filename().string();
  const bool taken =
      std::any_of(all.begin(), all.end(), [&](const ShippedScene& s) { return s.name == stem; });
  return taken ? fs::path() : folder / (stem + ".jpg");
}
std::string picture_path(const ShippedScene& scene) {
  return "/gallery/" + scene.name + ".jpg";
}

// The list of what is served is made once, here.
std::map<std::string, ServedFile> served_files() {
  std::map<std::string, ServedFile> files;
  const fs::path page = data_folder("web", "dist") / "dist" / "index.html";
  if (!fs::exists(page)) {
    reject("the page of the view is not built ({}): install npm, then run 'make page'",
           page.string());
  }
  files["/"] = {"text/html; charset=utf-8", file_text(page)};
  const fs::path pictures = data_folder("docs", "gallery") / "gallery";
  const std::vector<ShippedScene> scenes = shipped_scenes();
  for (const ShippedScene& scene : scenes) {
    const fs::path picture = picture_file(pictures, scene, scenes);
    if (!fs::is_regular_file(picture)) continue;
    const bool png = picture.extension() == ".png";
    files[picture_path(scene)] = {png ? "image/png" : "image/jpeg", file_text(picture)};
  }
  return files;
}

std::string solver_of(const ShippedScene& scene) {
  const Node document = parse_toml(read_text_file(scene.path), scene.path.string());
  const Node::Member* solver = document.find("solver");
  return solver ? solver->value.text : SceneParams().solver;
}

Json gallery_json(const std::map<std::string, ServedFile>& files) {
  Json scenes = Json::array();
  for (const ShippedScene& scene : shipped_scenes()) {
    scenes.push_back({{"name", scene.name},
                      {"title", scene.title},
                      {"solver", solver_of(scene)},
                      {"picture", files.count(picture_path(scene)) > 0}});
  }
  return scenes;
}

Json number_or_null(double v) {
  return std::isfinite(v) ? Json(v) : Json(nullptr);
}

Json value_json(const ParamValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return number_or_null(*number);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return *whole;
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* numbers = std::get_if<std::vector<double>>(&value)) return *numbers;
  return nullptr;
}

Json vector_json(const Vec3d& v) {
  return is_set(v) ? Json{v.x, v.y, v.z} : Json(nullptr);
}

// Planes that are not level, each {point, normal}.
Json slopes_json(const Vec3d& up, const SolidSet& solids) {
  Json slopes = Json::array();
  for (int s = 0; s < solids.count(); ++s) {
    const Shape& shape = solids[s].shape;
    if (shape.kind != Shape::Kind::plane) continue;
    const Vec3d normal = normalized(shape.normal);
    if (std::abs(dot(normal, up)) < 0.999) {
      slopes.push_back({{"point", vector_json(shape.point)}, {"normal", vector_json(normal)}});
    }
  }
  return slopes;
}

// Height of a level floor without an end; null where there is none.
Json ground_json(const Vec3d& up, const SolidSet& solids) {
  for (int s = 0; s < solids.count(); ++s) {
    const Shape& shape = solids[s].shape;
    if (shape.kind == Shape::Kind::plane && dot(normalized(shape.normal), up) > 0.999) {
      return dot(shape.point, up);
    }
  }
  return nullptr;
}

Json param_json(const ViewParam& param) {
  const ParamField& field = *param.field;
  return {{"key", param.key},
          {"unit", field.unit},
          {"lo", number_or_null(field.range.lo)},
          {"hi", number_or_null(field.range.hi)},
          {"whole", field.kind == ParamKind::integer},
          {"choices", field.choices},
          {"help", field.help},
          {"live", param.live},
          {"value", value_json(param.value)}};
}

Json solid_json(const NamedMesh& solid) {
  constexpr double kMicro = 1e6;  // vertices to a thousandth of a millimetre: few digits
  Json vertices = Json::array(), triangles = Json::array();
  for (const Vec3d& v : solid.mesh.vertices) {
    for (int axis = 0; axis < 3; ++axis) vertices.push_back(std::round(v[axis] * kMicro) / kMicro);
  }
  for (const Triangle& t : solid.mesh.triangles) {
    for (const std::uint32_t corner : t) triangles.push_back(corner);
  }
  return {{"name", solid.name},
          {"container", solid.container},
          {"moves", solid.moves},
          {"vertices", vertices},
          {"triangles", triangles}};
}

const char* name_of(ViewMode mode) {
  switch (mode) {
    case ViewMode::gallery:
      return "gallery";
    case ViewMode::live:
      return "live";
    case ViewMode::cached:
      return "cached";
    case ViewMode::run:
      return "run";
  }
  return "";
}

void add_params(const ParamTable& table, const std::string& prefix, const void* object, bool live,
                std::vector<ViewParam>& params) {
  for (const ParamField& field : table.fields) {
    const bool in_space = field.kind == ParamKind::vector && !field.unit.empty();
    const bool shown = field.kind == ParamKind::number || field.kind == ParamKind::integer ||
                       field.kind == ParamKind::choice || in_space;
    if (!shown || !field.get || field.name == "preset") continue;
    const ParamValue value = field.get(object);
    const auto* number = std::get_if<double>(&value);
    if (field.optional && number && !is_set(*number)) continue;
    params.push_back({prefix + field.name, &field, value, live || in_space});
  }
}

// ---- Particles of a frame, as spheres

const HostColumn* find(const Frame& frame, const std::string& name) {
  for (const HostColumn& column : frame.columns) {
    if (column.spec.name == name) return &column;
  }
  return nullptr;
}

template <class T>
std::span<const T> part(const HostColumn* column, int c = 0) {
  if (!column || column->spec.type != type_of<T>() || c >= column->spec.components) return {};
  return {column->component<T>(c), column->size};
}

ViewParticles particles_of(const Frame& frame) {
  const HostColumn *x = find(frame, "position"), *v = find(frame, "velocity");
  return {part<float>(x, 0),
          part<float>(x, 1),
          part<float>(x, 2),
          part<float>(v, 0),
          part<float>(v, 1),
          part<float>(v, 2),
          part<float>(find(frame, "density")),
          part<float>(find(frame, "pressure")),
          {},
          part<std::uint8_t>(find(frame, "material")),
          part<std::uint64_t>(find(frame, "id"))};
}

// Grains are drawn as the spheres they are made of, each with what its grain has.
struct GrainSpheres {
  std::vector<float> vx, vy, vz;
  std::vector<std::uint8_t> material;
  std::vector<std::uint64_t> id;

  ViewParticles of(const Frame& frame, const ViewParticles& grains) {
    const HostColumn* x = find(frame, "spheres/position");
    const auto radius = part<float>(find(frame, "spheres/radius"));
    const auto owner = part<std::uint32_t>(find(frame, "spheres/grain"));
    if (!x || radius.size() != x->size || owner.size() != x->size) return grains;
    for (const std::uint32_t g : owner) {
      if (g >= grains.x.size()) fail("a sphere belongs to no grain");
      vx.push_back(grains.speed_x[g]);
      vy.push_back(grains.speed_y[g]);
      vz.push_back(grains.speed_z[g]);
      material.push_back(grains.material[g]);
      id.push_back(grains.id[g]);
    }
    return {part<float>(x, 0),
            part<float>(x, 1),
            part<float>(x, 2),
            vx,
            vy,
            vz,
            {},
            {},
            radius,
            material,
            id};
  }
};

}  // namespace

std::vector<ViewParam> view_params(const Scene& scene) {
  std::vector<ViewParam> params;
  add_params(table_of<SceneParams>(), "", &scene.general, false, params);
  for (const Material& material : scene.materials) {
    add_params(table_of<MaterialParams>(), "material." + material.name + ".", &material.params,
               true, params);
  }
  for (const SingleSection& single : single_sections()) {
    if (single.table->section != scene.general.solver) continue;
    add_params(*single.table, single.table->section + ".", single.object(const_cast<Scene&>(scene)),
               true, params);
  }
  return params;
}

namespace {
// Of the processor's time [s]
double seconds_of_this_thread() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

bool in_range(double v, const ParamRange& range) {
  return v >= range.lo && v <= range.hi && !(range.open_lo && v == range.lo);
}
}  // namespace

std::string setting_of(const ViewCommand& command, const std::vector<ViewParam>& params) {
  for (const ViewParam& param : params) {
    if (param.key != command.key) continue;
    const ParamField& field = *param.field;
    if (field.kind == ParamKind::choice) {
      const auto& words = field.choices;
      if (!command.is_word || std::find(words.begin(), words.end(), command.value) == words.end()) {
        reject("{}: '{}' is none of its choices", command.key, command.value);
      }
      return command.key + "=\"" + command.value + "\"";
    }
    const bool vector = field.kind == ParamKind::vector;
    if (command.is_word || command.is_vector != vector) {
      reject("{}: expected {}", command.key, vector ? "three numbers" : "a number");
    }
    const ParamRange& range = field.range;
    const double v = vector ? command.vector.x : std::stod(command.value);
    const Vec3d all = vector ? command.vector : Vec3d(v, v, v);
    if (!in_range(all.x, range) || !in_range(all.y, range) || !in_range(all.z, range)) {
      reject("{} = {}: it must be from {} to {}", command.key, command.value, range.lo, range.hi);
    }
    if (field.kind == ParamKind::integer) {
      return fmt::format("{}={}", command.key, static_cast<std::int64_t>(std::llround(v)));
    }
    return command.key + "=" + command.value;
  }
  reject("'{}' is no parameter that the view can change", command.key.substr(0, 60));
}

ViewFeed::ViewFeed(const ViewPlace& place) {
  ViewServerOptions options{place.host, place.port,
                            place.token.empty() ? random_token() : place.token, served_files()};
  last_["gallery"] = std::make_shared<std::string>(
      Json{{"type", "gallery"}, {"scenes", gallery_json(options.files)}}.dump());
  ViewServerHandler handler;
  handler.greeting = [this] { return greeting(); };
  handler.message = [this](const std::string& text) { return take(text); };
  server_ = std::make_unique<ViewServer>(std::move(options), std::move(handler));
  set_warning_listener([this](const std::string& text) {
    // Who was turned away is the program's business, not the page's.
    if (text.rfind("view: ", 0) != 0) add_warning(text);
  });
  encoder_ = std::thread([this] { encode_frames(); });
}

ViewFeed::~ViewFeed() {
  set_warning_listener({});
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_encoder_.notify_all();
  encoder_.join();
  server_.reset();  // its thread calls this object
}

std::vector<SharedBytes> ViewFeed::greeting() const {
  const std::lock_guard lock(mutex_);
  std::vector<SharedBytes> texts;
  for (const char* kind : {"gallery", "scene", "timeline", "state", "stats", "warnings"}) {
    if (const auto found = last_.find(kind); found != last_.end()) texts.push_back(found->second);
  }
  return texts;
}

void ViewFeed::tell(const std::string& kind, std::string text) {
  auto bytes = std::make_shared<const std::string>(std::move(text));
  {
    const std::lock_guard lock(mutex_);
    last_[kind] = bytes;
  }
  server_->tell(bytes);
}

std::string ViewFeed::take(const std::string& text) {
  constexpr std::size_t kMostWaiting = 256;
  ViewCommand command;
  const std::string why = parse_view_command(text, command);
  if (!why.empty()) return why;
  {
    const std::lock_guard lock(mutex_);
    if (commands_.size() >= kMostWaiting) return "too many at once";
    commands_.push_back(command);
  }
  wake_owner_.notify_all();
  return "";
}

void ViewFeed::describe(ViewMode mode, const std::string& name, const Scene& scene,
                        const SolidSet& solids) {
  Json materials = Json::array(), params = Json::array(), meshes = Json::array();
  std::vector<double> densities;
  const std::string& solver = scene.general.solver;
  const bool flows = solver != "dem" && solver != "ballistic";
  for (const Material& material : scene.materials) {
    const Vec3d& c = material.params.color;
    materials.push_back({{"name", material.name},
                         {"color", {c.x, c.y, c.z}},
                         {"fluid", flows && material.params.friction_angle == 0.0}});
    densities.push_back(material.params.density);
  }
  if (mode == ViewMode::live) {
    for (const ViewParam& param : view_params(scene)) params.push_back(param_json(param));
  }
  std::vector<std::string> names;
  for (const NamedMesh& solid : solid_meshes(solids)) {
    meshes.push_back(solid_json(solid));
    names.push_back(solid.name);
  }
  const Json json = {{"type", "scene"},
                     {"mode", name_of(mode)},
                     {"name", name},
                     {"title", scene.general.title},
                     {"solver", solver},
                     {"up", scene.general.up},
                     {"fps", scene.general.fps},
                     {"duration", scene.general.duration},
                     {"spacing", scene.general.resolution},
                     {"camera",
                      {{"position", vector_json(scene.camera.position)},
                       {"target", vector_json(scene.camera.target)},
                       {"fov", scene.camera.fov}}},
                     {"ground", ground_json(scene.up(), solids)},
                     {"slopes", slopes_json(scene.up(), solids)},
                     {"materials", materials},
                     {"params", params},
                     {"solids", meshes}};
  {
    // No frame of the scene before comes after this.
    std::unique_lock lock(mutex_);
    waiting_.reset();
    idle_.wait(lock, [&] { return !encoding_; });
    rest_density_ = densities;
    masses_ = solver_setup(scene).particle_masses();
    gravity_ = scene.general.gravity;
    solids_ = names;
    last_.erase("timeline");
  }
  tell("scene", json.dump());
}

void ViewFeed::describe_gallery() {
  tell("scene", Json{{"type", "scene"}, {"mode", "gallery"}}.dump());
}

void ViewFeed::describe_timeline(const std::vector<std::int64_t>& frames, std::int64_t planned,
                                 const std::string& news,
                                 const std::map<std::string, double>& stages,
                                 const std::string& ledger_json) {
  Json json = {{"type", "timeline"},
               {"frames", frames},
               {"planned", planned},
               {"news", news},
               {"stages", stages}};
  json["ledger"] = Json::parse(ledger_json, nullptr, false);
  tell("timeline", json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void ViewFeed::tell_state(bool playing, const std::string& message) {
  tell("state", Json{{"type", "state"}, {"playing", playing}, {"message", message}}.dump(
                    -1, ' ', false, Json::error_handler_t::replace));
}

void ViewFeed::clear_warnings() {
  {
    const std::lock_guard lock(mutex_);
    if (warning_count_ == 0) return;
    warnings_.clear();
    warning_count_ = 0;
  }
  tell("warnings", Json{{"type", "warnings"}, {"count", 0}, {"newest", Json::array()}}.dump());
}

void ViewFeed::add_warning(const std::string& text) {
  constexpr std::size_t kMostShown = 20;
  Json json = {{"type", "warnings"}};
  {
    const std::lock_guard lock(mutex_);
    ++warning_count_;
    warnings_.push_back(text);
    if (warnings_.size() > kMostShown) warnings_.pop_front();
    json["count"] = warning_count_;
    json["newest"] = std::vector<std::string>(warnings_.begin(), warnings_.end());
  }
  tell("warnings", json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

double ViewFeed::show_every(int threads) const {
  constexpr double kUnwatched = 1.0, kSmooth = 1.0 / 60.0;  // [s]
  constexpr double kShare = 0.01;                           // of the time, for encoding
  if (server_->counts().viewers == 0) return kUnwatched;
  const bool shared = threads >= static_cast<int>(std::thread::hardware_concurrency());
  return shared ? std::max(kSmooth, encode_seconds_ / kShare) : kSmooth;
}

bool ViewFeed::ready() const {
  const std::lock_guard lock(mutex_);
  return !encoding_ && !waiting_;
}

void ViewFeed::show(Frame frame, const ViewStats& stats) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.emplace(std::move(frame), stats);
  }
  wake_encoder_.notify_all();
}

std::optional<ViewCommand> ViewFeed::next_command() {
  const std::lock_guard lock(mutex_);
  if (commands_.empty()) return std::nullopt;
  ViewCommand command = commands_.front();
  commands_.pop_front();
  return command;
}

void ViewFeed::wait(double seconds) {
  std::unique_lock lock(mutex_);
  wake_owner_.wait_for(lock, std::chrono::duration<double>(seconds),
                       [&] { return !commands_.empty(); });
}

void ViewFeed::encode_frames() {
  give_way();
  std::unique_lock lock(mutex_);
  while (true) {
    wake_encoder_.wait(lock, [&] { return ends_ || waiting_; });
    if (ends_) return;
    const auto [frame, stats] = std::move(*waiting_);
    waiting_.reset();
    encoding_ = true;
    lock.unlock();
    const double start = seconds_of_this_thread();
    try {
      encode(frame, stats);
    } catch (const std::exception& error) {
      tell_state(false, error.what());
    }
    encode_seconds_ = seconds_of_this_thread() - start;
    lock.lock();
    encoding_ = false;
    idle_.notify_all();
  }
}

void ViewFeed::encode(const Frame& frame, const ViewStats& stats) {
  ViewMoment moment{frame.time, frame.index, 0.5 * frame.spacing, {}, {}};
  std::vector<double> masses;
  Vec3d gravity;
  {
    const std::lock_guard lock(mutex_);
    moment.rest_density = rest_density_;
    masses = masses_;
    gravity = gravity_;
    for (const std::string& name : solids_) {
      Pose pose;
      for (const BodyState& body : frame.bodies) {
        if (body.name == name) pose = {body.position, body.orientation};
      }
      moment.bodies.push_back(pose);
    }
  }
  const ViewParticles particles = particles_of(frame);
  GrainSpheres spheres;
  const std::shared_ptr<std::string> message = messages_.blank();
  encode_frame(spheres.of(frame, particles), moment, *message);
  server_->publish(message);

  // Ten times a second is enough for plots, and texts are never dropped.
  const auto now = std::chrono::steady_clock::now();
  if (now - told_ < std::chrono::milliseconds(100)) return;
  told_ = now;

  // Energies of the centres of mass
  double kinetic = 0.0, potential = 0.0;
  for (std::size_t i = 0; i < particles.speed_x.size() && !particles.material.empty(); ++i) {
    const std::size_t m = particles.material[i];
    const double mass = m < masses.size() ? masses[m] : 0.0;
    const Vec3d v(particles.speed_x[i], particles.speed_y[i], particles.speed_z[i]);
    const Vec3d x(particles.x[i], particles.y[i], particles.z[i]);
    kinetic += 0.5 * mass * dot(v, v);
    potential -= mass * dot(gravity, x);
  }
  const Json json = {{"type", "stats"},
                     {"time", frame.time},
                     {"frame", frame.index},
                     {"particles", particles.x.size()},
                     {"ms", number_or_null(stats.ms_per_step)},
                     {"iterations", number_or_null(stats.iterations)},
                     {"error", number_or_null(stats.error)},
                     {"kinetic", number_or_null(kinetic)},
                     {"potential", number_or_null(potential)},
                     {"stages", stats.stages}};
  tell("stats", json.dump());
}

}  // namespace barchan
