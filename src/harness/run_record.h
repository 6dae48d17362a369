// What a run left behind, by the names of the expression language:
//
//     t, spacing                      times of the ledger's rows [s]; particle spacing [m]
//     ledger.COLUMN                   ledger.csv
//     probe.NAME                      probes/NAME.csv
//     body.NAME.COLUMN                bodies.csv, and what follows from it (harness/body_series.h)
//     particles.QUANTITY.STATISTIC    the frames (harness/particle_series.h)
//     pile.DIRECTION.KEY              their shape as a pile (harness/pile_measure.h)
//     run.KEY.SUBKEY                  run.json
//     bodies.TOTAL                    over all dynamic bodies (harness/body_series.h)
//     covering.KEY                    spheres over a surface (harness/covering_measure.h)
//     surface.KEY                     the last frame's surface (harness/surface_measure.h)
//     transfer.KEY                    a parabola to particles and back (harness/transfer_measure.h)
//
// Only files are read, as users have them: no solver, no state.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cache/ledger.h"
#include "cache/run_folder.h"
#include "harness/expression.h"

namespace barchan {

class RunRecord {
 public:
  explicit RunRecord(std::filesystem::path folder);
  ~RunRecord();
  RunRecord(RunRecord&&) noexcept;
  RunRecord& operator=(RunRecord&&) noexcept;

  const RunFolder& folder() const { return folder_; }

  // Rejects names that are not there, with the nearest one that is.
  Value value(const Name& name) const;

  // Names that have values, for plots: columns of the ledger that are not empty, probes, bodies.
  std::vector<std::string> ledger_columns() const;
  std::vector<std::string> probes() const { return folder_.probes(); }
  std::vector<std::string> bodies() const;

 private:
  struct Files;  // read when first asked for
  Series column(const Table& table, const std::string& name, const std::string& what) const;
  Series all_bodies(const std::string& total) const;
  Series body(const std::string& name, const std::string& column) const;
  double run_value(const Name& name) const;

  RunFolder folder_;
  std::unique_ptr<Files> files_;
};

// Rejects a name that no run can have: a first word that is none of those above, an unknown column.
// What depends on the run (probes, bodies, keys of run.json) passes.
void check_record_name(const Name& name);

}  // namespace barchan
