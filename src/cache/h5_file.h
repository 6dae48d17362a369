// HDF5 behind a small door. Files are built in memory and written in one go, so that a full disk
// can neither leave half a file nor upset HDF5; they are read with every fault turned into one
// barchan::Error that names the file, the dataset and what to do.
//
// HDF5 is not safe to use from two threads: each object here holds one process-wide lock from
// its construction to its end. Use an object from the thread that made it, and let go of it soon.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "barchan/error.h"
#include "sim/columns.h"

namespace barchan {

// The file was written by a program with another cache format: not damaged, just not for us.
class OtherFormatError : public Error {
 public:
  using Error::Error;
};

// Datasets are (rows) where components is 1, else (rows, components).
struct H5Shape {
  Type type = Type::f32;
  std::size_t rows = 0;
  int components = 1;
  friend bool operator==(const H5Shape&, const H5Shape&) = default;
};

// The bytes of a file depend on what is put in and in which order, on nothing else. Names may have
// slashes: the groups are made as needed. "/" is the file itself where an object is asked for.
class H5Writer {
 public:
  // Puts `count` rows, the first of them number `first`, interleaved at `to`.
  using FillRows = std::function<void(std::size_t first, std::size_t count, std::byte* to)>;

  // A guess of the file's size saves memory traffic; it need not be right.
  explicit H5Writer(std::size_t expected_bytes = 0);
  ~H5Writer();
  H5Writer(const H5Writer&) = delete;
  H5Writer& operator=(const H5Writer&) = delete;

  // Datasets, checksummed. fill is called block after block, so that nobody needs a second copy.
  void rows(const std::string& name, const H5Shape& shape, const FillRows& fill);
  void column(const std::string& name, const HostColumn& column);
  template <class T>
  void numbers(const std::string& name, std::span<const T> values, int components = 1) {
    raw(name, {type_of<T>(), values.size() / static_cast<std::size_t>(components), components},
        values.data());
  }
  void texts(const std::string& name, const std::vector<std::string>& values);

  // Attributes.
  void set_number(const std::string& object, const std::string& name, double value);
  void set_integer(const std::string& object, const std::string& name, std::int64_t value);
  void set_count(const std::string& object, const std::string& name, std::uint64_t value);
  void set_text(const std::string& object, const std::string& name, const std::string& value);
  void set_texts(const std::string& object, const std::string& name,
                 const std::vector<std::string>& values);

  // Ends the file and puts it at path, whole or not at all. Nothing can be added afterwards. The
  // lock is let go before the disk is touched.
  void save(const std::filesystem::path& path);

 private:
  void raw(const std::string& name, const H5Shape& shape, const void* values);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class H5Reader {
 public:
  explicit H5Reader(const std::filesystem::path& path);
  ~H5Reader();
  H5Reader(const H5Reader&) = delete;
  H5Reader& operator=(const H5Reader&) = delete;

  const std::filesystem::path& path() const;
  std::uint64_t bytes() const;  // of the file

  bool has(const std::string& name) const;
  bool is_group(const std::string& name) const;
  // What a group holds, in the order it was put in. "/" is the file.
  std::vector<std::string> children(const std::string& group) const;

  // A dataset's type and size. Refuses sizes that the file cannot hold, so that a caller may
  // allocate what this says.
  H5Shape shape(const std::string& name) const;
  // The rows, interleaved; refused unless the dataset is as expected.
  void read(const std::string& name, const H5Shape& expected, void* to) const;
  // All of a dataset of T with so many components; any number of rows.
  template <class T>
  std::vector<T> numbers(const std::string& name, int components = 1) const {
    const H5Shape found = shape_of(name, type_of<T>(), components);
    std::vector<T> values(found.rows * static_cast<std::size_t>(components));
    read(name, found, values.data());
    return values;
  }
  HostColumn column(const std::string& name) const;
  std::vector<std::string> texts(const std::string& name) const;

  double number(const std::string& object, const std::string& name) const;
  std::int64_t integer(const std::string& object, const std::string& name) const;
  std::uint64_t count(const std::string& object, const std::string& name) const;
  std::string text(const std::string& object, const std::string& name) const;
  std::vector<std::string> text_list(const std::string& object, const std::string& name) const;

  // Reads every dataset and throws at the first that does not match its checksum.
  void verify() const;
  // Throws unless the file says it is Barchan's, of the kind named and of this cache format.
  void require_kind(const std::string& kind) const;

  // The one message about a damaged file.
  [[noreturn]] void broken(const std::string& object, const std::string& why) const;

 private:
  // shape(), refused unless of this type and with so many components.
  H5Shape shape_of(const std::string& name, Type type, int components) const;
  void verify_group(const std::string& group) const;

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Attributes that say whose file this is: generator, kind, format.
void mark_kind(H5Writer& file, const std::string& kind);

const char* name_of(Type type);  // "f32"

}  // namespace barchan
