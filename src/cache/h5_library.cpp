#include "cache/h5_library.h"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <type_traits>

namespace barchan::h5 {

static_assert(std::is_same_v<hid_t, Handle> && std::is_same_v<herr_t, int>);

namespace {

// Recursive, as one thread may well have a reader and a writer open.
std::recursive_mutex& library_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

}  // namespace

std::unique_lock<std::recursive_mutex> lock_library() {
  std::unique_lock lock(library_mutex());
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // our messages, not HDF5's pages of them
  return lock;
}

std::string cause() {
  std::string text;
  const H5E_walk2_t keep_first = [](unsigned n, const H5E_error2_t* error, void* to) -> herr_t {
    if (n == 0 && error->desc) *static_cast<std::string*>(to) = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &text);
  return text.empty() ? "unknown cause" : text;
}

NumberType number_type(Type type) {
  switch (type) {
    case Type::f32:
      return {H5T_IEEE_F32LE, H5T_NATIVE_FLOAT};
    case Type::f64:
      return {H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE};
    case Type::u8:
      return {H5T_STD_U8LE, H5T_NATIVE_UINT8};
    case Type::u32:
      return {H5T_STD_U32LE, H5T_NATIVE_UINT32};
    case Type::u64:
      return {H5T_STD_U64LE, H5T_NATIVE_UINT64};
  }
  return {};
}

Id space_of(std::size_t rows, int components) {
  const std::array<hsize_t, 2> size = {rows, static_cast<hsize_t>(components)};
  return {H5Screate_simple(components == 1 ? 1 : 2, size.data(), nullptr), H5Sclose};
}

Id text_type(std::size_t length) {
  Id type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, std::max<std::size_t>(length, 1));
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

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

}  // namespace barchan::h5
