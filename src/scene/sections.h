// The sections of a scene file and where each lands in a Scene.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "params/field.h"
#include "scene/scene.h"

namespace barchan {

// A section that stands at most once: [pbf], [cache] ...
struct SingleSection {
  const ParamTable* table;
  std::function<void*(Scene&)> object;
};

const std::vector<SingleSection>& single_sections();

// All tables, in the order of the reference: scene, materials, lists, solvers, output.
std::vector<const ParamTable*> all_tables();

// "" where `value` of `key` works in this version; otherwise what is not available yet.
std::string not_available_yet(const std::string& section, const std::string& key,
                              const std::string& value);

}  // namespace barchan
