#include "harness/case_file.h"

#include <algorithm>

#include "base/atomic_file.h"
#include "base/data_folder.h"
#include "base/error.h"
#include "harness/run_record.h"
#include "scene/field_reader.h"

namespace barchan {

namespace fs = std::filesystem;

// ---- The file's tables

namespace {

struct CaseParams {
  std::string title;
  std::vector<std::string> set, quick;
  bool only_full = false;
};

}  // namespace

template <>
const ParamTable& table_of<CaseParams>() {
  using P = CaseParams;
  static const ParamTable table{
      "the case",
      "A validation case.",
      {
          text("title", &P::title, "What is tested, in one line."),
          special("scene", ParamKind::nested, "A scene, or the name of one."),
          texts("set", &P::set, "Changes to the scene, as after --set."),
          texts("quick", &P::quick, "More of them under --quick."),
          boolean("only_full", &P::only_full, "Not run under --quick."),
          special("constants", ParamKind::nested, "Names for numbers."),
          special("check", ParamKind::nested, "What a run must meet."),
          special("variant", ParamKind::nested, "A second run to compare with."),
          special("control", ParamKind::nested, "A change that must make checks fail."),
      }};
  return table;
}

template <>
const ParamTable& table_of<Variant>() {
  static const ParamTable table{
      "[variant]",
      "A second run of the case.",
      {
          name_field("name", &Variant::name, "What its values are called by."),
          texts("set", &Variant::settings, "Changes to the scene, as after --set."),
          special("scene", ParamKind::nested, "Another scene, or the name of one."),
      }};
  return table;
}

template <>
const ParamTable& table_of<Control>() {
  static const ParamTable table{
      "[control]",
      "A change that must make checks fail.",
      {
          text("name", &Control::name, "What is changed."),
          texts("set", &Control::settings, "The change, as after --set."),
          texts("fails", &Control::fails, "Names of the checks that must fail; else any one."),
      }};
  return table;
}

namespace {

// The tables of a list such as [[check]]; none where it is not there.
const std::vector<Node>& items_of(const Node& document, const char* key) {
  static const std::vector<Node> none;
  const Node::Member* member = document.find(key);
  if (!member) return none;
  if (member->value.kind != Node::Kind::list) {
    reject_at(member->source, "'{}' is a list: write [[{}]] with two brackets", key, key);
  }
  return member->value.items;
}

CaseScene scene_at(const Node::Member& member, const fs::path& file) {
  const Node& node = member.value;
  if (node.kind != Node::Kind::table && node.kind != Node::Kind::text) {
    reject_at(node.source, "'scene' must be a table [scene] or the name of a scene, not {}",
              describe(node));
  }
  return {file, node};
}

void read_constants(const Node& document, ValidationCase& out) {
  const Node::Member* section = document.find("constants");
  if (!section) return;
  expect_table(section->value, "[constants]");
  for (const Node::Member& member : section->value.members) {
    const Node& value = member.value;
    if (value.kind != Node::Kind::text && !value.is_number()) {
      reject_at(value.source, "'{}' in [constants] must be a number or an expression, not {}",
                member.key, describe(value));
    }
    const bool is_text = value.kind == Node::Kind::text;
    out.constants.emplace_back(member.key,
                               Expression(is_text ? value.text : inline_toml(value), value.source));
  }
}

Variant read_variant(const Node& node, const fs::path& file) {
  Variant variant;
  read_section(node, table_of<Variant>(), "[variant]", &variant);
  if (variant.name.empty()) reject_at(node.source, "[[variant]] needs a name");
  if (const Node::Member* scene = node.find("scene")) variant.scene = scene_at(*scene, file);
  return variant;
}

Control read_control(const Node& node, const ValidationCase& of) {
  Control control;
  read_section(node, table_of<Control>(), "[control]", &control);
  if (control.name.empty()) reject_at(node.source, "[[control]] needs a name");
  if (control.settings.empty()) {
    reject_at(node.source, "[[control]] '{}' changes nothing: give set = [..]", control.name);
  }
  for (const std::string& name : control.fails) {
    const bool known = std::any_of(of.checks.begin(), of.checks.end(),
                                   [&](const Check& c) { return c.params.name == name; });
    if (!known) {
      reject_at(node.source, "[[control]] '{}': no check is called '{}'", control.name, name);
    }
  }
  return control;
}

// Names that no run can have are found here, not after an hour of simulation.
void check_names(const ValidationCase& of) {
  std::vector<std::string> known;
  const auto check_name = [&](const Name& name) {
    if (name.size() == 1 && std::find(known.begin(), known.end(), name[0]) != known.end()) return;
    for (const Variant& variant : of.variants) {
      if (name.front() == variant.name && name.size() > 1) {
        return check_record_name(Name(name.begin() + 1, name.end()));
      }
    }
    check_record_name(name);
  };
  for (const auto& [name, expression] : of.constants) {
    expression.visit_names(check_name);
    known.push_back(name);
  }
  for (const Check& check : of.checks) {
    check.value.visit_names(check_name);
    check.time_unit.visit_names(check_name);
    for (const std::optional<Expression>* other : {&check.expected, &check.at_least, &check.at_most,
                                                   &check.from, &check.to, &check.tolerance}) {
      if (*other) (*other)->visit_names(check_name);
    }
  }
}

}  // namespace

Scene CaseScene::load(const std::vector<std::string>& settings) const {
  if (value.kind == Node::Kind::table) return read_scene(value, case_file.string(), settings);
  const fs::path beside = case_file.parent_path() / value.text;
  std::error_code none;
  return load_scene(fs::is_regular_file(beside, none) ? beside.string() : value.text, settings);
}

ValidationCase read_case(const fs::path& file, const fs::path& folder) {
  Node document = parse_toml(read_text_file(file), file.string());
  document.source = {file.string(), 1, 1};
  CaseParams params;
  read_section(document, table_of<CaseParams>(), "the case", &params);
  const Node::Member* scene = document.find("scene");
  if (!scene) reject_at(document.source, "the case needs a scene: [scene] or scene = \"NAME\"");

  ValidationCase out;
  out.id = fs::relative(file, folder).replace_extension().generic_string();
  out.file = file;
  out.title = params.title;
  out.settings = params.set;
  out.quick = params.quick;
  out.only_full = params.only_full;
  out.scene = scene_at(*scene, file);
  read_constants(document, out);
  for (const Node& node : items_of(document, "variant")) {
    out.variants.push_back(read_variant(node, file));
  }
  for (const Node& node : items_of(document, "check")) out.checks.push_back(read_check(node));
  for (const Node& node : items_of(document, "control")) {
    out.controls.push_back(read_control(node, out));
  }
  if (out.checks.empty()) reject_at(document.source, "the case checks nothing: add a [[check]]");
  if (out.controls.empty()) {
    reject_at(document.source,
              "the case has no [[control]]: a gate that nothing fails is worthless");
  }
  check_names(out);
  return out;
}

fs::path validation_folder() {
  return data_folder("validation", "invariants");
}

std::vector<std::pair<std::string, fs::path>> case_files() {
  const fs::path folder = validation_folder();
  std::vector<std::pair<std::string, fs::path>> files;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder, none)) {
    if (entry.path().extension() != ".toml") continue;
    files.emplace_back(fs::relative(entry.path(), folder).replace_extension().generic_string(),
                       entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace barchan
