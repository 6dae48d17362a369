#include "harness/run_pages.h"

#include <algorithm>
#include <map>

#include "base/error.h"

namespace barchan {

namespace {

// One panel of the ledger's page.
struct LedgerPanel {
  const char* title;
  const char* y_label;
  std::vector<std::pair<const char*, const char*>> curves;  // column, label
};

const std::vector<LedgerPanel>& ledger_panels() {
  static const std::vector<LedgerPanel> panels = {
      {"Energy", "energy [J]", {{"kinetic_energy", "kinetic"}, {"potential_energy", "potential"}}},
      {"Fastest particle", "speed [m/s]", {{"max_speed", ""}}},
      {"Momentum",
       "momentum [kg m/s]",
       {{"momentum_x", "x"}, {"momentum_y", "y"}, {"momentum_z", "z"}}},
      {"Volume by kernel sums", "volume [m^3]", {{"volume", ""}}},
      {"Particles", "count", {{"particles", ""}}},
      {"Density error",
       "relative error",
       {{"density_error_mean", "mean"}, {"density_error_max", "largest"}}},
      {"Largest divergence", "divergence [1/s]", {{"divergence_max", ""}}},
      {"Iterations a step", "iterations", {{"iterations_mean", ""}}},
      {"Particles inside solids", "count", {{"leaks", ""}}},
      {"Steps a frame", "count", {{"steps", "taken"}, {"retries", "taken again"}}},
      {"Time a step", "time [ms]", {{"ms_per_step", ""}}},
  };
  return panels;
}

Series series_of(const RunRecord& run, const Name& name) {
  return std::get<Series>(run.value(name));
}

bool is_known(const std::vector<std::string>& known, const std::string& name) {
  return std::find(known.begin(), known.end(), name) != known.end();
}

bool moves(const RunRecord& run, const std::string& body) {
  for (const char* column : {"position_x", "position_y", "position_z"}) {
    const Series series = series_of(run, {"body", body, column});
    if (largest(series) != smallest(series)) return true;
  }
  return false;
}

Panel vector_panel(const RunRecord& run, const std::string& body, const std::string& quantity,
                   const std::string& unit) {
  Panel panel{body + ": " + quantity, quantity + " [" + unit + "]", {}};
  for (const char* axis : {"x", "y", "z"}) {
    const Name name = {"body", body, quantity + "_" + axis};
    try {
      panel.curves.push_back({axis, series_of(run, name)});
    } catch (const Error&) {
      continue;  // an empty column: a run of one frame has no forces
    }
  }
  return panel;
}

std::string page_title(const RunRecord& run) {
  const std::filesystem::path folder = std::filesystem::absolute(run.folder().path());
  return (folder.has_filename() ? folder : folder.parent_path()).filename().string();
}

// At the commas that stand in no brackets.
std::vector<std::string> split_expressions(const std::string& text) {
  std::vector<std::string> parts(1);
  int open = 0;
  for (const char c : text) {
    open += (c == '(') - (c == ')');
    if (c == ',' && open == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// What stands at the axis: a column with its unit, by its name without its axis.
std::string y_label_of(const std::string& text) {
  static const std::map<std::string, std::string> units = {
      {"mass", "kg"},         {"volume", "m^3"},
      {"momentum", "kg m/s"}, {"kinetic_energy", "J"},
      {"max_speed", "m/s"},   {"potential_energy", "J"},
      {"time", "s"},          {"divergence_max", "1/s"},
      {"ms_per_step", "ms"},  {"position", "m"},
      {"velocity", "m/s"},    {"angular_velocity", "rad/s"},
      {"force", "N"},         {"torque", "N m"},
      {"center", "m"},        {"angular_momentum", "kg m^2/s"},
      {"spin", "rad/s"},
  };
  const std::string last = text.substr(text.rfind('.') + 1);
  std::string quantity = last;
  const std::size_t size = last.size();
  if (size > 2 && last[size - 2] == '_' && last[size - 1] >= 'x') quantity.resize(size - 2);
  const bool is_plain = text.find_first_of("+-*/^(") == std::string::npos;
  const auto found = units.find(quantity);
  return is_plain && found != units.end() ? last + " [" + found->second + "]" : "value (SI)";
}

}  // namespace

Page ledger_page(const RunRecord& run) {
  const std::vector<std::string> known = run.ledger_columns();
  Page page{page_title(run) + ": ledger", {}};
  for (const LedgerPanel& wanted : ledger_panels()) {
    Panel panel{wanted.title, wanted.y_label, {}};
    for (const auto& [column, label] : wanted.curves) {
      if (!is_known(known, column)) continue;
      panel.curves.push_back({label, series_of(run, {"ledger", column})});
    }
    if (!panel.curves.empty()) page.panels.push_back(std::move(panel));
  }
  return page;
}

Page probes_page(const RunRecord& run) {
  Page page{page_title(run) + ": probes", {}};
  for (const std::string& name : run.probes()) {
    page.panels.push_back({name, "value (SI)", {{"", series_of(run, {"probe", name})}}});
  }
  return page;
}

Page bodies_page(const RunRecord& run) {
  Page page{page_title(run) + ": solids", {}};
  for (const std::string& body : run.bodies()) {
    std::vector<Panel> panels = {vector_panel(run, body, "force", "N")};
    if (moves(run, body)) {
      panels.push_back(vector_panel(run, body, "position", "m"));
      panels.push_back(vector_panel(run, body, "velocity", "m/s"));
    }
    for (Panel& panel : panels) {
      if (!panel.curves.empty()) page.panels.push_back(std::move(panel));
    }
  }
  return page;
}

Page columns_page(const RunRecord& run, const std::string& columns) {
  const std::vector<std::string> ledger = run.ledger_columns();
  Page page{page_title(run), {}};
  for (const std::string& text : split_expressions(columns)) {
    const std::string whole = is_known(ledger, text) ? "ledger." + text : text;
    const Expression expression(whole, {"--columns", 0, 0});
    const Value value = expression.evaluate([&](const Name& name) { return run.value(name); });
    const Series* series = std::get_if<Series>(&value);
    if (!series) reject("--columns: \"{}\" is one number, not a series over time", text);
    page.panels.push_back({text, y_label_of(text), {{"", *series}}});
  }
  return page;
}

}  // namespace barchan
