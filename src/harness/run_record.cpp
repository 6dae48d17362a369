#include "harness/run_record.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/atomic_file.h"
#include "base/nearest_name.h"
#include "harness/body_series.h"
#include "harness/covering_measure.h"
#include "harness/particle_series.h"
#include "harness/pile_measure.h"
#include "harness/surface_measure.h"
#include "harness/transfer_measure.h"
#include "scene/scene.h"

namespace barchan {

using nlohmann::json;

namespace {

// "" or "; did you mean ...?"
std::string hint(const std::string& name, const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(name, known);
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

std::vector<std::string> columns_of(const char* header) {
  std::vector<std::string> names(1);
  for (const char* c = header; *c; ++c) {
    if (*c == ',') {
      names.emplace_back();
    } else {
      names.back() += *c;
    }
  }
  return names;
}

void expect_column(const std::string& name, const std::vector<std::string>& known,
                   const std::string& what) {
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    reject("{} has no column '{}'{}", what, name, hint(name, known));
  }
}

void expect_parts(const Name& name, std::size_t parts, const char* form) {
  if (name.size() != parts) reject("'{}' should read {}", joined(name), form);
}

std::vector<std::string> body_columns() {
  std::vector<std::string> names = columns_of(kBodiesHeader);
  names.erase(std::remove(names.begin(), names.end(), "name"), names.end());
  const std::vector<std::string>& derived = derived_body_columns();
  names.insert(names.end(), derived.begin(), derived.end());
  return names;
}

// A member of a table, or a component of a vector or a matrix: center_x is the first number of the
// list `center`, inertia_xy the second of its first list.
const json* member_of(const json& table, const std::string& key) {
  if (!table.is_object()) return nullptr;
  if (table.contains(key)) return &table.at(key);
  const std::size_t line = key.rfind('_');
  if (line == std::string::npos || !table.contains(key.substr(0, line))) return nullptr;
  const json* value = &table.at(key.substr(0, line));
  for (const char axis : key.substr(line + 1)) {
    const auto index = static_cast<std::size_t>(axis - 'x');
    if (axis < 'x' || axis > 'z' || !value->is_array() || value->size() <= index) return nullptr;
    value = &(*value)[index];
  }
  return value;
}

std::vector<std::string> keys_of(const json& table) {
  std::vector<std::string> keys;
  if (!table.is_object()) return keys;
  for (const auto& [key, value] : table.items()) keys.push_back(key);
  return keys;
}

BodyMass body_mass(const json& run, const std::string& name) {
  try {
    const json& body = run.at("bodies").at(name);
    BodyMass mass;
    mass.mass = body.at("mass").get<double>();
    for (int i = 0; i < 3; ++i) {
      const auto row = static_cast<std::size_t>(i);
      mass.center[i] = body.at("center").at(row).get<double>();
      for (int j = 0; j < 3; ++j) {
        mass.inertia(i, j) =
            body.at("inertia").at(row).at(static_cast<std::size_t>(j)).get<double>();
      }
    }
    return mass;
  } catch (const json::exception&) {
    reject("run.json holds no mass properties of the body '{}'; is its motion \"dynamic\"?", name);
  }
}

// The rows of one body, or all of them without "name".
Table rows_of(const Table& bodies, const std::string& name) {
  Table table{bodies.header, std::vector<std::vector<double>>(bodies.columns.size()), {}};
  for (std::size_t row = 0; row < bodies.rows(); ++row) {
    if (bodies.names[row] != name) continue;
    for (std::size_t c = 0; c < bodies.columns.size(); ++c) {
      table.columns[c].push_back(bodies.columns[c][row]);
    }
  }
  return table;
}

std::vector<Vec3d> vectors_of(const Table& table, const std::string& name) {
  const auto &x = table.column(name + "_x"), &y = table.column(name + "_y"),
             &z = table.column(name + "_z");
  std::vector<Vec3d> out;
  for (std::size_t i = 0; i < x.size(); ++i) out.push_back({x[i], y[i], z[i]});
  return out;
}

BodyPath path_of(const Table& rows) {
  BodyPath path;
  path.time = rows.column("time");
  path.position = vectors_of(rows, "position");
  path.velocity = vectors_of(rows, "velocity");
  path.angular_velocity = vectors_of(rows, "angular_velocity");
  const std::vector<double>& w = rows.column("orientation_w");
  const std::vector<Vec3d> v = vectors_of(rows, "orientation");
  for (std::size_t i = 0; i < w.size(); ++i) path.orientation.emplace_back(w[i], v[i]);
  return path;
}

}  // namespace

struct RunRecord::Files {
  explicit Files(RunFolder run) : folder(std::move(run)) {}
  RunFolder folder;
  std::optional<Table> ledger_table, bodies_table;
  std::optional<json> info;
  std::map<std::string, Series> of_frames;  // frames are large: each statistic is taken once

  const Table& ledger() {
    if (!ledger_table) ledger_table = read_csv(folder.ledger());
    return *ledger_table;
  }
  const Table& bodies() {
    if (!bodies_table) bodies_table = read_csv(folder.bodies());
    return *bodies_table;
  }
  const json& run_info() {
    if (!info) {
      info = json::parse(read_text_file(folder.run_info()), nullptr, false);
      if (info->is_discarded()) fail("{} is not valid JSON", folder.run_info().string());
    }
    return *info;
  }
};

RunRecord::RunRecord(std::filesystem::path folder)
    : folder_(std::move(folder)), files_(std::make_unique<Files>(folder_)) {
  if (!folder_.holds_run()) reject("{} holds no run", folder_.path().string());
}
RunRecord::~RunRecord() = default;
RunRecord::RunRecord(RunRecord&&) noexcept = default;
RunRecord& RunRecord::operator=(RunRecord&&) noexcept = default;

Series RunRecord::column(const Table& table, const std::string& name,
                         const std::string& what) const {
  expect_column(name, table.header, what);
  Series series{table.column("time"), table.column(name)};
  if (!series.empty() && std::isnan(series.value.front())) {
    // Averages since the row before have no value in the first; an empty column has none at all.
    series.time.erase(series.time.begin());
    series.value.erase(series.value.begin());
  }
  const bool empty = std::all_of(series.value.begin(), series.value.end(),
                                 [](double value) { return std::isnan(value); });
  if (empty) reject("the column '{}' of {} is empty: this solver does not measure it", name, what);
  return series;
}

Series RunRecord::body(const std::string& name, const std::string& column_name) const {
  const Table rows = rows_of(files_->bodies(), name);
  if (rows.rows() == 0) reject("there is no body '{}'{}", name, hint(name, bodies()));
  const std::vector<std::string>& derived = derived_body_columns();
  if (std::find(derived.begin(), derived.end(), column_name) == derived.end()) {
    return column(rows, column_name, "bodies.csv");
  }
  return derived_body_series(path_of(rows), body_mass(files_->run_info(), name), column_name);
}

Series RunRecord::all_bodies(const std::string& total) const {
  const Scene scene = read_scene(read_text_file(folder_.scene()), folder_.scene().string());
  const json* known = member_of(files_->run_info(), "bodies");
  if (!known) reject("bodies.{}: the run has no dynamic bodies", total);
  const auto join = total == "fastest" ? +[](double a, double b) { return std::max(a, b); }
                                       : +[](double a, double b) { return a + b; };
  Series sum;
  for (const std::string& name : keys_of(*known)) {
    const Series share =
        body_share(path_of(rows_of(files_->bodies(), name)), body_mass(files_->run_info(), name),
                   scene.general.gravity, total);
    sum = sum.empty() ? share : combine(sum, share, join);
  }
  return sum;
}

double RunRecord::run_value(const Name& name) const {
  const json* value = &files_->run_info();
  for (std::size_t i = 1; i < name.size(); ++i) {
    const json* inner = member_of(*value, name[i]);
    if (!inner) reject("run.json has no '{}'{}", joined(name), hint(name[i], keys_of(*value)));
    value = inner;
  }
  if (!value->is_number()) reject("'{}' is not a number", joined(name));
  return value->get<double>();
}

Value RunRecord::value(const Name& name) const {
  check_record_name(name);
  const std::string& word = name.front();
  if (word == "t") {
    const std::vector<double>& time = files_->ledger().column("time");
    return Series{time, time};
  }
  if (word == "spacing") return particle_spacing(folder_);
  if (word == "ledger") return column(files_->ledger(), name[1], "ledger.csv");
  if (word == "body") return body(name[1], name[2]);
  if (word == "bodies") return all_bodies(name[1]);
  if (word == "run") return run_value(name);
  if (word == "probe") {
    const std::vector<std::string> known = probes();
    if (std::find(known.begin(), known.end(), name[1]) == known.end()) {
      reject("there is no probe '{}'{}", name[1], hint(name[1], known));
    }
    return column(read_csv(folder_.probe(name[1])), "value", "probe " + name[1]);
  }
  if (word == "covering") return covering_measure(folder_, name[1]);
  if (word == "surface") return surface_measure(folder_, name[1]);
  if (word == "transfer") return transfer_measure(folder_, name[1]);
  const auto known = files_->of_frames.find(joined(name));
  if (known != files_->of_frames.end()) return known->second;
  return files_->of_frames[joined(name)] = word == "pile"
                                               ? pile_series(folder_, name[1], name[2])
                                               : particle_series(folder_, {name[1], name[2]});
}

std::vector<std::string> RunRecord::ledger_columns() const {
  const Table& ledger = files_->ledger();
  std::vector<std::string> names;
  for (std::size_t c = 0; c < ledger.header.size(); ++c) {
    const bool known = std::any_of(ledger.columns[c].begin(), ledger.columns[c].end(),
                                   [](double value) { return !std::isnan(value); });
    if (known) names.push_back(ledger.header[c]);
  }
  return names;
}

std::vector<std::string> RunRecord::bodies() const {
  std::vector<std::string> names;
  std::error_code none;
  if (!std::filesystem::exists(folder_.bodies(), none)) return names;
  for (const std::string& name : files_->bodies().names) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

void check_record_name(const Name& name) {
  static const std::vector<std::string> words = {"t",    "spacing",  "ledger",    "probe",
                                                 "body", "bodies",   "particles", "pile",
                                                 "run",  "covering", "surface",   "transfer"};
  const std::string& word = name.front();
  if (word == "t" || word == "spacing") {
    expect_parts(name, 1, word.c_str());
  } else if (word == "ledger") {
    expect_parts(name, 2, "ledger.COLUMN");
    expect_column(name[1], columns_of(kLedgerHeader), "ledger.csv");
  } else if (word == "probe") {
    expect_parts(name, 2, "probe.NAME");
  } else if (word == "body") {
    expect_parts(name, 3, "body.NAME.COLUMN");
    expect_column(name[2], body_columns(), "bodies.csv");
  } else if (word == "particles") {
    expect_parts(name, 3, "particles.QUANTITY.STATISTIC");
    check_statistic(name[2]);
  } else if (word == "pile") {
    expect_parts(name, 3, "pile.DIRECTION.KEY");
    const std::vector<std::string>& known = pile_directions();
    if (std::find(known.begin(), known.end(), name[1]) == known.end()) {
      reject("'{}': a pile is measured along x, y, z, '-x', '-y', '-z' or r", joined(name));
    }
    expect_column(name[2], pile_keys(), "a pile");
  } else if (word == "bodies") {
    expect_parts(name, 2, "bodies.TOTAL");
    expect_column(name[1], body_totals(), "all bodies");
  } else if (word == "covering") {
    expect_parts(name, 2, "covering.KEY");
    expect_column(name[1], covering_keys(), "covering");
  } else if (word == "surface") {
    expect_parts(name, 2, "surface.KEY");
    expect_column(name[1], surface_keys(), "surface");
  } else if (word == "transfer") {
    expect_parts(name, 2, "transfer.KEY");
    expect_column(name[1], transfer_keys(), "transfer");
  } else if (word == "run") {
    if (name.size() < 2) reject("'run' should read run.KEY");
  } else {
    const std::string nearest = hint(word, words);
    reject("nothing is called '{}'{}", joined(name),
           nearest.empty() ? "; there are columns of ledger.csv, and body.NAME.COLUMN, "
                             "particles.QUANTITY.STATISTIC and others (docs/validation.md)"
                           : nearest);
  }
}

}  // namespace barchan
