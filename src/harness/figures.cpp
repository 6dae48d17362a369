#include "harness/figures.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/nearest_name.h"
#include "scene/scene.h"

namespace barchan {

namespace {

// ZB: Zhu & Bridson 2005, with Zhu's thesis. PBF: Macklin & Mueller 2013. AO: Alduan & Otaduy 2011.
// Bell: Bell, Yu & Mucha 2005.
constexpr Figure kFigures[] = {
    {"zb05/bunny-water", "ZB 1, thesis 5.2", "a bunny of water collapses and splashes"},
    {"zb05/bunny-sand", "ZB 1, thesis 5.1", "a bunny of sand slumps and spreads (mu = 0)"},
    {"zb05/bunny-sand-friction", "ZB 2, thesis 2.2", "with mu = 0.6, a stable heap"},
    {"zb05/pic-vs-flip", "ZB 3, thesis 3.3", "FLIP keeps small-scale velocities, PIC does not"},
    {"zb05/implicit-vs-blobby", "ZB 4, thesis 4.1", "rms error of both surfaces"},
    {"zb05/column-water", "ZB 5, thesis 4.2", "run-out and final profile; 12 s a frame theirs"},
    {"zb05/column-sand", "ZB 6, thesis 4.3", "run-out and final profile; 12 s a frame theirs"},
    {"zb05/surface-250", "ZB 6 (text)", "a 250^3 surface; 40 to 50 s a frame theirs"},
    {"zb05/transfer-error", "thesis 3.2.1", "order 2 of the transfers, and its coefficient"},
    {"pbf13/bunny-bath", "PBF 1", "128k particles at 10 ms a frame"},
    {"pbf13/armadillo-splash", "PBF 2, table 1", "with and without s_corr; 4.2 ms a step theirs"},
    {"pbf13/bunny-drop", "PBF 3, 4, table 1", "density over time against PCISPH; 7.8 ms a step"},
    {"pbf13/dam-break", "PBF 5, 6, tables 1, 2", "vorticity on and off; density error; 4.3 ms"},
    {"ao11/avalanche", "AO 1, table 1", "a flood through houses; 0.844 s a step theirs"},
    {"ao11/splash", "AO 2, table 1", "bilateral, unilateral, with friction; 0.129 s a step"},
    {"ao11/piles", "AO 3, table 1", "slopes of three friction angles; 0.198 s a step"},
    {"ao11/cohesion", "AO 4", "how shape is kept against C"},
    {"ao11/sandcastle", "AO 5, table 1", "it stands, then two balls; 0.084 s a step"},
    {"bym05/hourglass", "Bell 1, table 1", "constant flow; 3.18 min a frame theirs"},
    {"bym05/restitution", "Bell 3", "restitution against speed for four laws"},
    {"bym05/shapes", "Bell 4", "grains of spheres: tetrahedron and cube"},
    {"bym05/splash", "Bell 5, table 1", "crater, wave stopped by a glass wall, heap; 3.41 min"},
    {"bym05/covering", "Bell 6", "a mesh covered by about 4,147 spheres"},
    {"bym05/avalanche", "Bell 7, table 1", "structures swept away; 26.4 min a frame theirs"},
    {"bym05/bulldozer", "Bell 8, table 1", "a keyframed blade clears sand; 17.4 min a frame"},
    {"bym05/rings", "Bell 9, table 1", "rings on poles, low and high friction; 3.73, 3.09 min"},
};

}  // namespace

std::span<const Figure> figures() {
  return kFigures;
}

const Figure& find_figure(const std::string& id) {
  std::vector<std::string> ids;
  for (const Figure& figure : kFigures) {
    if (figure.id == id) return figure;
    ids.emplace_back(figure.id);
  }
  const std::string nearest = nearest_name(id, ids);
  reject("no figure '{}': {}", id,
         nearest.empty() ? "`barchan paper` lists them" : "did you mean '" + nearest + "'?");
}

bool is_available(const Figure& figure) {
  const std::vector<ShippedScene> scenes = shipped_scenes();
  return std::any_of(scenes.begin(), scenes.end(),
                     [&](const ShippedScene& scene) { return scene.name == figure.id; });
}

}  // namespace barchan
