// What `barchan plot` draws of a run.
#pragma once

#include <string>
#include <vector>

#include "harness/plot.h"
#include "harness/run_record.h"

namespace barchan {

// Energies, speed, volume, particles, errors and times from ledger.csv, as far as they were
// measured.
Page ledger_page(const RunRecord& run);

// A panel for each probe; no panels where the run has none.
Page probes_page(const RunRecord& run);

// The force on each solid, and how it moved where it did.
Page bodies_page(const RunRecord& run);

// A panel for each of the comma-separated expressions (harness/expression.h); the name of a ledger
// column may stand alone.
Page columns_page(const RunRecord& run, const std::string& columns);

}  // namespace barchan
