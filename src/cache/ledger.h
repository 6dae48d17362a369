// ledger.csv, bodies.csv, iterations.csv and probes/<name>.csv: rows appended frame by frame, and
// read again. Numbers are in the shortest form that reads back as the same number; what is not
// known is empty.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/frame.h"

namespace barchan {

extern const char* const kLedgerHeader;
extern const char* const kBodiesHeader;
extern const char* const kIterationsHeader;
extern const char* const kProbeHeader;

// A CSV file whose first column is the frame. Rows go straight to the system, whole: a row that
// does not fit on the disk is taken back and an Error thrown, so the file stays readable.
class CsvFile {
 public:
  // Without keep_up_to a new file with its header. With it, an old file is gone on with: rows of
  // later frames are cut, as is half a row at the end, and the file is made if it is not there.
  CsvFile(std::filesystem::path path, const std::string& header,
          std::optional<std::int64_t> keep_up_to);
  ~CsvFile();
  CsvFile(CsvFile&& other) noexcept;
  CsvFile(const CsvFile&) = delete;
  CsvFile& operator=(const CsvFile&) = delete;

  // One or more rows, each ending in a newline.
  void append(std::string_view rows);
  // Waits until what was appended is on the disk.
  void sync();

 private:
  std::filesystem::path path_;
  int file_ = -1;
};

// Rows, with their newlines.
std::string ledger_row(const LedgerRow& row);
// One row a body. frame_time [s] is what the impulses are averaged over; where it is 0 (the first
// frame) there is no average, and force and torque are left empty.
std::string bodies_rows(const Frame& frame, double frame_time);
// One row an iteration of the step that ended the frame, counted from 1; none where the solver does
// not measure its density error.
std::string iterations_rows(const LedgerRow& row);
std::string probe_row(std::int64_t frame, double time, double value);

// A CSV file of numbers. The column "name", where there is one, holds text.
struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<double>> columns;  // as many as header; empty fields are NaN
  std::vector<std::string> names;            // column "name", one a row

  std::size_t rows() const { return columns.empty() ? 0 : columns.front().size(); }
  bool has(const std::string& name) const;
  // Throws if there is no such column.
  const std::vector<double>& column(const std::string& name) const;
};

// Throws an Error that names file and line where a field is not a number or a row is not whole.
Table read_csv(const std::filesystem::path& path);

}  // namespace barchan
