#include "harness/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/log.h"
#include "base/units.h"
#include "harness/html.h"
#include "harness/plot.h"
#include "sim/initial_state.h"

namespace barchan {

namespace fs = std::filesystem;

namespace {

// dem's grains stand in rows at the start. Rows of spheres that touch would balance on each other
// for a while, so grains are a little smaller than their spacing and moved a little at random.
constexpr double kGrainSize = 0.95;  // over the spacing
constexpr double kGrainJitter = 0.05;

// The scene for dem, but for the densities: grains of a size where they have none.
Scene as_grains(Scene scene) {
  scene.general.solver = "dem";
  for (Material& material : scene.materials) {
    if (material.params.radius.empty()) {
      material.params.radius = {0.5 * kGrainSize * scene.general.resolution};
    }
  }
  return scene;
}

// How much of the room a material's grains take at the start.
std::vector<double> solid_shares(const Scene& grains) {
  std::vector<double> shares = solver_setup(grains).particle_masses();
  for (std::size_t m = 0; m < shares.size(); ++m) {
    shares[m] /= grains.materials[m].params.density * std::pow(grains.general.resolution, 3);
  }
  return shares;
}

// Differences beyond this are marked, and want a reason.
constexpr double kWorthSaying = 0.10;

bool is_fluid(const Material& material) {
  return material.params.friction_angle == 0.0;
}

// A solver that ran, with what its run says.
struct Side {
  const ComparedRun* run;
  RunRecord record;
  RunInfo info;
};

Series series_of(const RunRecord& record, const Name& name) {
  try {
    const Value value = record.value(name);
    const Series* series = std::get_if<Series>(&value);
    return series ? *series : Series{};
  } catch (const Error&) {  // a column that this solver leaves empty
    return {};
  }
}

Series total_energy(const RunRecord& record) {
  return combine(series_of(record, {"ledger", "kinetic_energy"}),
                 series_of(record, {"ledger", "potential_energy"}),
                 [](double a, double b) { return a + b; });
}

// The level direction in which the material has come farthest.
std::string main_direction(const Scene& scene, const RunRecord& record) {
  const bool z_up = scene.general.up == "z";
  std::string best = "x";
  double farthest = -1.0;
  for (const char* direction : {"x", "-x", z_up ? "y" : "z", z_up ? "-y" : "-z"}) {
    const Series front = series_of(record, {"pile", direction, "front"});
    const double gained = front.empty() ? 0.0 : last(front) - first(front);
    if (gained > farthest + 1e-9) {
      farthest = gained;
      best = direction;
    }
  }
  return best;
}

// What is compared: a curve over time, and numbers of it.
struct Quantity {
  std::string title, label;
  Series (*of)(const RunRecord&, const std::string& direction, const std::string& up);
};

const std::vector<Quantity>& quantities() {
  static const std::vector<Quantity> all = {
      {"", "front [m]",
       [](const RunRecord& r, const std::string& direction, const std::string&) {
         return series_of(r, {"pile", direction, "front"});
       }},
      {"Height: 99 % of the material is below", "height [m]",
       [](const RunRecord& r, const std::string&, const std::string& up) {
         return series_of(r, {"particles", up, "p99"});
       }},
      {"Centre of mass, height", "height [m]",
       [](const RunRecord& r, const std::string&, const std::string& up) {
         return series_of(r, {"particles", up, "mean"});
       }},
      {"Volume by kernel sums", "volume [m^3]",
       [](const RunRecord& r, const std::string&, const std::string&) {
         return series_of(r, {"ledger", "volume"});
       }},
      {"Kinetic energy", "energy [J]",
       [](const RunRecord& r, const std::string&, const std::string&) {
         return series_of(r, {"ledger", "kinetic_energy"});
       }},
      {"Energy in all", "energy [J]",
       [](const RunRecord& r, const std::string&, const std::string&) { return total_energy(r); }},
      {"Time a step", "time [ms]",
       [](const RunRecord& r, const std::string&, const std::string&) {
         return series_of(r, {"ledger", "ms_per_step"});
       }},
  };
  return all;
}

Page curves_page(const Scene& scene, const std::vector<Side>& sides, const std::string& direction) {
  Page page{scene.name, {}};
  const auto add = [&](const std::string& title, const std::string& label, const auto& of) {
    Panel panel{title, label, {}};
    for (const Side& side : sides) {
      Series series = of(side.record);
      // Names of the curves stand over the first panel; over all there is no room for them.
      const std::string name = page.panels.empty() ? side.run->solver : "";
      if (!series.empty()) panel.curves.push_back({name, std::move(series)});
    }
    if (!panel.curves.empty()) page.panels.push_back(std::move(panel));
  };
  for (const Quantity& quantity : quantities()) {
    add(quantity.title, quantity.label,
        [&](const RunRecord& r) { return quantity.of(r, direction, scene.general.up); });
  }
  for (const Probe& probe : scene.probes) {
    const std::string& name = probe.params.name;
    add("Probe " + name, probe.params.kind + " (SI)", [&](const RunRecord& r) {
      return series_of(r, {"probe", name});
    });
  }
  return page;
}

// A row of the table: a number a solver, and whether a difference in it says something.
struct Row {
  std::string name, unit;
  std::vector<double> values;
  bool is_cost = false;
};

std::vector<Row> number_rows(const Scene& scene, const std::vector<Side>& sides,
                             const std::string& direction) {
  std::vector<Row> rows;
  const auto add = [&](const std::string& name, const std::string& unit, bool cost,
                       const auto& of) {
    Row row{name, unit, {}, cost};
    for (const Side& side : sides) row.values.push_back(of(side));
    rows.push_back(std::move(row));
  };
  const auto get = [&](const Side& side, std::size_t q) {
    return quantities()[q].of(side.record, direction, scene.general.up);
  };
  add("front at the end (" + direction + ")", "m", false,
      [&](const Side& s) { return last(get(s, 0)); });
  add("height at the end", "m", false, [&](const Side& s) { return last(get(s, 1)); });
  add("greatest height", "m", false, [&](const Side& s) { return largest(get(s, 1)); });
  add("height of the centre of mass at the end", "m", false,
      [&](const Side& s) { return last(get(s, 2)); });
  add("mass", "kg", false, [&](const Side& s) {
    return last(series_of(s.record, {"ledger", "mass"}));
  });
  add("volume at the end", "m^3", false, [&](const Side& s) { return last(get(s, 3)); });
  add("greatest kinetic energy", "J", false, [&](const Side& s) { return largest(get(s, 4)); });
  add("energy lost", "J", false, [&](const Side& s) { return first(get(s, 5)) - last(get(s, 5)); });
  for (const Probe& probe : scene.probes) {
    add("probe " + probe.params.name + ", mean", "SI", false, [&](const Side& s) {
      return mean(series_of(s.record, {"probe", probe.params.name}));
    });
  }
  add("particles", "", true, [](const Side& s) { return static_cast<double>(s.info.particles); });
  add("steps", "", true, [](const Side& s) { return static_cast<double>(s.info.steps); });
  add("time a step, mean", "ms", true, [&](const Side& s) {
    return 1e3 * s.info.wall_seconds / std::max<double>(1.0, static_cast<double>(s.info.steps));
  });
  add("time in all", "s", true, [](const Side& s) { return s.info.wall_seconds; });
  return rows;
}

double difference(const Row& row, std::size_t i) {
  return (row.values[i] - row.values[0]) / std::abs(row.values[0]);
}

HtmlPage::Cell number_cell(const Row& row, std::size_t i) {
  const double value = row.values[i];
  if (!std::isfinite(value)) return "-";
  std::string text = row.unit.empty() ? human_count(static_cast<std::uint64_t>(value))
                                      : fmt::format("{:.4g}", value);
  const double by = difference(row, i);
  if (i == 0 || row.is_cost || !std::isfinite(by)) return text;
  const double percent = std::round(100.0 * by);
  text += percent == 0.0 ? " (0 %)" : fmt::format(" ({:+.0f} %)", percent);
  return {text, std::abs(by) > kWorthSaying ? HtmlPage::Mark::bad : HtmlPage::Mark::none};
}

// What of a method makes it differ from the others.
std::vector<std::string> traits(const std::string& solver, bool sand) {
  if (solver == "flip") {
    return {
        "flip keeps the volume of cells of two spacings; sheets thinner than a cell fall apart "
        "into drops, and what is thinner than half a cell does not count as front."};
  }
  if (solver == "pbf" && sand) {
    return {
        "pbf knows no friction between particles: sand runs out like a liquid and does not "
        "come to rest as a heap. It is here to show just that."};
  }
  if (solver == "pbf") {
    return {
        "pbf ends its iterations early: what falls hits softly, the material is compressed for "
        "a moment, and energy goes with the iterations that are not made. Vorticity "
        "confinement, where the scene asks for it, puts some back."};
  }
  if (solver == "granular-sph") {
    return {sand ? "granular-sph lets sand fly apart freely (unilateral pressure): fronts are "
                   "thinner and some grains scatter ahead of them."
                 : "granular-sph is plain PCISPH for water: artificial viscosity takes energy from "
                   "splashes."};
  }
  if (solver == "dem") {
    return {
        "dem begins with loose rows of grains, 45 % of the room, and settles to about 60 %: the "
        "heap is lower and its volume less than the continuum's. Round grains roll: friction "
        "between grains of tan(phi) gives a bulk friction below phi unless rolling is resisted."};
  }
  return {};
}

std::vector<std::string> explanations(const Scene& scene, const std::vector<Side>& sides,
                                      const std::vector<Row>& rows) {
  const bool sand = std::any_of(scene.materials.begin(), scene.materials.end(),
                                [](const Material& m) { return !is_fluid(m); });
  std::vector<std::string> items;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const std::string& solver = sides[i].run->solver;
    std::string apart;
    for (const Row& row : rows) {
      if (i == 0 || row.is_cost || !(std::abs(difference(row, i)) > kWorthSaying)) continue;
      apart += fmt::format("{}{} {:+.0f} %", apart.empty() ? "" : ", ", row.name,
                           100.0 * difference(row, i));
    }
    if (i > 0) {
      items.push_back(apart.empty()
                          ? solver + ": all within 10 % of " + sides[0].run->solver + "."
                          : solver + " beside " + sides[0].run->solver + ": " + apart + ".");
    }
    for (const std::string& trait : traits(solver, sand)) items.push_back(trait);
  }
  return items;
}

void add_pictures(const std::vector<ComparedRun>& runs, const std::vector<double>& times,
                  HtmlPage& page) {
  std::vector<HtmlPage::Picture> grid;
  int columns = 0;
  for (const ComparedRun& run : runs) columns += run.fault.empty();
  for (std::size_t k = 0; k < times.size(); ++k) {
    for (const ComparedRun& run : runs) {
      if (!run.fault.empty()) continue;
      const fs::path file = k < run.pictures.size() ? run.pictures[k] : fs::path();
      grid.push_back({file, fmt::format("{}, {:.2f} s", run.solver, times[k])});
    }
  }
  page.pictures(grid, columns);
}

void add_curves(const Page& curves, const fs::path& plot, HtmlPage& page) try {
  draw_page(curves, plot);
  page.heading("Over time");
  page.pictures({{plot, "Colours are the same in all panels."}}, 1);
} catch (const Error& error) {  // without gnuplot there are numbers still
  log_message(LogLevel::error, error.what());
}

MaterialMap map_to_grains(const Scene& scene) {
  MaterialMap map;
  const Scene grains = as_grains(scene);
  const std::vector<double> shares = solid_shares(grains);
  for (std::size_t i = 0; i < scene.materials.size(); ++i) {
    const MaterialParams& m = scene.materials[i].params;
    const std::string &name = scene.materials[i].name, key = "material." + name + ".";
    if (is_fluid(scene.materials[i])) {
      map.refused = fmt::format("'{}' is a fluid, and dem has grains only", name);
      return map;
    }
    const double density = m.density / shares[i], friction = std::tan(radians(m.friction_angle));
    const double radius = grains.materials[i].params.radius.back();
    if (m.radius.empty()) map.settings.push_back(fmt::format("{}radius={}", key, radius));
    map.settings.push_back(fmt::format("{}density={}", key, density));
    map.settings.push_back(fmt::format("{}friction={}", key, friction));
    map.notes.push_back(fmt::format(
        "{}: grains of {:.3g} mm across and {:.0f} kg/m^3, which as they stand at the start weigh "
        "what {:.0f} kg/m^3 of bulk do; friction between grains {:.2f} = tan {:.0f} degrees",
        name, 2e3 * radius, density, m.density, friction, m.friction_angle));
  }
  for (std::size_t f = 1; f <= scene.fills.size(); ++f) {
    if (scene.fills[f - 1].params.sampling == "covering") continue;
    map.settings.push_back(fmt::format("fill.{}.sampling=jittered", f));
    map.settings.push_back(fmt::format("fill.{}.jitter={}", f, kGrainJitter));
  }
  return map;
}

MaterialMap map_from_grains(const Scene& scene) {
  MaterialMap map;
  const std::vector<double> shares = solid_shares(scene);
  for (std::size_t i = 0; i < scene.materials.size(); ++i) {
    const MaterialParams& m = scene.materials[i].params;
    const std::string &name = scene.materials[i].name, key = "material." + name + ".";
    const double density = m.density * shares[i], angle = degrees(std::atan(m.friction));
    map.settings.push_back(fmt::format("{}density={}", key, density));
    map.settings.push_back(fmt::format("{}friction_angle={}", key, angle));
    map.notes.push_back(
        fmt::format("{}: bulk density {:.0f} kg/m^3, as grains of {:.0f} kg/m^3 stand at the "
                    "start; friction angle {:.1f} degrees = atan {:.2f}",
                    name, density, m.density, angle, m.friction));
  }
  for (std::size_t f = 1; f <= scene.fills.size(); ++f) {
    if (scene.fills[f - 1].params.sampling == "jittered") {
      map.settings.push_back(fmt::format("fill.{}.sampling=lattice", f));
    }
  }
  return map;
}

}  // namespace

MaterialMap map_materials(const Scene& scene, const std::string& solver) {
  const bool is_grains = scene.general.solver == "dem";
  if (solver == "dem") return is_grains ? MaterialMap{} : map_to_grains(scene);
  MaterialMap map = is_grains ? map_from_grains(scene) : MaterialMap{};
  for (const Material& material : scene.materials) {
    if (solver == "pbf" && !is_fluid(material)) {
      map.notes.push_back(material.name + ": its friction and cohesion are left out");
    }
  }
  return map;
}

void write_comparison(const Scene& scene, const std::vector<ComparedRun>& runs,
                      const std::vector<double>& picture_times, const std::string& command,
                      const fs::path& file) {
  std::vector<Side> sides;
  for (const ComparedRun& run : runs) {
    if (!run.fault.empty()) continue;
    sides.push_back({&run, RunRecord(run.folder), read_run_info(RunFolder(run.folder).run_info())});
  }
  HtmlPage page(scene.name + ", by several solvers");
  page.paragraph(fmt::format("{}. {:.3g} s, particles {:.3g} m apart.", scene.general.title,
                             scene.general.duration, scene.general.resolution));
  page.command(command);
  for (const ComparedRun& run : runs) {
    if (!run.fault.empty()) page.paragraph(run.solver + " is missing: " + run.fault + ".");
  }
  page.heading("Pictures");
  add_pictures(runs, picture_times, page);
  if (!sides.empty()) {
    const std::string direction = main_direction(scene, sides.front().record);
    const std::vector<Row> rows = number_rows(scene, sides, direction);
    page.heading("Numbers");
    std::vector<std::string> header = {""};
    for (const Side& side : sides) header.push_back(side.run->solver);
    std::vector<std::vector<HtmlPage::Cell>> cells;
    for (const Row& row : rows) {
      cells.push_back({row.name + (row.unit.empty() ? "" : " [" + row.unit + "]")});
      for (std::size_t i = 0; i < sides.size(); ++i) cells.back().push_back(number_cell(row, i));
    }
    page.table(header, cells);
    page.paragraph("In brackets the difference to " + sides.front().run->solver +
                   "; more than 10 % stands out.");
    page.heading("Where they differ, and why");
    page.list(explanations(scene, sides, rows));
    add_curves(curves_page(scene, sides, direction), file.parent_path() / "curves.svg", page);
  }
  page.heading("Materials");
  for (const ComparedRun& run : runs) {
    if (run.notes.empty()) continue;
    page.heading(run.solver, 3);
    page.list(run.notes);
  }
  page.paragraph("Whatever is not named is told to all solvers alike.");
  page.write(file);
}

}  // namespace barchan
