#include "cache/h5_file.h"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>

#include "barchan/version.h"
#include "base/atomic_file.h"
#include "base/error.h"

namespace barchan {

namespace fs = std::filesystem;

namespace {

// About 64 Ki rows a chunk: large enough to stream, small enough for the processor's cache.
constexpr std::size_t kChunkRows = std::size_t{1} << 16;

// Recursive, as one thread may well have a reader and a writer open.
std::recursive_mutex& library_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

std::unique_lock<std::recursive_mutex> lock_library() {
  std::unique_lock lock(library_mutex());
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // our messages, not HDF5's pages of them
  return lock;
}

// An HDF5 handle that closes itself.
class Id {
 public:
  Id() = default;
  Id(hid_t id, herr_t (*closer)(hid_t)) : id_(id), close_(closer) {}
  Id(Id&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Id& operator=(Id&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Id() { close(); }
  bool close() {
    const hid_t id = std::exchange(id_, -1);
    return id < 0 || close_(id) >= 0;
  }
  bool ok() const { return id_ >= 0; }
  operator hid_t() const { return id_; }

 private:
  hid_t id_ = -1;
  herr_t (*close_)(hid_t) = nullptr;
};

// The first cause on HDF5's error stack, in its own words.
std::string cause() {
  std::string text;
  const H5E_walk2_t keep_first = [](unsigned n, const H5E_error2_t* error, void* to) -> herr_t {
    if (n == 0 && error->desc) *static_cast<std::string*>(to) = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &text);
  return text.empty() ? "unknown cause" : text;
}

hid_t file_type(Type type) {
  switch (type) {
    case Type::f32:
      return H5T_IEEE_F32LE;
    case Type::f64:
      return H5T_IEEE_F64LE;
    case Type::u8:
      return H5T_STD_U8LE;
    case Type::u32:
      return H5T_STD_U32LE;
    case Type::u64:
      return H5T_STD_U64LE;
  }
  return -1;
}

hid_t memory_type(Type type) {
  switch (type) {
    case Type::f32:
      return H5T_NATIVE_FLOAT;
    case Type::f64:
      return H5T_NATIVE_DOUBLE;
    case Type::u8:
      return H5T_NATIVE_UINT8;
    case Type::u32:
      return H5T_NATIVE_UINT32;
    case Type::u64:
      return H5T_NATIVE_UINT64;
  }
  return -1;
}

Id space_of(std::size_t rows, int components) {
  const std::array<hsize_t, 2> size = {rows, static_cast<hsize_t>(components)};
  return {H5Screate_simple(components == 1 ? 1 : 2, size.data(), nullptr), H5Sclose};
}

// Strings of one length, filled up with zeros: unlike variable ones they lie in checksummed places.
Id text_type(std::size_t length) {
  Id type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, std::max<std::size_t>(length, 1));
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

struct PackedTexts {
  std::size_t length = 1;
  std::string bytes;
};

PackedTexts pack(const std::vector<std::string>& values) {
  PackedTexts packed;
  for (const std::string& value : values) packed.length = std::max(packed.length, value.size());
  packed.bytes.resize(packed.length * values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i].copy(packed.bytes.data() + i * packed.length, values[i].size());
  }
  return packed;
}

std::vector<std::string> unpack(const std::string& bytes, std::size_t length) {
  std::vector<std::string> values(bytes.size() / length);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string all = bytes.substr(i * length, length);
    values[i] = all.substr(0, all.find_last_not_of('\0') + 1);
  }
  return values;
}

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

template <class T>
void separate_as(const T* from, std::size_t first, std::size_t count, HostColumn& column) {
  const auto step = static_cast<std::size_t>(column.spec.components);
  for (std::size_t c = 0; c < step; ++c) {
    T* to = column.component<T>(static_cast<int>(c)) + first;
    for (std::size_t i = 0; i < count; ++i) to[i] = from[i * step + c];
  }
}

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

// The memory of a file being built. HDF5's core driver asks us for it and "frees" it when the file
// is closed: then the file is complete, its flags say it is closed, and we keep the memory. (Taking
// it from an open file would leave the mark of a writer in the superblock, which readers refuse.)
struct Image {
  std::byte* data = nullptr;
  std::size_t capacity = 0;  // as HDF5 knows it
  std::size_t reserved =
      0;  // what there really is: all of it from the start, or growing would copy
  std::size_t expected = 0;

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

// Aligned to pages, so that write_file_atomic can hand it to the disk as it is.
void* image_resize(void*, std::size_t size, H5FD_file_image_op_t, void* image) {
  constexpr std::size_t kPage = 4096;
  auto& kept = *static_cast<Image*>(image);
  if (size > kept.reserved) {
    const std::size_t wanted = (std::max(size, kept.expected) + kPage - 1) / kPage * kPage;
    void* made = std::aligned_alloc(kPage, wanted);
    if (!made) return nullptr;
    if (kept.data) std::memcpy(made, kept.data, kept.capacity);
    std::free(kept.data);
    kept.data = static_cast<std::byte*>(made);
    kept.reserved = wanted;
  }
  kept.capacity = size;
  return kept.data;
}
herr_t image_keep(void*, H5FD_file_image_op_t, void*) {
  return 0;
}
void* image_share(void* image) {
  return image;
}
herr_t image_unshare(void*) {
  return 0;
}

// In memory; the newest format of HDF5 1.10, whose every index has a checksum.
Id memory_access(Image& image, std::size_t expected_bytes) {
  Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5FD_file_image_callbacks_t calls{};
  calls.image_realloc = image_resize;
  calls.image_free = image_keep;
  calls.udata_copy = image_share;
  calls.udata_free = image_unshare;
  calls.udata = &image;
  H5Pset_file_image_callbacks(access, &calls);
  image.expected = expected_bytes + expected_bytes / 64 + (std::size_t{1} << 16);
  const std::size_t increment =
      std::clamp(expected_bytes / 8, std::size_t{1} << 16, std::size_t{1} << 26);
  H5Pset_fapl_core(access, increment, false);
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  return access;
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

// Selects rows first .. first + count of a file's dataspace.
void select_rows(hid_t space, std::size_t first, std::size_t count, int components) {
  const std::array<hsize_t, 2> start = {first, 0};
  const std::array<hsize_t, 2> size = {count, static_cast<hsize_t>(components)};
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr);
}

}  // namespace

const char* name_of(Type type) {
  switch (type) {
    case Type::f32:
      return "f32";
    case Type::f64:
      return "f64";
    case Type::u8:
      return "u8";
    case Type::u32:
      return "u32";
    case Type::u64:
      return "u64";
  }
  return "?";
}

// ---- Writing

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
  const Id dataset = impl_->make_dataset(name, file_type(shape.type), shape.rows, shape.components);
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
    if (!image_resize(image.data, size, H5FD_FILE_IMAGE_OP_FILE_RESIZE, &image)) {
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

// ---- Reading

struct H5Reader::Impl {
  fs::path path;
  std::uint64_t bytes = 0;
  std::unique_lock<std::recursive_mutex> lock = lock_library();
  Id file;
};

namespace {

// Says what HDF5 would only hint at, before it is asked.
std::uint64_t size_of_h5(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) fail("cannot read {}: there is no such file", path.string());
  if (!fs::is_regular_file(path, error)) fail("cannot read {}: it is not a file", path.string());
  const std::uint64_t bytes = fs::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file) fail("cannot read {}: not allowed to open it", path.string());
  std::array<char, 8> start{};
  file.read(start.data(), start.size());
  if (!file || std::memcmp(start.data(), "\x89HDF\r\n\x1a\n", 8) != 0) {
    fail(
        "cannot read {}: it is not an HDF5 file; give the folder of a run, or make it again with "
        "barchan run",
        path.string());
  }
  return bytes;
}

}  // namespace

H5Reader::H5Reader(const fs::path& path) : impl_(std::make_unique<Impl>()) {
  impl_->path = path;
  impl_->bytes = size_of_h5(path);
  const Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  // Files never change once they are there; locks only fail, on file systems that have none.
  H5Pset_file_locking(access, false, true);
  impl_->file = {H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), H5Fclose};
  if (!impl_->file.ok()) broken("/", fmt::format("cannot be opened ({})", cause()));
}

H5Reader::~H5Reader() = default;

const fs::path& H5Reader::path() const {
  return impl_->path;
}
std::uint64_t H5Reader::bytes() const {
  return impl_->bytes;
}

void H5Reader::broken(const std::string& object, const std::string& why) const {
  fail(
      "cannot read {}: {} {}; the file is cut short, damaged or not Barchan's: copy it again, or "
      "make it again with barchan run",
      impl_->path.string(), object == "/" ? "it" : "'" + object + "'", why);
}

void H5Reader::require_kind(const std::string& kind) const {
  if (text("/", "generator") != "barchan" || text("/", "kind") != kind) {
    broken("/", "is not a Barchan " + kind);
  }
  const std::int64_t format = integer("/", "format");
  if (format != kCacheFormat) {
    throw OtherFormatError(
        Fault::failed, fmt::format("cannot read {}: it has cache format {} and this program reads "
                                   "{}; use the version that wrote it, or run the scene again",
                                   impl_->path.string(), format, kCacheFormat));
  }
}

bool H5Reader::has(const std::string& name) const {
  // HDF5 wants every group on the way to be there.
  for (std::size_t at = name.find('/', 1); at != std::string::npos; at = name.find('/', at + 1)) {
    if (H5Lexists(impl_->file, name.substr(0, at).c_str(), H5P_DEFAULT) <= 0) return false;
  }
  return H5Lexists(impl_->file, name.c_str(), H5P_DEFAULT) > 0;
}

bool H5Reader::is_group(const std::string& name) const {
  const Id object(H5Oopen(impl_->file, name.c_str(), H5P_DEFAULT), H5Oclose);
  if (!object.ok()) broken(name, fmt::format("cannot be opened ({})", cause()));
  return H5Iget_type(object) == H5I_GROUP;
}

std::vector<std::string> H5Reader::children(const std::string& group) const {
  const Id opened(H5Gopen2(impl_->file, group.c_str(), H5P_DEFAULT), H5Gclose);
  H5G_info_t info{};
  if (!opened.ok() || H5Gget_info(opened, &info) < 0) broken(group, "is not a group");
  std::vector<std::string> names;
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    std::string name(256, '\0');
    const ssize_t length = H5Lget_name_by_idx(opened, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, i,
                                              name.data(), name.size(), H5P_DEFAULT);
    if (length <= 0 || static_cast<std::size_t>(length) >= name.size()) {
      broken(group, "has a member without a readable name");
    }
    name.resize(static_cast<std::size_t>(length));
    names.push_back(std::move(name));
  }
  return names;
}

namespace {

Id open_dataset(const H5Reader& reader, hid_t file, const std::string& name) {
  Id dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset.ok()) reader.broken(name, "is missing or is no dataset");
  return dataset;
}

// Rows and columns of a dataset; refuses more than two dimensions.
std::array<hsize_t, 2> extent_of(const H5Reader& reader, hid_t dataset, const std::string& name) {
  const Id space(H5Dget_space(dataset), H5Sclose);
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank != 1 && rank != 2) reader.broken(name, fmt::format("has {} dimensions", rank));
  std::array<hsize_t, 2> size = {0, 1};
  H5Sget_simple_extent_dims(space, size.data(), nullptr);
  return size;
}

// Nothing is compressed, so whatever is larger than the file is a lie; so are chunks that were
// never written, which HDF5 would read as zeros.
void require_room(const H5Reader& reader, hid_t dataset, const std::string& name,
                  const std::array<hsize_t, 2>& size, std::size_t element) {
  if (size[0] == 0 || size[1] == 0) return;
  const std::uint64_t limit = reader.bytes() / element;
  if (size[0] > limit || size[1] > limit / size[0]) {
    reader.broken(
        name, fmt::format("says it has {} x {} values, more than the file's {} bytes hold", size[0],
                          size[1], reader.bytes()));
  }
  if (H5Dget_storage_size(dataset) < size[0] * size[1] * element) {
    reader.broken(name, "is not all there");
  }
  const Id creation(H5Dget_create_plist(dataset), H5Pclose);
  std::array<hsize_t, 2> chunk = {1, 1};
  if (H5Pget_layout(creation) != H5D_CHUNKED) return;
  if (H5Pget_chunk(creation, 2, chunk.data()) < 0 || chunk[0] > limit ||
      chunk[1] > limit / chunk[0]) {
    reader.broken(name, "has chunks larger than the file");
  }
}

Type type_in_file(const H5Reader& reader, hid_t dataset, const std::string& name) {
  const Id type(H5Dget_type(dataset), H5Tclose);
  for (const Type candidate : {Type::f32, Type::f64, Type::u8, Type::u32, Type::u64}) {
    if (H5Tequal(type, file_type(candidate)) > 0) return candidate;
  }
  reader.broken(name, "holds numbers of a type Barchan does not write");
}

// Rows first .. first + count.
void read_block(const H5Reader& reader, hid_t dataset, const std::string& name,
                const H5Shape& shape, std::size_t first, std::size_t count, void* to) {
  const Id memory_space = space_of(count, shape.components);
  const Id file_space(H5Dget_space(dataset), H5Sclose);
  select_rows(file_space, first, count, shape.components);
  if (H5Dread(dataset, memory_type(shape.type), memory_space, file_space, H5P_DEFAULT, to) < 0) {
    reader.broken(name, fmt::format("cannot be read ({})", cause()));
  }
}

// Calls use(first, count, rows) chunk after chunk.
template <class Use>
void for_each_block(const H5Reader& reader, hid_t dataset, const std::string& name,
                    const H5Shape& shape, const Use& use) {
  std::size_t block = std::min(shape.rows, kChunkRows);
  const Id creation(H5Dget_create_plist(dataset), H5Pclose);
  std::array<hsize_t, 2> chunk = {1, 1};
  if (H5Pget_layout(creation) == H5D_CHUNKED && H5Pget_chunk(creation, 2, chunk.data()) > 0) {
    block = std::min<std::size_t>(chunk[0], shape.rows);
  }
  const std::size_t row_bytes = size_of(shape.type) * static_cast<std::size_t>(shape.components);
  const auto scratch = std::make_unique_for_overwrite<std::byte[]>(block * row_bytes);
  for (std::size_t first = 0; first < shape.rows; first += block) {
    const std::size_t count = std::min(block, shape.rows - first);
    read_block(reader, dataset, name, shape, first, count, scratch.get());
    use(first, count, scratch.get());
  }
}

H5Shape shape_in_file(const H5Reader& reader, hid_t dataset, const std::string& name) {
  const std::array<hsize_t, 2> size = extent_of(reader, dataset, name);
  const Type type = type_in_file(reader, dataset, name);
  if (size[1] == 0 || size[1] > 4096) {
    reader.broken(name, fmt::format("has {} columns", size[1]));
  }
  require_room(reader, dataset, name, size, size_of(type));
  return {type, static_cast<std::size_t>(size[0]), static_cast<int>(size[1])};
}

}  // namespace

H5Shape H5Reader::shape(const std::string& name) const {
  return shape_in_file(*this, open_dataset(*this, impl_->file, name), name);
}

H5Shape H5Reader::shape_of(const std::string& name, Type type, int components) const {
  const H5Shape found = shape(name);
  if (found.type != type || found.components != components) {
    broken(name, fmt::format("is {} x {}, not {} x {}", name_of(found.type), found.components,
                             name_of(type), components));
  }
  return found;
}

void H5Reader::read(const std::string& name, const H5Shape& expected, void* to) const {
  const Id dataset = open_dataset(*this, impl_->file, name);
  const H5Shape found = shape_in_file(*this, dataset, name);
  if (found != expected) {
    broken(name, fmt::format("is {} of {} x {}, not {} of {} x {}", name_of(found.type), found.rows,
                             found.components, name_of(expected.type), expected.rows,
                             expected.components));
  }
  if (found.rows > 0) read_block(*this, dataset, name, found, 0, found.rows, to);
}

HostColumn H5Reader::column(const std::string& name) const {
  const Id dataset = open_dataset(*this, impl_->file, name);
  const H5Shape found = shape_in_file(*this, dataset, name);
  HostColumn column = make_host_column({name, found.type, found.components, false}, found.rows);
  for_each_block(*this, dataset, name, found,
                 [&](std::size_t first, std::size_t count, const std::byte* rows) {
                   with_type(found.type, [&](auto* tag) {
                     using Number = std::remove_pointer_t<decltype(tag)>;
                     separate_as(reinterpret_cast<const Number*>(rows), first, count, column);
                   });
                 });
  return column;
}

std::vector<std::string> H5Reader::texts(const std::string& name) const {
  const Id dataset = open_dataset(*this, impl_->file, name);
  const std::array<hsize_t, 2> size = extent_of(*this, dataset, name);
  const Id type(H5Dget_type(dataset), H5Tclose);
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) > 0 || size[1] != 1) {
    broken(name, "is not a list of texts");
  }
  const std::size_t length = H5Tget_size(type);
  require_room(*this, dataset, name, size, length);
  std::string bytes(size[0] * length, '\0');
  const Id memory = text_type(length);
  if (size[0] > 0 && H5Dread(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) < 0) {
    broken(name, fmt::format("cannot be read ({})", cause()));
  }
  return unpack(bytes, length);
}

namespace {

// An attribute of one value (rank 0) or a list (rank 1), of the class wanted.
Id open_attribute(const H5Reader& reader, hid_t file, const std::string& object,
                  const std::string& name, H5T_class_t wanted, int rank) {
  Id attribute(H5Aopen_by_name(file, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT),
               H5Aclose);
  if (!attribute.ok()) reader.broken(object, "has no attribute '" + name + "'");
  const Id type(H5Aget_type(attribute), H5Tclose);
  const Id space(H5Aget_space(attribute), H5Sclose);
  if (H5Tget_class(type) != wanted || H5Sget_simple_extent_ndims(space) != rank ||
      (wanted == H5T_STRING && H5Tis_variable_str(type) > 0)) {
    reader.broken(object, "has an attribute '" + name + "' of the wrong type");
  }
  return attribute;
}

void read_attribute(const H5Reader& reader, hid_t attribute, hid_t type, const std::string& object,
                    const std::string& name, void* to) {
  if (H5Aread(attribute, type, to) < 0) {
    reader.broken(object, fmt::format("has an unreadable attribute '{}' ({})", name, cause()));
  }
}

}  // namespace

double H5Reader::number(const std::string& object, const std::string& name) const {
  const Id attribute = open_attribute(*this, impl_->file, object, name, H5T_FLOAT, 0);
  double value = 0.0;
  read_attribute(*this, attribute, H5T_NATIVE_DOUBLE, object, name, &value);
  return value;
}

std::int64_t H5Reader::integer(const std::string& object, const std::string& name) const {
  const Id attribute = open_attribute(*this, impl_->file, object, name, H5T_INTEGER, 0);
  std::int64_t value = 0;
  read_attribute(*this, attribute, H5T_NATIVE_INT64, object, name, &value);
  return value;
}

std::uint64_t H5Reader::count(const std::string& object, const std::string& name) const {
  const Id attribute = open_attribute(*this, impl_->file, object, name, H5T_INTEGER, 0);
  std::uint64_t value = 0;
  read_attribute(*this, attribute, H5T_NATIVE_UINT64, object, name, &value);
  return value;
}

std::string H5Reader::text(const std::string& object, const std::string& name) const {
  const Id attribute = open_attribute(*this, impl_->file, object, name, H5T_STRING, 0);
  const Id type(H5Aget_type(attribute), H5Tclose);
  const std::size_t length = H5Tget_size(type);
  if (length > bytes()) broken(object, "has an attribute '" + name + "' larger than the file");
  std::string value(length, '\0');
  read_attribute(*this, attribute, text_type(length), object, name, value.data());
  return unpack(value, length).front();
}

std::vector<std::string> H5Reader::text_list(const std::string& object,
                                             const std::string& name) const {
  const Id attribute = open_attribute(*this, impl_->file, object, name, H5T_STRING, 1);
  const Id type(H5Aget_type(attribute), H5Tclose);
  const Id space(H5Aget_space(attribute), H5Sclose);
  hsize_t values = 0;
  H5Sget_simple_extent_dims(space, &values, nullptr);
  const std::size_t length = H5Tget_size(type);
  if (length == 0 || values > bytes() / length) {
    broken(object, "has an attribute '" + name + "' larger than the file");
  }
  std::string all(values * length, '\0');
  if (values > 0) read_attribute(*this, attribute, text_type(length), object, name, all.data());
  return unpack(all, length);
}

void H5Reader::verify() const {
  verify_group("/");
}

void H5Reader::verify_group(const std::string& group) const {
  // Ours are two deep; a damaged file may have a group inside itself.
  if (std::count(group.begin(), group.end(), '/') > 8) broken(group, "is nested too deeply");
  for (const std::string& child : children(group)) {
    const std::string name = group == "/" ? child : group + "/" + child;
    if (is_group(name)) {
      verify_group(name);
      continue;
    }
    const Id dataset = open_dataset(*this, impl_->file, name);
    const Id type(H5Dget_type(dataset), H5Tclose);
    if (H5Tget_class(type) == H5T_STRING) {
      texts(name);
    } else {
      for_each_block(*this, dataset, name, shape_in_file(*this, dataset, name),
                     [](std::size_t, std::size_t, const std::byte*) {});
    }
  }
}

}  // namespace barchan
