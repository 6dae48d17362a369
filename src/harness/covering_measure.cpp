#include "harness/covering_measure.h"

#include "base/error.h"

namespace barchan {

double covering_measure(const Scene& scene, const std::string& solid, const std::string& key) {
  for (const SceneSolid& candidate : scene.solids) {
    if (candidate.params.name != solid) continue;
    reject("covering.{}.{} is not available yet", solid, key);
  }
  reject("the scene has no solid '{}' to cover", solid);
}

}  // namespace barchan
