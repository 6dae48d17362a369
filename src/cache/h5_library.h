// What reading and writing share of HDF5: the lock, handles, types, texts. For h5_reader.cpp and
// h5_writer.cpp alone; all others use h5_file.h.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "sim/columns.h"

namespace barchan::h5 {

// About 64 Ki rows a chunk: large enough to stream, small enough for the processor's cache.
constexpr std::size_t kChunkRows = std::size_t{1} << 16;

// The process-wide lock, with HDF5's own messages switched off.
std::unique_lock<std::recursive_mutex> lock_library();

// hid_t, without HDF5's header.
using Handle = std::int64_t;

// An HDF5 handle that closes itself.
class Id {
 public:
  Id() = default;
  Id(Handle id, int (*closer)(Handle)) : id_(id), close_(closer) {}
  Id(Id&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Id& operator=(Id&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Id() { close(); }
  bool close() {
    const Handle id = std::exchange(id_, -1);
    return id < 0 || close_(id) >= 0;
  }
  bool ok() const { return id_ >= 0; }
  operator Handle() const { return id_; }

 private:
  Handle id_ = -1;
  int (*close_)(Handle) = nullptr;
};

// The first cause on HDF5's error stack, in its own words.
std::string cause();

// Numbers as they are in files, and in memory.
struct NumberType {
  Handle in_file = -1, in_memory = -1;
};
NumberType number_type(Type type);

// Calls work with a null pointer of the C++ type that `type` names.
template <class Work>
void with_type(Type type, const Work& work) {
  switch (type) {
    case Type::f32:
      return work(static_cast<float*>(nullptr));
    case Type::f64:
      return work(static_cast<double*>(nullptr));
    case Type::u8:
      return work(static_cast<std::uint8_t*>(nullptr));
    case Type::u32:
      return work(static_cast<std::uint32_t*>(nullptr));
    case Type::u64:
      return work(static_cast<std::uint64_t*>(nullptr));
  }
}

Id space_of(std::size_t rows, int components);

// Strings of one length, filled up with zeros: unlike variable ones they lie in checksummed places.
Id text_type(std::size_t length);

struct PackedTexts {
  std::size_t length = 1;
  std::string bytes;
};
PackedTexts pack(const std::vector<std::string>& values);
std::vector<std::string> unpack(const std::string& bytes, std::size_t length);

}  // namespace barchan::h5
