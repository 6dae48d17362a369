#include "cache/ledger.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/log.h"

namespace barchan {

namespace fs = std::filesystem;

const char* const kLedgerHeader =
    "frame,time,steps,particles,mass,volume,momentum_x,momentum_y,momentum_z,kinetic_energy,"
    "potential_energy,max_speed,density_error_mean,density_error_max,divergence_max,"
    "iterations_mean,leaks,retries,ms_per_step";
const char* const kBodiesHeader =
    "frame,time,name,position_x,position_y,position_z,orientation_w,orientation_x,orientation_y,"
    "orientation_z,velocity_x,velocity_y,velocity_z,angular_velocity_x,angular_velocity_y,"
    "angular_velocity_z,force_x,force_y,force_z,torque_x,torque_y,torque_z";
const char* const kIterationsHeader = "frame,time,iteration,density_error";
const char* const kProbeHeader = "frame,time,value";

namespace {

std::vector<std::string_view> split(std::string_view line, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = line.find(separator);
    parts.push_back(line.substr(0, at));
    if (at == std::string_view::npos) return parts;
    line.remove_prefix(at + 1);
  }
}

// The lines of a text; `whole` says whether the last one had its newline.
std::vector<std::string_view> lines_of(std::string_view text, bool& whole) {
  whole = text.empty() || text.back() == '\n';
  if (!text.empty() && whole) text.remove_suffix(1);
  std::vector<std::string_view> lines = split(text, '\n');
  for (std::string_view& line : lines) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  }
  return lines;
}

template <class T>
bool parse(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// What of an old file is kept: the header and the rows up to a frame.
std::string cut(const fs::path& path, const std::string& header, std::int64_t keep_up_to) {
  const std::string text = read_text_file(path);
  bool whole = true;
  std::vector<std::string_view> lines = lines_of(text, whole);
  if (!whole) lines.pop_back();  // the run was killed while it wrote this row
  if (lines.empty()) return header + "\n";
  if (lines.front() != header) {
    fail(
        "cannot go on with {}: its first line is not what this program writes; use the version "
        "that wrote it, or start again with --overwrite",
        path.string());
  }
  const std::size_t fields = split(header, ',').size();
  std::string kept = header + "\n";
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string_view> row = split(lines[i], ',');
    std::int64_t frame = 0;
    if (row.size() != fields || !parse(row.front(), frame)) {
      warn("{}:{}: this row is damaged and was dropped", path.string(), i + 1);
    } else if (frame <= keep_up_to) {
      kept.append(lines[i]).append("\n");
    }
  }
  return kept;
}

[[noreturn]] void cannot_write(const fs::path& path, int code) {
  const bool full = code == ENOSPC || code == EDQUOT;
  fail("cannot write {}: {}", path.string(),
       full ? "no space left on the disk" : std::strerror(code));
}

// Puts fields with commas between them.
class Row {
 public:
  void integer(std::int64_t value) { put(fmt::format("{}", value)); }
  void count(std::int64_t value) { put(value < 0 ? "" : fmt::format("{}", value)); }
  void number(double value) { put(std::isnan(value) ? "" : fmt::format("{}", value)); }
  void vector(const Vec3d& v) {
    number(v.x);
    number(v.y);
    number(v.z);
  }
  void text(const std::string& value) { put(value); }
  std::string line() const { return text_ + "\n"; }

 private:
  void put(const std::string& field) {
    if (!first_) text_ += ',';
    first_ = false;
    text_ += field;
  }
  std::string text_;
  bool first_ = true;
};

}  // namespace

CsvFile::CsvFile(fs::path path, const std::string& header, std::optional<std::int64_t> keep_up_to)
    : path_(std::move(path)) {
  const bool go_on = keep_up_to && fs::exists(path_);
  write_file_atomic(path_, go_on ? cut(path_, header, *keep_up_to) : header + "\n");
  file_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file_ < 0) cannot_write(path_, errno);
}

CsvFile::CsvFile(CsvFile&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}

CsvFile::~CsvFile() {
  if (file_ >= 0) ::close(file_);
}

void CsvFile::append(std::string_view rows) {
  const off_t before = ::lseek(file_, 0, SEEK_END);
  std::size_t done = 0;
  while (done < rows.size()) {
    const ssize_t wrote = ::write(file_, rows.data() + done, rows.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) {
      const int code = errno;
      // Half a row is worse than none.
      if (::ftruncate(file_, before) != 0) warn("{} ends in half a row", path_.string());
      cannot_write(path_, code);
    }
    done += static_cast<std::size_t>(wrote);
  }
}

void CsvFile::sync() {
  if (::fdatasync(file_) != 0) cannot_write(path_, errno);
}

std::string ledger_row(const LedgerRow& row) {
  Row out;
  out.integer(row.frame);
  out.number(row.time);
  out.count(row.steps);
  out.count(static_cast<std::int64_t>(row.particles));
  out.number(row.mass);
  out.number(row.volume);
  out.vector(row.momentum);
  out.number(row.kinetic_energy);
  out.number(row.potential_energy);
  out.number(row.max_speed);
  out.number(row.density_error_mean);
  out.number(row.density_error_max);
  out.number(row.divergence_max);
  // A solver that does not iterate says -1.
  out.number(row.iterations_mean < 0.0 ? std::nan("") : row.iterations_mean);
  out.count(row.leaks);
  out.count(row.retries);
  out.number(row.ms_per_step < 0.0 ? std::nan("") : row.ms_per_step);
  return out.line();
}

std::string bodies_rows(const Frame& frame, double frame_time) {
  // x / 0 would be infinite or NaN; NaN is written as an empty field.
  const double rate = frame_time > 0.0 ? 1.0 / frame_time : std::nan("");
  std::string rows;
  for (const BodyState& body : frame.bodies) {
    Row out;
    out.integer(frame.index);
    out.number(frame.time);
    out.text(body.name);
    out.vector(body.position);
    out.number(body.orientation.w);
    out.vector(body.orientation.vector_part());
    out.vector(body.velocity);
    out.vector(body.angular_velocity);
    out.vector(body.impulse * rate);
    out.vector(body.angular_impulse * rate);
    rows += out.line();
  }
  return rows;
}

std::string iterations_rows(const LedgerRow& row) {
  std::string rows;
  for (std::size_t k = 0; k < row.density_errors.size(); ++k) {
    Row out;
    out.integer(row.frame);
    out.number(row.time);
    out.integer(static_cast<std::int64_t>(k) + 1);
    out.number(row.density_errors[k]);
    rows += out.line();
  }
  return rows;
}

std::string probe_row(std::int64_t frame, double time, double value) {
  Row out;
  out.integer(frame);
  out.number(time);
  out.number(value);
  return out.line();
}

bool Table::has(const std::string& name) const {
  return std::find(header.begin(), header.end(), name) != header.end();
}

const std::vector<double>& Table::column(const std::string& name) const {
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) fail("the table has no column '{}'", name);
  return columns[static_cast<std::size_t>(found - header.begin())];
}

Table read_csv(const fs::path& path) {
  const std::string text = read_text_file(path);
  bool whole = true;
  const std::vector<std::string_view> lines = lines_of(text, whole);
  if (text.empty() || lines.front().empty()) {
    fail("cannot read {}: it has no header line; make it again with barchan run", path.string());
  }
  Table table;
  for (const std::string_view name : split(lines.front(), ',')) table.header.emplace_back(name);
  table.columns.resize(table.header.size());
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string_view> fields = split(lines[i], ',');
    if (fields.size() != table.header.size()) {
      fail(
          "{}:{}: {} fields, but the header has {}; go on with --resume, which mends half a row at "
          "the end, or delete this line",
          path.string(), i + 1, fields.size(), table.header.size());
    }
    for (std::size_t c = 0; c < fields.size(); ++c) {
      double value = std::numeric_limits<double>::quiet_NaN();
      if (table.header[c] == "name") {
        table.names.emplace_back(fields[c]);
      } else if (!fields[c].empty() && !parse(fields[c], value)) {
        fail("{}:{}: '{}' in column '{}' is not a number; mend or delete this line", path.string(),
             i + 1, std::string(fields[c]), table.header[c]);
      }
      table.columns[c].push_back(value);
    }
  }
  return table;
}

}  // namespace barchan
