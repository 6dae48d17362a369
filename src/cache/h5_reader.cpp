#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <memory>
#include <type_traits>

#include "barchan/version.h"
#include "base/error.h"
#include "cache/h5_file.h"
#include "cache/h5_library.h"

namespace barchan {

namespace fs = std::filesystem;
using h5::cause;
using h5::Id;
using h5::kChunkRows;
using h5::lock_library;
using h5::number_type;
using h5::space_of;
using h5::text_type;
using h5::unpack;
using h5::with_type;

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

template <class T>
void separate_as(const T* from, std::size_t first, std::size_t count, HostColumn& column) {
  const auto step = static_cast<std::size_t>(column.spec.components);
  for (std::size_t c = 0; c < step; ++c) {
    T* to = column.component<T>(static_cast<int>(c)) + first;
    for (std::size_t i = 0; i < count; ++i) to[i] = from[i * step + c];
  }
}

// Selects rows first .. first + count of a file's dataspace.
void select_rows(hid_t space, std::size_t first, std::size_t count, int components) {
  const std::array<hsize_t, 2> start = {first, 0};
  const std::array<hsize_t, 2> size = {count, static_cast<hsize_t>(components)};
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr);
}

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
    if (H5Tequal(type, number_type(candidate).in_file) > 0) return candidate;
  }
  reader.broken(name, "holds numbers of a type Barchan does not write");
}

// Rows first .. first + count.
void read_block(const H5Reader& reader, hid_t dataset, const std::string& name,
                const H5Shape& shape, std::size_t first, std::size_t count, void* to) {
  const Id memory_space = space_of(count, shape.components);
  const Id file_space(H5Dget_space(dataset), H5Sclose);
  select_rows(file_space, first, count, shape.components);
  if (H5Dread(dataset, number_type(shape.type).in_memory, memory_space, file_space, H5P_DEFAULT,
              to) < 0) {
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
