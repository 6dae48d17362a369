#include "scene/sections.h"

#include <algorithm>
#include <array>

namespace barchan {

namespace {

template <class S>
SingleSection section(S Scene::*member) {
  return {&table_of<S>(), [member](Scene& scene) -> void* { return &(scene.*member); }};
}

// What product names, but a later version brings. An empty value stands for the whole key.
struct NotYet {
  const char* section;
  const char* key;
  const char* value;
};
constexpr std::array<NotYet, 1> kNotYet = {{
    {"cache", "fields", ""},
}};

}  // namespace

const std::vector<SingleSection>& single_sections() {
  static const std::vector<SingleSection> sections = {
      section(&Scene::ballistic),    section(&Scene::flip),    section(&Scene::pbf),
      section(&Scene::granular_sph), section(&Scene::dem),     section(&Scene::rigid),
      section(&Scene::cache),        section(&Scene::surface), section(&Scene::render),
      section(&Scene::camera),
  };
  return sections;
}

std::vector<const ParamTable*> all_tables() {
  std::vector<const ParamTable*> tables = {
      &table_of<SceneParams>(), &table_of<MaterialParams>(), &table_of<FillParams>(),
      &table_of<SolidParams>(), &table_of<EmitterParams>(),  &table_of<SinkParams>(),
      &table_of<ProbeParams>(), &table_of<LightParams>(),
  };
  for (const SingleSection& single : single_sections()) tables.push_back(single.table);
  tables.push_back(&table_of<PaperParams>());
  tables.push_back(&table_of<PaperVariantParams>());
  tables.push_back(&table_of<PaperNumberParams>());
  tables.push_back(&table_of<PaperPlotParams>());
  return tables;
}

std::string not_available_yet(const std::string& section, const std::string& key,
                              const std::string& value) {
  const auto found = std::find_if(kNotYet.begin(), kNotYet.end(), [&](const NotYet& entry) {
    return entry.section == section && entry.key == key &&
           (*entry.value == '\0' || entry.value == value);
  });
  if (found == kNotYet.end()) return "";
  if (*found->value == '\0' && !section.empty()) {
    return "'" + key + "' in [" + section + "]";
  }
  return *found->value == '\0' ? "'" + key + "'" : key + " = \"" + value + "\"";
}

}  // namespace barchan
