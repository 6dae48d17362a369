#include "export/points_file.h"

#include <fmt/format.h>

#include <cstring>
#include <iterator>
#include <string>

#include "base/atomic_file.h"

namespace barchan {

namespace {

template <class T>
void put(std::string& out, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

}  // namespace

void write_points_ply(const LoadedFrame& frame, const std::filesystem::path& file) {
  std::string out = fmt::format(
      "ply\nformat binary_little_endian 1.0\ncomment barchan frame {} time {}\n"
      "element vertex {}\nproperty float x\nproperty float y\nproperty float z\n"
      "property float vx\nproperty float vy\nproperty float vz\n"
      "property double id\nproperty uchar material\nend_header\n",
      frame.index, frame.time, frame.size());
  for (std::size_t i = 0; i < frame.size(); ++i) {
    for (const Vec3& v : {frame.position[i], frame.velocity[i]}) {
      put(out, v.x), put(out, v.y), put(out, v.z);
    }
    put(out, static_cast<double>(frame.id[i]));
    put(out, frame.material[i]);
  }
  write_file_atomic(file, out);
}

void write_points_csv(const LoadedFrame& frame, const std::filesystem::path& file) {
  std::string out = "id,material,x,y,z,vx,vy,vz\n";
  for (std::size_t i = 0; i < frame.size(); ++i) {
    const Vec3 x = frame.position[i], v = frame.velocity[i];
    fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{}\n", frame.id[i],
                   frame.materials.at(frame.material[i]), x.x, x.y, x.z, v.x, v.y, v.z);
  }
  write_file_atomic(file, out);
}

}  // namespace barchan
