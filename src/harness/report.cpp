#include "harness/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "barchan/version.h"
#include "base/atomic_file.h"
#include "base/error.h"
#include "base/units.h"
#include "harness/case_file.h"
#include "harness/figures.h"
#include "harness/html.h"

namespace barchan {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Mark = HtmlPage::Mark;

namespace {

std::optional<Json> results_in(const fs::path& folder) {
  const fs::path file = folder / "results.json";
  std::error_code none;
  if (!fs::is_regular_file(file, none)) return std::nullopt;
  try {
    return Json::parse(read_text_file(file));
  } catch (const Json::exception& error) {
    fail("{} is not what Barchan writes: {}", file.string(), error.what());
  }
}

std::string number_text(const Json& value) {
  if (!value.is_number()) return "-";
  const double number = value.get<double>();
  const bool counts = number >= 1e4 && number < 1e15 && number == std::floor(number);
  return counts ? human_count(static_cast<std::uint64_t>(number)) : fmt::format("{:.4g}", number);
}

// ---- Papers

// What one kind of machine has of a figure.
struct FigureResult {
  std::string machine;  // "cpu", "cuda"
  fs::path folder;
  Json json;
};

std::vector<FigureResult> results_of(const Figure& figure,
                                     const std::vector<ResultFolder>& results) {
  std::vector<FigureResult> found;
  for (const ResultFolder& from : results) {
    const fs::path folder = from.path / figure.id;
    auto json = results_in(folder);
    if (!json) continue;
    const std::string machine = json->value(Json::json_pointer("/run/device"), from.name);
    found.push_back({machine, folder, std::move(*json)});
  }
  return found;
}

bool is_quick(const FigureResult& result) {
  return result.json.value("quick", false);
}

// The one to look at: of the full version where there is one.
const FigureResult& best_of(const std::vector<FigureResult>& results) {
  const auto full = std::find_if_not(results.begin(), results.end(), is_quick);
  return full != results.end() ? *full : results.front();
}

bool is_time(const Json& number) {
  const std::string unit = number.value("unit", ""), name = number.value("name", "");
  return number["theirs"].is_number() && (unit == "s" || unit == "ms") &&
         (name.starts_with("time") || name.starts_with("surface"));
}

// How much faster than the paper's machine; a reduced version is no match for it.
std::string speed_up(const FigureResult& result, const Json& number) {
  if (is_quick(result) || !number["ours"].is_number() || !number["theirs"].is_number()) return "-";
  return fmt::format("{:.3g} x", number["theirs"].get<double>() / number["ours"].get<double>());
}

void add_overview(const std::vector<std::vector<FigureResult>>& all, HtmlPage& page) {
  std::vector<std::vector<HtmlPage::Cell>> rows;
  for (std::size_t f = 0; f < all.size(); ++f) {
    const Figure& figure = figures()[f];
    if (all[f].empty()) {
      rows.push_back({figure.id, figure.figure, {"not run", Mark::bad}, "", "", "", "", ""});
    }
    for (const FigureResult& result : all[f]) {
      const Json run = result.json.value("run", Json::object());
      const std::string size = is_quick(result) ? "quick" : "full";
      const std::string particles =
          run.contains("particles") ? human_count(run["particles"].get<std::uint64_t>()) : "-";
      const std::string machine = result.machine == "cpu"
                                      ? fmt::format("cpu, threads: {}", run.value("threads", 0))
                                      : result.machine;
      bool timed = false;
      for (const Json& number : result.json["numbers"]) {
        if (!is_time(number)) continue;
        timed = true;
        rows.push_back({figure.id, figure.figure, size, particles, machine,
                        number.value("name", ""),
                        number_text(number["ours"]) + " / " + number_text(number["theirs"]) + " " +
                            number.value("unit", ""),
                        speed_up(result, number)});
      }
      if (!timed)
        rows.push_back({figure.id, figure.figure, size, particles, machine, "", "-", "-"});
    }
  }
  page.table(
      {"id", "in the paper", "size", "particles", "on", "time", "ours / theirs", "faster by"},
      rows);
}

// Ours on each machine beside theirs.
void add_numbers(const std::vector<FigureResult>& results, HtmlPage& page) {
  std::vector<std::string> header = {""};
  for (const FigureResult& result : results) {
    header.push_back("ours, " + result.machine + (is_quick(result) ? ", quick" : ""));
  }
  header.push_back("theirs");
  std::vector<std::vector<HtmlPage::Cell>> rows;
  const Json& numbers = results.front().json["numbers"];
  for (std::size_t n = 0; n < numbers.size(); ++n) {
    const std::string unit = numbers[n].value("unit", "");
    rows.push_back({numbers[n].value("name", "") + (unit.empty() ? "" : " [" + unit + "]")});
    for (const FigureResult& result : results) {
      const Json& theirs = result.json["numbers"];
      rows.back().push_back(n < theirs.size() ? number_text(theirs[n]["ours"]) : "-");
    }
    rows.back().push_back(number_text(numbers[n]["theirs"]));
  }
  if (!rows.empty()) page.table(header, rows);
}

std::string settings_line(const FigureResult& result) {
  const Json run = result.json.value("run", Json::object());
  if (!run.contains("solver")) return "";
  const int frames = run.value("frames", 0), planned = run.value("frames_planned", frames);
  return fmt::format("{}: {}, particles {:.3g} m apart; frames {}{}, steps {}, {} in all.",
                     result.machine, run.value("solver", ""), run.value("spacing", 0.0), frames,
                     frames < planned ? fmt::format(" of {}", planned) : "", run.value("steps", 0),
                     human_seconds(run.value("seconds", 0.0)));
}

// Contact sheets of the run and its variants, then the plots that the scene asks for.
void add_figure_pictures(const FigureResult& result, HtmlPage& page) {
  std::vector<HtmlPage::Picture> sheets, plots;
  const auto sheet = [&](const fs::path& folder, const std::string& caption) {
    if (fs::exists(folder / "contact_sheet.png")) {
      sheets.push_back({folder / "contact_sheet.png", caption});
    }
  };
  sheet(result.folder, result.json.value("label", ""));
  for (const Json& variant : result.json.value("variants", Json::array())) {
    sheet(result.folder / ("variant-" + variant.value("name", "")), variant.value("label", ""));
  }
  for (const Json& plot : result.json.value("plots", Json::array())) {
    plots.push_back({result.folder / "plots" / (plot.get<std::string>() + ".png"), ""});
  }
  if (!sheets.empty())
    page.pictures(sheets, static_cast<int>(std::clamp<std::size_t>(sheets.size(), 1, 2)));
  if (!plots.empty()) page.pictures(plots, 2);
}

// ---- Cases

struct CaseEntry {
  std::string id;
  std::optional<Json> json;
};

std::string control_text(const Json& control) {
  std::string failed;
  for (const Json& name : control["failed"]) {
    failed += (failed.empty() ? "" : ", ") + name.get<std::string>();
  }
  return failed.empty() ? "nothing fails" : "fails: " + failed;
}

std::size_t count_true(const Json& list, const char* key) {
  return static_cast<std::size_t>(std::count_if(
      list.begin(), list.end(), [&](const Json& item) { return item.value(key, false); }));
}

void add_case_overview(const std::vector<CaseEntry>& cases, HtmlPage& page) {
  std::vector<std::vector<HtmlPage::Cell>> rows;
  for (const CaseEntry& entry : cases) {
    if (!entry.json) {
      rows.push_back({entry.id, "", "", "", "", "not run"});
      continue;
    }
    const Json& json = *entry.json;
    const bool passed = json.value("passed", false);
    rows.push_back(
        {entry.id,
         json.value("title", ""),
         fmt::format("{} of {}", count_true(json["checks"], "passed"), json["checks"].size()),
         fmt::format("{} of {}", count_true(json["controls"], "failed_as_it_must"),
                     json["controls"].size()),
         human_seconds(json.value("seconds", 0.0)) + ", " + json.value("device", "cpu") +
             (json.value("quick", false) ? ", quick" : ""),
         {passed ? "pass" : "FAIL", passed ? Mark::good : Mark::bad}});
  }
  page.table({"case", "", "checks pass", "controls fail", "time", ""}, rows);
}

// Each check that does not hold, with its number, and each control that is let through.
std::vector<std::string> faults_of(const CaseEntry& entry) {
  std::vector<std::string> faults;
  const Json& json = *entry.json;
  const std::string fault = json.value("fault", "");
  if (!fault.empty()) faults.push_back(entry.id + ": no verdict: " + fault);
  for (const Json& check : json["checks"]) {
    if (check.value("passed", false)) continue;
    faults.push_back(entry.id + ": " + check.value("name", "") + ": " +
                     check.value("measured", "") + ", expected " + check.value("expected", ""));
  }
  for (const Json& control : json["controls"]) {
    if (control.value("failed_as_it_must", false)) continue;
    faults.push_back(entry.id + ": the control '" + control.value("name", "") + "' passes");
  }
  return faults;
}

void add_case(const CaseEntry& entry, const fs::path& folder, HtmlPage& page) {
  const Json& json = *entry.json;
  page.heading(entry.id, 3);
  page.paragraph(json.value("title", ""));
  if (!json.value("fault", "").empty()) page.paragraph("No verdict: " + json.value("fault", ""));
  std::vector<std::vector<HtmlPage::Cell>> rows;
  for (const Json& check : json["checks"]) {
    const bool passed = check.value("passed", false);
    rows.push_back({check.value("name", ""),
                    check.value("measured", ""),
                    check.value("expected", ""),
                    {passed ? "pass" : "FAIL", passed ? Mark::good : Mark::bad}});
  }
  for (const Json& control : json["controls"]) {
    const bool failed = control.value("failed_as_it_must", false);
    rows.push_back({"control: " + control.value("name", ""),
                    control_text(control),
                    "must fail",
                    {failed ? "as it must" : "CONTROL PASSES", failed ? Mark::good : Mark::bad}});
  }
  if (!rows.empty()) page.table({"", "measured", "expected", ""}, rows);
  const fs::path plot = folder / entry.id / "checks.png";
  if (fs::exists(plot)) page.pictures({{plot, ""}}, 1);
}

}  // namespace

bool has_results(const fs::path& folder, bool quick) {
  const std::optional<Json> json = results_in(folder);
  return json && json->value("quick", false) == quick && json->value("fault", "").empty();
}

int write_paper_report(const std::vector<ResultFolder>& results, const fs::path& file) {
  std::vector<std::vector<FigureResult>> all;
  for (const Figure& figure : figures()) all.push_back(results_of(figure, results));
  const auto there =
      std::count_if(all.begin(), all.end(), [](const auto& r) { return !r.empty(); });

  HtmlPage page("The figures of the papers, ours beside theirs");
  page.paragraph(fmt::format(
      "{} of {} figures and tables, by barchan {}. Times are of these runs as they were "
      "made, beside other work where there was some; docs/performance.md has those of "
      "machines that did nothing else.",
      there, all.size(), version()));
  add_overview(all, page);
  for (std::size_t f = 0; f < all.size(); ++f) {
    if (all[f].empty()) continue;
    page.heading(fmt::format("{} ({})", figures()[f].id, figures()[f].figure));
    const std::string note = all[f].front().json.value("note", "");
    page.paragraph(note.empty() ? figures()[f].shows : note);
    add_numbers(all[f], page);
    for (const FigureResult& result : all[f]) page.paragraph(settings_line(result));
    add_figure_pictures(best_of(all[f]), page);
  }
  page.write(file);
  return static_cast<int>(there);
}

int write_validation_report(const fs::path& results, const fs::path& file) {
  std::vector<CaseEntry> cases;
  int run = 0, passed = 0;
  for (const auto& [id, path] : case_files()) {
    cases.push_back({id, results_in(results / id)});
    run += cases.back().json.has_value();
    passed += cases.back().json && cases.back().json->value("passed", false);
  }
  HtmlPage page("Measured against closed forms and published numbers");
  page.paragraph(fmt::format(
      "{} of {} cases pass, of {} that there are, by barchan {}. A control is a change that must "
      "make checks fail: a gate that lets it through is worthless.",
      passed, run, cases.size(), version()));
  std::vector<std::string> faults;
  for (const CaseEntry& entry : cases) {
    if (!entry.json) continue;
    for (std::string& fault : faults_of(entry)) faults.push_back(std::move(fault));
  }
  if (!faults.empty()) {
    page.heading("What does not hold");
    page.list(faults);
  }
  page.heading("All cases");
  add_case_overview(cases, page);
  std::string group;
  for (const CaseEntry& entry : cases) {
    if (!entry.json) continue;
    const std::string of = entry.id.substr(0, entry.id.find('/'));
    if (of != group) page.heading(of);
    group = of;
    add_case(entry, results, page);
  }
  page.write(file);
  return run;
}

}  // namespace barchan
