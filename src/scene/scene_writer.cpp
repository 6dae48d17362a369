// Scene to text with every default filled in, and the pages made from the parameter tables.
#include <nlohmann/json.hpp>

#include "scene/field_reader.h"
#include "scene/node.h"
#include "scene/scene.h"
#include "scene/sections.h"

namespace barchan {

namespace {

std::string value_toml(const ParamValue& value) {
  struct Writer {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(std::int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return toml_number(v); }
    std::string operator()(const std::string& v) const { return toml_string(v); }
    std::string operator()(const std::vector<double>& v) const {
      std::string out = "[";
      for (std::size_t i = 0; i < v.size(); ++i) out += (i ? ", " : "") + toml_number(v[i]);
      return out + "]";
    }
    std::string operator()(const std::vector<std::string>& v) const {
      std::string out = "[";
      for (std::size_t i = 0; i < v.size(); ++i) out += (i ? ", " : "") + toml_string(v[i]);
      return out + "]";
    }
  };
  return std::visit(Writer{}, value);
}

bool was_given(const ParamValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return is_set(*number);
  if (const auto* numbers = std::get_if<std::vector<double>>(&value)) {
    return !numbers->empty() && is_set(numbers->front());
  }
  if (const auto* text = std::get_if<std::string>(&value)) return !text->empty();
  return true;
}

// name = value lines of one section; keys that are not available yet are left out.
std::string section_toml(const ParamTable& table, const std::string& section, const void* object) {
  std::string out;
  for (const ParamField& field : table.fields) {
    if (!field.get || !not_available_yet(section, field.name, "").empty()) continue;
    const ParamValue value = field.get(object);
    if (field.optional && !was_given(value)) continue;
    std::string text = value_toml(value);
    // A single radius is a number, not a list of one.
    if (field.kind == ParamKind::number_range && std::get<std::vector<double>>(value).size() == 1) {
      text = toml_number(std::get<std::vector<double>>(value)[0]);
    }
    out += field.name + " = " + text + "\n";
  }
  return out;
}

template <class Params>
std::string paper_list_toml(const std::string& key, const std::vector<Params>& items) {
  std::string out;
  for (const Params& item : items) {
    out += "\n[[paper." + key + "]]\n" +
           section_toml(table_of<Params>(), "[paper." + key + "]", &item);
  }
  return out;
}

// Empty for a scene that repeats no paper.
std::string paper_toml(const PaperParams& paper) {
  if (paper.figure.empty() && paper.note.empty() && paper.quick.empty() && paper.numbers.empty() &&
      paper.variants.empty() && paper.plots.empty()) {
    return "";
  }
  std::string out = "\n[paper]\n" + section_toml(table_of<PaperParams>(), "paper", &paper);
  out += paper_list_toml("variant", paper.variants);
  out += paper_list_toml("number", paper.numbers);
  return out + paper_list_toml("plot", paper.plots);
}

}  // namespace

std::string to_toml(const SurfaceParams& params) {
  return section_toml(table_of<SurfaceParams>(), "surface", &params);
}

std::string to_toml(const Scene& scene) {
  std::string out = section_toml(table_of<SceneParams>(), "", &scene.general);
  for (const Material& material : scene.materials) {
    out += "\n[material." + material.name + "]\n";
    out += section_toml(table_of<MaterialParams>(), "material." + material.name, &material.params);
    out += "grain = " + material.grain_toml + "\n";
  }
  for (const Fill& fill : scene.fills) {
    out += "\n[[fill]]\n" + section_toml(table_of<FillParams>(), "[fill]", &fill.params);
    out += "shape = " + fill.shape.toml + "\n";
  }
  for (const SceneSolid& solid : scene.solids) {
    out += "\n[[solid]]\n" + section_toml(table_of<SolidParams>(), "[solid]", &solid.params);
    out += "shape = " + solid.shape.toml + "\n";
    if (!solid.keyframes.empty()) out += "keyframes = " + solid.keyframes_toml + "\n";
  }
  for (const Emitter& emitter : scene.emitters) {
    out +=
        "\n[[emitter]]\n" + section_toml(table_of<EmitterParams>(), "[emitter]", &emitter.params);
    out += "shape = " + emitter.shape.toml + "\n";
  }
  for (const Sink& sink : scene.sinks) {
    out += "\n[[sink]]\n" + section_toml(table_of<SinkParams>(), "[sink]", &sink.params);
    out += "shape = " + sink.shape.toml + "\n";
  }
  for (const Probe& probe : scene.probes) {
    out += "\n[[probe]]\n" + section_toml(table_of<ProbeParams>(), "[probe]", &probe.params);
  }
  for (const LightParams& light : scene.lights) {
    out += "\n[[light]]\n" + section_toml(table_of<LightParams>(), "[light]", &light);
  }
  Scene& mutable_scene = const_cast<Scene&>(scene);  // single_sections() hands out pointers
  for (const SingleSection& single : single_sections()) {
    const std::string& name = single.table->section;
    std::string body = section_toml(*single.table, name, single.object(mutable_scene));
    if (name == "camera" && !scene.camera.keyframes.empty()) {
      body += "keyframes = " + scene.camera.keyframes_toml + "\n";
    }
    if (!body.empty()) out += "\n[" + name + "]\n" + body;
  }
  return out + paper_toml(scene.paper);
}

// ---- Pages made from the tables

namespace {

std::string title_of(const ParamTable& table) {
  return table.section.empty() ? "top of the file" : section_title(table.section);
}

// The default of every field, by making one object of each kind.
std::string default_of(const ParamTable& table, const ParamField& field) {
  if (!field.get) return "";
  Scene scene;
  Material material;
  Fill fill;
  SceneSolid solid;
  Emitter emitter;
  Probe probe;
  const LightParams light;
  const PaperVariantParams variant;
  const PaperNumberParams number;
  const PaperPlotParams plot;
  const void* object = nullptr;
  if (&table == &table_of<SceneParams>()) object = &scene.general;
  if (&table == &table_of<MaterialParams>()) object = &material.params;
  if (&table == &table_of<FillParams>()) object = &fill.params;
  if (&table == &table_of<SolidParams>()) object = &solid.params;
  if (&table == &table_of<EmitterParams>()) object = &emitter.params;
  if (&table == &table_of<ProbeParams>()) object = &probe.params;
  if (&table == &table_of<LightParams>()) object = &light;
  if (&table == &table_of<PaperParams>()) object = &scene.paper;
  if (&table == &table_of<PaperVariantParams>()) object = &variant;
  if (&table == &table_of<PaperNumberParams>()) object = &number;
  if (&table == &table_of<PaperPlotParams>()) object = &plot;
  for (const SingleSection& single : single_sections()) {
    if (single.table == &table) object = single.object(scene);
  }
  const ParamValue value = field.get(object);
  return was_given(value) ? value_toml(value) : "";
}

}  // namespace

std::string parameter_text(const std::string& section) {
  std::string out;
  for (const ParamTable* table : all_tables()) {
    if (!section.empty() && table->section != section && table->section != "[" + section + "]" &&
        table->section != section + ".NAME") {
      continue;
    }
    out += title_of(*table) + "  " + table->help + "\n";
    for (const ParamField& field : table->fields) {
      const std::string standard = default_of(*table, field);
      out += fmt::format("  {:<18}{}{}\n{:20}{}\n", field.name, expectation(field),
                         standard.empty() ? "" : "; default " + standard, "", field.help);
    }
    out += "\n";
  }
  if (out.empty()) {
    std::vector<std::string> known = {"material", "fill",  "solid", "emitter",
                                      "sink",     "probe", "light"};
    for (const SingleSection& single : single_sections()) known.push_back(single.table->section);
    known.emplace_back("paper");
    reject("no section '{}'{}", section, suggestion(section, known));
  }
  return out;
}

std::string parameter_markdown() {
  std::string out =
      "# Scene file reference\n\n"
      "Made by `barchan params --markdown` from the tables in `src/params`; do not edit.\n";
  for (const ParamTable* table : all_tables()) {
    out += "\n## " + title_of(*table) + "\n\n" + table->help + "\n";
    if (table->fields.empty()) continue;
    out += "\n| key | takes | default | meaning |\n|---|---|---|---|\n";
    for (const ParamField& field : table->fields) {
      const std::string standard = default_of(*table, field);
      out += fmt::format("| `{}` | {} | {} | {} |\n", field.name, expectation(field),
                         standard.empty() ? "" : "`" + standard + "`", field.help);
    }
  }
  return out;
}

namespace {

using Json = nlohmann::ordered_json;

Json number_schema(const char* type, const ParamRange& range) {
  Json schema = {{"type", type}};
  if (std::isfinite(range.lo)) schema[range.open_lo ? "exclusiveMinimum" : "minimum"] = range.lo;
  if (std::isfinite(range.hi)) schema["maximum"] = range.hi;
  return schema;
}

Json field_schema(const ParamField& field) {
  Json schema;
  const Json numbers = number_schema("number", field.range);
  switch (field.kind) {
    case ParamKind::boolean:
      schema = {{"type", "boolean"}};
      break;
    case ParamKind::integer:
      schema = number_schema("integer", field.range);
      break;
    case ParamKind::number:
      schema = numbers;
      break;
    case ParamKind::text:
      schema = {{"type", "string"}};
      break;
    case ParamKind::name:
      schema = {{"type", "string"}, {"pattern", "^[A-Za-z0-9_-]+$"}, {"maxLength", 64}};
      break;
    case ParamKind::choice:
      schema = {{"enum", field.choices}};
      break;
    case ParamKind::vector:
      schema = {{"type", "array"}, {"items", numbers}, {"minItems", 3}, {"maxItems", 3}};
      break;
    case ParamKind::words:
      schema = {{"type", "array"}, {"items", {{"type", "string"}}}};
      break;
    case ParamKind::number_range:
      schema["anyOf"] = {numbers,
                         {{"type", "array"}, {"items", numbers}, {"minItems", 2}, {"maxItems", 2}}};
      break;
    case ParamKind::texts:
      schema = {{"type", "array"}, {"items", {{"type", "string"}}}};
      break;
    case ParamKind::expression:
      schema["type"] = {"string", "number"};
      break;
    case ParamKind::nested:
    case ParamKind::shape:
      schema = {{"type", "object"}};
      break;
    case ParamKind::keyframes:
      schema = {{"type", "array"}, {"items", {{"type", "object"}}}};
      break;
    case ParamKind::grain:
      schema["type"] = {"string", "array"};
      break;
  }
  schema["description"] = field.help + (field.unit.empty() ? "" : " [" + field.unit + "]");
  return schema;
}

Json table_schema(const ParamTable& table) {
  Json schema = {{"type", "object"},
                 {"description", table.help},
                 {"additionalProperties", false},
                 {"properties", Json::object()}};
  for (const ParamField& field : table.fields) {
    schema["properties"][field.name] = field_schema(field);
    if (field.kind == ParamKind::shape) schema["required"] = {field.name};
  }
  return schema;
}

}  // namespace

std::string parameter_json_schema() {
  Json schema = table_schema(table_of<SceneParams>());
  Json& properties = schema["properties"];
  for (const ParamTable* table : all_tables()) {
    const std::string& section = table->section;
    if (section.empty()) continue;
    if (section == "material.NAME") {
      properties["material"] = {{"type", "object"}, {"additionalProperties", table_schema(*table)}};
    } else if (section.starts_with("[paper.")) {
      const std::string key = section.substr(7, section.size() - 8);
      Json& list = properties["paper"]["properties"][key];  // has its description already
      list["type"] = "array";
      list["items"] = table_schema(*table);
    } else if (section.front() == '[') {
      properties[section.substr(1, section.size() - 2)] = {{"type", "array"},
                                                           {"items", table_schema(*table)}};
    } else {
      properties[section] = table_schema(*table);
    }
  }
  Json head = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
               {"title", "Barchan scene"}};
  head.update(schema);
  return head.dump(2) + "\n";
}

}  // namespace barchan
