#include "harness/covering_measure.h"

#include "base/atomic_file.h"
#include "base/error.h"
#include "cache/frame_file.h"
#include "geometry/covering.h"
#include "scene/scene.h"

namespace barchan {

const std::vector<std::string>& covering_keys() {
  static const std::vector<std::string> keys = {"count",      "radius",    "nearest_mean",
                                                "nearest_cv", "worst_gap", "worst_off_surface"};
  return keys;
}

double covering_measure(const RunFolder& run, const std::string& key) {
  const Scene scene = read_scene(read_text_file(run.scene()), run.scene().string());
  if (scene.fills.empty()) reject("covering.{}: the scene has no [[fill]] to cover", key);
  Covering covering;
  covering.radius = 0.5 * scene.general.resolution;
  const LoadedFrame frame = read_frame(run.frame(0));
  for (const Vec3& p : frame.position) covering.points.emplace_back(p);
  if (key == "count") return static_cast<double>(covering.points.size());
  if (key == "radius") return covering.radius;
  const CoveringStatistics found = measure(covering, scene.fills.front().shape.shape);
  if (key == "nearest_mean") return found.nearest_mean;
  if (key == "nearest_cv") return found.nearest_cv;
  return key == "worst_gap" ? found.worst_gap : found.worst_off_surface;
}

}  // namespace barchan
