#include <hdf5.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>

#include "barchan/version.h"
#include "base/atomic_file.h"
#include "base/error.h"
#include "cache/h5_file.h"
#include "cache/h5_image.h"

namespace barchan {

namespace fs = std::filesystem;
using h5::cause;
using h5::Id;
using h5::Image;
using h5::kChunkRows;
using h5::lock_library;
using h5::memory_access;
using h5::number_type;
using h5::pack;
using h5::PackedTexts;
using h5::resize;
using h5::space_of;
using h5::text_type;
using h5::with_type;

namespace {

template <class T>
void interleave_as(const HostColumn& column, std::size_t first, std::size_t count, T* to) {
  const int components = column.spec.components;
  if (components == 1) {
    std::memcpy(to, column.component<T>(0) + first, count * sizeof(T));
  } else if (components == 3) {  // nearly every vector: three streams in, one out
    const T *x = column.component<T>(0) + first, *y = column.component<T>(1) + first,
            *z = column.component<T>(2) + first;
    for (std::size_t i = 0; i < count; ++i) {
      to[3 * i] = x[i], to[3 * i + 1] = y[i], to[3 * i + 2] = z[i];
    }
  } else {
    const auto step = static_cast<std::size_t>(components);
    for (int c = 0; c < components; ++c) {
      const T* from = column.component<T>(c) + first;
      for (std::size_t i = 0; i < count; ++i) to[i * step + static_cast<std::size_t>(c)] = from[i];
    }
  }
}

// Without times, or the bytes would depend on the hour; with the order things were put in.
Id group_creation(hid_t kind) {
  Id creation(H5Pcreate(kind), H5Pclose);
  H5Pset_obj_track_times(creation, false);
  H5Pset_link_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  return creation;
}

// HDF5's Fletcher32 (H5_checksum_fletcher32), to the bit: 16-bit words, high byte first; sum1 adds
// them up, sum2 adds up sum1, and both are folded to 16 bits after every 360 words. Over a block of
// n words w_k that starts with sum1, sum2 the loop "sum1 += w, sum2 += sum1" comes to
//   sum2 + n sum1 + sum_k (n - k) w_k   and   sum1 + sum_k w_k,
// which has no order and can be vectorised. 360 words are just short of overflowing 32 bits.
std::uint32_t fletcher32(const std::byte* data, std::size_t bytes) {
  const auto fold = [](std::uint32_t sum) { return (sum & 0xffff) + (sum >> 16); };
  constexpr std::size_t kWords = 360;
  std::uint32_t sum1 = 0, sum2 = 0;
  std::size_t words = bytes / 2;
  while (words > 0) {
    const auto n = static_cast<std::uint32_t>(std::min(words, kWords));
    std::uint32_t plain = 0, weighted = 0;
    for (std::uint32_t k = 0; k < n; ++k) {
      std::uint16_t word;
      std::memcpy(&word, data + 2 * k, sizeof(word));
      const std::uint32_t w = static_cast<std::uint16_t>((word << 8) | (word >> 8));
      plain += w;
      weighted += (n - k) * w;
    }
    sum2 = fold(sum2 + n * sum1 + weighted);
    sum1 = fold(sum1 + plain);
    data += 2 * n;
    words -= n;
  }
  if (bytes % 2 != 0) {
    sum1 += static_cast<std::uint32_t>(*data) << 8;
    sum2 += sum1;
    sum1 = fold(sum1);
    sum2 = fold(sum2);
  }
  return (fold(sum2) << 16) | fold(sum1);
}

// Chunks of even size, so that the last one wastes next to nothing.
std::size_t chunk_rows(std::size_t rows) {
  const std::size_t chunks = (rows + kChunkRows - 1) / kChunkRows;
  return chunks == 0 ? 0 : (rows + chunks - 1) / chunks;
}

Id dataset_creation(std::size_t rows, int components) {
  Id creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation, false);
  if (rows == 0) return creation;  // a chunk cannot be empty, and there is nothing to check
  const std::array<hsize_t, 2> chunk = {chunk_rows(rows), static_cast<hsize_t>(components)};
  H5Pset_chunk(creation, components == 1 ? 1 : 2, chunk.data());
  H5Pset_fletcher32(creation);
  return creation;
}

}  // namespace

struct H5Writer::Impl {
  Image image;
  std::unique_lock<std::recursive_mutex> lock = lock_library();
  Id file;

  // Building in memory fails for want of memory, or for a name used twice.
  static void require(bool good, const std::string& name) {
    if (!good) fail("cannot build the HDF5 object '{}' in memory: {}", name, cause());
  }
  void make_groups_above(const std::string& name) const;
  Id make_dataset(const std::string& name, hid_t type, std::size_t rows, int components) const;
  void set_attribute(const std::string& object, const std::string& name, hid_t stored, hid_t given,
                     hid_t space, const void* value) const;
};

void H5Writer::Impl::make_groups_above(const std::string& name) const {
  for (std::size_t at = name.find('/', 1); at != std::string::npos; at = name.find('/', at + 1)) {
    const std::string group = name.substr(0, at);
    if (H5Lexists(file, group.c_str(), H5P_DEFAULT) > 0) continue;
    const Id creation = group_creation(H5P_GROUP_CREATE);
    const Id made(H5Gcreate2(file, group.c_str(), H5P_DEFAULT, creation, H5P_DEFAULT), H5Gclose);
    require(made.ok(), group);
  }
}

Id H5Writer::Impl::make_dataset(const std::string& name, hid_t type, std::size_t rows,
                                int components) const {
  make_groups_above(name);
  const Id space = space_of(rows, components);
  const Id creation = dataset_creation(rows, components);
  Id dataset(H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT),
             H5Dclose);
  require(dataset.ok(), name);
  return dataset;
}

void H5Writer::Impl::set_attribute(const std::string& object, const std::string& name, hid_t stored,
                                   hid_t given, hid_t space, const void* value) const {
  const Id on(H5Oopen(file, object.c_str(), H5P_DEFAULT), H5Oclose);
  require(on.ok(), object);
  const Id attribute(H5Acreate2(on, name.c_str(), stored, space, H5P_DEFAULT, H5P_DEFAULT),
                     H5Aclose);
  require(attribute.ok(), name);
  require(!value || H5Awrite(attribute, given, value) >= 0, name);
}

H5Writer::H5Writer(std::size_t expected_bytes) : impl_(std::make_unique<Impl>()) {
  // HDF5 looks for an old file of that name first: this one cannot exist. Each is another one, or
  // HDF5 takes two files in memory for the same.
  static std::atomic<std::uint64_t> made{0};
  const std::string name = fmt::format("/dev/null/{}", made++);
  const Id access = memory_access(impl_->image, expected_bytes);
  const Id creation = group_creation(H5P_FILE_CREATE);
  impl_->file = {H5Fcreate(name.c_str(), H5F_ACC_TRUNC, creation, access), H5Fclose};
  Impl::require(impl_->file.ok(), "/");
}

H5Writer::~H5Writer() = default;

// Whole chunks with their checksums go past HDF5's filters and chunk cache: its Fletcher32 takes a
// word at a time, and the cache copies once more. Readers see no difference.
void H5Writer::rows(const std::string& name, const H5Shape& shape, const FillRows& fill) {
  const Id dataset =
      impl_->make_dataset(name, number_type(shape.type).in_file, shape.rows, shape.components);
  const std::size_t block = chunk_rows(shape.rows);
  const std::size_t row_bytes = size_of(shape.type) * static_cast<std::size_t>(shape.components);
  const std::size_t bytes = block * row_bytes;
  const auto chunk = std::make_unique_for_overwrite<std::byte[]>(bytes + sizeof(std::uint32_t));
  for (std::size_t first = 0; first < shape.rows; first += block) {
    const std::size_t count = std::min(block, shape.rows - first);
    fill(first, count, chunk.get());
    std::memset(chunk.get() + count * row_bytes, 0, (block - count) * row_bytes);
    const std::uint32_t check = fletcher32(chunk.get(), bytes);
    std::memcpy(chunk.get() + bytes, &check, sizeof(check));
    const std::array<hsize_t, 2> offset = {first, 0};
    Impl::require(H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, offset.data(), bytes + sizeof(check),
                                 chunk.get()) >= 0,
                  name);
  }
}

void H5Writer::column(const std::string& name, const HostColumn& column) {
  const ColumnSpec& spec = column.spec;
  rows(name, {spec.type, column.size, spec.components},
       [&](std::size_t first, std::size_t count, std::byte* to) {
         with_type(spec.type, [&](auto* tag) {
           interleave_as(column, first, count, reinterpret_cast<decltype(tag)>(to));
         });
       });
}

void H5Writer::raw(const std::string& name, const H5Shape& shape, const void* values) {
  const std::size_t row_bytes = size_of(shape.type) * static_cast<std::size_t>(shape.components);
  rows(name, shape, [&](std::size_t first, std::size_t count, std::byte* to) {
    std::memcpy(to, static_cast<const std::byte*>(values) + first * row_bytes, count * row_bytes);
  });
}

void H5Writer::texts(const std::string& name, const std::vector<std::string>& values) {
  const PackedTexts packed = pack(values);
  const Id type = text_type(packed.length);
  const Id dataset = impl_->make_dataset(name, type, values.size(), 1);
  if (values.empty()) return;
  Impl::require(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, packed.bytes.data()) >= 0,
                name);
}

void H5Writer::set_number(const std::string& object, const std::string& name, double value) {
  const Id one(H5Screate(H5S_SCALAR), H5Sclose);
  impl_->set_attribute(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, one, &value);
}

void H5Writer::set_integer(const std::string& object, const std::string& name, std::int64_t value) {
  const Id one(H5Screate(H5S_SCALAR), H5Sclose);
  impl_->set_attribute(object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, one, &value);
}

void H5Writer::set_count(const std::string& object, const std::string& name, std::uint64_t value) {
  const Id one(H5Screate(H5S_SCALAR), H5Sclose);
  impl_->set_attribute(object, name, H5T_STD_U64LE, H5T_NATIVE_UINT64, one, &value);
}

void H5Writer::set_text(const std::string& object, const std::string& name,
                        const std::string& value) {
  const Id one(H5Screate(H5S_SCALAR), H5Sclose);
  const PackedTexts packed = pack({value});
  const Id type = text_type(packed.length);
  impl_->set_attribute(object, name, type, type, one, packed.bytes.data());
}

void H5Writer::set_texts(const std::string& object, const std::string& name,
                         const std::vector<std::string>& values) {
  const PackedTexts packed = pack(values);
  const Id type = text_type(packed.length);
  const Id space = space_of(values.size(), 1);
  impl_->set_attribute(object, name, type, type, space,
                       values.empty() ? nullptr : packed.bytes.data());
}

void H5Writer::save(const fs::path& path) {
  Impl::require(impl_->file.close(), "/");
  impl_->lock.unlock();
  Image& image = impl_->image;

  // Space that HDF5 gave out at the end but never wrote to is part of the file, too.
  const std::size_t size = image.size();
  if (size < 48) fail("cannot build {}: HDF5 left no file in memory", path.string());
  if (size > image.capacity) {
    const std::size_t had = image.capacity;
    if (!resize(image, size)) {
      throw std::bad_alloc();
    }
    std::memset(image.data + had, 0, size - had);
  }
  write_file_atomic(path, image.data, size);
}

void mark_kind(H5Writer& file, const std::string& kind) {
  file.set_text("/", "generator", "barchan");
  file.set_text("/", "kind", kind);
  file.set_integer("/", "format", kCacheFormat);
}

}  // namespace barchan
