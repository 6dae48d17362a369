// barchan export DIR --to ply|csv|xdmf: frames for other programs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstring>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/log.h"
#include "cache/frame_file.h"
#include "cache/xdmf.h"
#include "commands.h"

namespace barchan {

namespace fs = std::filesystem;

namespace {

struct Options {
  std::string folder, to, frames, out;
};

template <class T>
void put(std::string& out, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

// Binary little-endian PLY: points with velocity, id and material. PLY has no 64-bit integers, so
// an id is written as a double, exact up to 2^53.
std::string to_ply(const LoadedFrame& frame) {
  std::string out = fmt::format(
      "ply\nformat binary_little_endian 1.0\ncomment barchan frame {} time {}\n"
      "element vertex {}\nproperty float x\nproperty float y\nproperty float z\n"
      "property float vx\nproperty float vy\nproperty float vz\n"
      "property double id\nproperty uchar material\nend_header\n",
      frame.index, frame.time, frame.position.size());
  for (std::size_t i = 0; i < frame.position.size(); ++i) {
    for (const Vec3& v : {frame.position[i], frame.velocity[i]}) {
      put(out, v.x), put(out, v.y), put(out, v.z);
    }
    put(out, static_cast<double>(frame.id[i]));
    put(out, frame.material[i]);
  }
  return out;
}

std::string to_csv(const LoadedFrame& frame) {
  std::string out = "id,material,x,y,z,vx,vy,vz\n";
  for (std::size_t i = 0; i < frame.position.size(); ++i) {
    const Vec3 x = frame.position[i], v = frame.velocity[i];
    fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{}\n", frame.id[i],
                   frame.materials.at(frame.material[i]), x.x, x.y, x.z, v.x, v.y, v.z);
  }
  return out;
}

int run_export(const Options& options) {
  for (const char* later : {"obj", "vdb", "usda"}) {
    if (options.to == later) reject("--to {} is not available yet", later);
  }
  if (options.to != "ply" && options.to != "csv" && options.to != "xdmf") {
    reject("--to {}: choose ply, csv or xdmf", options.to);
  }
  const auto frames = frames_in(options.folder, parse_frame_range(options.frames));
  if (options.to == "xdmf") {
    if (!options.frames.empty() || !options.out.empty()) {
      reject(
          "--to xdmf writes DIR/frames.xdmf for all frames; it takes neither --frames nor --out");
    }
    write_xdmf(RunFolder(options.folder));
    note("{}", RunFolder(options.folder).xdmf().string());
    return 0;
  }
  const fs::path out =
      options.out.empty() ? fs::path(options.folder) / options.to : fs::path(options.out);
  fs::create_directories(out);
  int broken = 0;
  for (const auto& [number, file] : frames) {
    try {
      const LoadedFrame frame = read_frame(file);
      write_file_atomic(out / fmt::format("frame_{:06}.{}", number, options.to),
                        options.to == "ply" ? to_ply(frame) : to_csv(frame));
    } catch (const Error& error) {
      log_message(LogLevel::error, error.what());
      ++broken;
    }
  }
  note("{} frames in {}", frames.size() - static_cast<std::size_t>(broken), out.string());
  return broken > 0 ? 1 : 0;
}

}  // namespace

void add_export(CLI::App& app, CommandLine& line) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("export", "Write frames for other programs");
  command->add_option("DIR", options->folder, "The run folder")->required();
  command->add_option("--to", options->to, "ply, csv or xdmf")->required();
  command->add_option("--frames", options->frames, "A..B; all by default");
  command->add_option("--out", options->out, "Folder for the files; DIR/<format> by default");
  command->callback([&line, options] { line.action = [options] { return run_export(*options); }; });
}

}  // namespace barchan
