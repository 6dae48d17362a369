// The memory of an HDF5 file that is being built (h5_writer.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "cache/h5_library.h"

namespace barchan::h5 {

// The memory of a file being built. HDF5's core driver asks us for it and "frees" it when the file
// is closed: then the file is complete, its flags say it is closed, and we keep the memory. (Taking
// it from an open file would leave the mark of a writer in the superblock, which readers refuse.)
struct Image {
  std::byte* data = nullptr;
  std::size_t capacity = 0;  // as HDF5 knows it
  std::size_t reserved = 0;  // what there really is: all from the start, or growing would copy
  std::size_t expected = 0;  // the file's size, about

  Image() = default;
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  ~Image() { std::free(data); }

  // Bytes 28 to 35 of a version 2 or 3 superblock: the address of the end of the file.
  std::size_t size() const {
    std::uint64_t end = 0;
    if (capacity >= 48) std::memcpy(&end, data + 28, sizeof(end));
    return static_cast<std::size_t>(end);
  }
};

// A larger one, with what is there; null where there is no memory.
void* resize(Image& image, std::size_t size);

// How HDF5 gets at it. In the newest format of HDF5 1.10, whose every index has a checksum. The
// image must outlive the file.
Id memory_access(Image& image, std::size_t expected_bytes);

}  // namespace barchan::h5
