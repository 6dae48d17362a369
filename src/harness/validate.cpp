#include "harness/validate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "api/run.h"
#include "base/atomic_file.h"
#include "base/error.h"
#include "base/log.h"
#include "harness/plot.h"
#include "harness/run_record.h"

namespace barchan {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

using Settings = std::vector<std::string>;

Settings operator+(Settings a, const Settings& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// A run of the case that is still to be made.
struct Planned {
  Scene scene;
  fs::path folder;
};

// Which part of the case a scene's fault belongs to is not in the message of --set.
Planned plan(const ValidationCase& of, const CaseScene& scene, const Settings& settings,
             const std::string& part, const fs::path& folder) {
  try {
    return {scene.load(settings), folder};
  } catch (const Error& error) {
    const std::string file = of.file.string(), message = error.what();
    if (message.starts_with(file)) throw;
    reject("{}: {}: {}", file, part, message);
  }
}

RunRecord simulate(const Planned& planned, const ValidationCase& of,
                   const ValidateOptions& options) {
  RunRequest request;
  request.scene = planned.scene;
  request.scene_argument = of.id;
  request.command = options.command;
  request.device = options.device;
  request.threads = options.threads;
  request.folder = planned.folder;
  request.mode = RunMode::overwrite;
  run_scene(request);
  return RunRecord(planned.folder);
}

// The names that a case's expressions may use: constants, variants, and what the run itself left.
class CaseScope {
 public:
  CaseScope(const ValidationCase& of, const RunRecord& main,
            const std::map<std::string, RunRecord>& variants)
      : main_(main), variants_(variants) {
    for (const auto& [name, expression] : of.constants) {
      constants_[name] = expression.number(scope());
    }
  }

  Expression::Scope scope() const {
    return [this](const Name& name) { return value(name); };
  }

 private:
  Value value(const Name& name) const {
    if (name.size() == 1) {
      const auto constant = constants_.find(name[0]);
      if (constant != constants_.end()) return constant->second;
    }
    const auto variant = variants_.find(name[0]);
    if (variant != variants_.end() && name.size() > 1) {
      return variant->second.value(Name(name.begin() + 1, name.end()));
    }
    return main_.value(name);
  }

  const RunRecord& main_;
  const std::map<std::string, RunRecord>& variants_;
  std::map<std::string, double> constants_;
};

std::vector<Verdict> judge_all(const ValidationCase& of, const RunRecord& main,
                               const std::map<std::string, RunRecord>& variants) {
  const CaseScope scope(of, main, variants);
  std::vector<Verdict> verdicts;
  for (const Check& check : of.checks) verdicts.push_back(judge(check, scope.scope()));
  return verdicts;
}

// A control has done its part where every check it names fails, or at least one where it names
// none.
ControlResult control_result(const Control& control, const std::vector<Verdict>& verdicts) {
  ControlResult result{control.name, false, {}};
  for (const Verdict& verdict : verdicts) {
    if (!verdict.passed) result.failed.push_back(verdict.name);
  }
  const auto failed = [&](const std::string& name) {
    return std::find(result.failed.begin(), result.failed.end(), name) != result.failed.end();
  };
  result.failed_as_it_must =
      !result.failed.empty() && std::all_of(control.fails.begin(), control.fails.end(), failed);
  return result;
}

void write_plot(const ValidationCase& of, const CaseResult& result, const fs::path& out) {
  Page page{of.id + ": " + of.title, {}};
  for (const Verdict& verdict : result.checks) {
    if (verdict.measured_series.size() < 2) continue;
    Panel panel{verdict.name, "value (SI)", {{"measured", verdict.measured_series}}};
    if (!verdict.expected_series.empty()) {
      const auto style = verdict.is_table ? Curve::Style::points : Curve::Style::dashes;
      panel.curves.push_back({"expected", verdict.expected_series, style});
    }
    page.panels.push_back(std::move(panel));
  }
  if (page.panels.empty()) return;
  try {
    draw_page(page, out);
  } catch (const Error& error) {
    warn("{}", error.what());  // the verdict does not hang on the picture
  }
}

void write_results(const ValidationCase& of, const CaseResult& result,
                   const ValidateOptions& options) {
  Json out = {{"case", of.id},
              {"title", of.title},
              {"quick", options.quick},
              {"device", options.device},
              {"passed", result.passed()},
              {"fault", result.fault},
              {"seconds", result.seconds},
              {"checks", Json::array()},
              {"controls", Json::array()}};
  for (const Verdict& verdict : result.checks) {
    out["checks"].push_back(
        {{"name", verdict.name},
         {"passed", verdict.passed},
         {"value", std::isfinite(verdict.measured) ? Json(verdict.measured) : Json()},
         {"measured", verdict.measured_text},
         {"expected", verdict.expected_text}});
  }
  for (const ControlResult& control : result.controls) {
    out["controls"].push_back({{"name", control.name},
                               {"failed_as_it_must", control.failed_as_it_must},
                               {"failed", control.failed}});
  }
  write_file_atomic(options.out / "results.json", out.dump(2) + "\n");
}

struct PlannedCase {
  Planned main;
  std::vector<Planned> variants, controls;
};

// Every scene is read first: a misspelt control is found before the first run.
PlannedCase plan_case(const ValidationCase& of, const ValidateOptions& options) {
  const Settings common = options.quick ? of.settings + of.quick : of.settings;
  PlannedCase planned{plan(of, of.scene, common, "the case", options.out / "run"), {}, {}};
  for (const Variant& variant : of.variants) {
    const CaseScene& scene = variant.scene ? *variant.scene : of.scene;
    const Settings settings = variant.scene ? variant.settings : common + variant.settings;
    planned.variants.push_back(plan(of, scene, settings, "variant '" + variant.name + "'",
                                    options.out / ("variant-" + variant.name)));
  }
  for (const Control& control : of.controls) {
    const std::string folder = fmt::format("control-{}", planned.controls.size() + 1);
    planned.controls.push_back(plan(of, of.scene, common + control.settings,
                                    "control '" + control.name + "'", options.out / folder));
  }
  return planned;
}

void measure(const ValidationCase& of, const PlannedCase& planned, const ValidateOptions& options,
             CaseResult& result) {
  const RunRecord record = simulate(planned.main, of, options);
  std::map<std::string, RunRecord> others;
  for (std::size_t i = 0; i < planned.variants.size(); ++i) {
    others.emplace(of.variants[i].name, simulate(planned.variants[i], of, options));
  }
  result.checks = judge_all(of, record, others);
  for (std::size_t i = 0; i < planned.controls.size(); ++i) {
    const RunRecord changed = simulate(planned.controls[i], of, options);
    result.controls.push_back(control_result(of.controls[i], judge_all(of, changed, others)));
  }
}

}  // namespace

bool CaseResult::passed() const {
  return fault.empty() &&
         std::all_of(checks.begin(), checks.end(), [](const Verdict& v) { return v.passed; }) &&
         std::all_of(controls.begin(), controls.end(),
                     [](const ControlResult& c) { return c.failed_as_it_must; });
}

CaseResult run_case(const ValidationCase& of, const ValidateOptions& options) {
  const auto begun = std::chrono::steady_clock::now();
  const PlannedCase planned = plan_case(of, options);
  CaseResult result;
  try {
    measure(of, planned, options, result);
  } catch (const Error& error) {  // the page of all cases is to say so
    result.fault = error.what();
    write_results(of, result, options);
    throw;
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  write_plot(of, result, options.out / "checks.png");
  write_results(of, result, options);
  return result;
}

}  // namespace barchan
