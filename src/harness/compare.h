// One shot by several solvers: what each is told about the materials, and a page that puts the runs
// side by side.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/run_record.h"
#include "scene/scene.h"

namespace barchan {

// How a solver takes the scene's materials.
struct MaterialMap {
  std::vector<std::string> settings;  // as after --set
  std::vector<std::string> notes;     // what was changed, and what the solver does not know
  std::string refused;                // why it cannot take them at all; else ""
};

// Bulk densities become densities of grains and the other way round, friction angles friction
// between grains. dem has no fluids; pbf has nothing else.
MaterialMap map_materials(const Scene& scene, const std::string& solver);

// A solver's run, or why there is none.
struct ComparedRun {
  std::string solver;
  std::vector<std::string> notes;
  std::string fault;             // "" where it ran
  std::filesystem::path folder;  // of the run
  std::vector<std::filesystem::path> pictures;
};

// Pictures at the same times, fronts, heights, volumes, energies and costs, and what differs. The
// first run is the one that the others are measured by. Plots are left beside the page.
void write_comparison(const Scene& scene, const std::vector<ComparedRun>& runs,
                      const std::vector<double>& picture_times, const std::string& command,
                      const std::filesystem::path& page);

}  // namespace barchan
