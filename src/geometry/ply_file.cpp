// PLY: a header in text that declares elements (vertex, face, others) and their properties, then
// the elements' values, in text or binary of either byte order. Unknown elements and properties are
// passed over. The values are read by one routine over two sources, text and binary.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "geometry/mesh_parse.h"

namespace barchan::mesh_parse {

namespace {

// ---- header

enum class Type { i8, u8, i16, u16, i32, u32, f32, f64 };

struct TypeName {
  std::string_view name;
  Type type;
};
constexpr std::array<TypeName, 16> kTypeNames = {{{"char", Type::i8},
                                                  {"int8", Type::i8},
                                                  {"uchar", Type::u8},
                                                  {"uint8", Type::u8},
                                                  {"short", Type::i16},
                                                  {"int16", Type::i16},
                                                  {"ushort", Type::u16},
                                                  {"uint16", Type::u16},
                                                  {"int", Type::i32},
                                                  {"int32", Type::i32},
                                                  {"uint", Type::u32},
                                                  {"uint32", Type::u32},
                                                  {"float", Type::f32},
                                                  {"float32", Type::f32},
                                                  {"double", Type::f64},
                                                  {"float64", Type::f64}}};

bool is_whole(Type type) {
  return type != Type::f32 && type != Type::f64;
}

std::size_t size_of(Type type) {
  constexpr std::array<std::size_t, 8> kSizes = {1, 1, 2, 2, 4, 4, 4, 8};
  return kSizes[static_cast<std::size_t>(type)];
}

struct Property {
  std::string name, label;  // the label is the name, fit for a message
  bool is_list = false;
  Type count_type = Type::u8;  // of a list's length
  Type type = Type::f32;
};

struct Element {
  std::string name;
  std::uint64_t count = 0;
  std::size_t line = 0;  // where the header declares it
  std::vector<Property> properties;

  // The place of the property among the others, or -1.
  int find(std::string_view wanted) const {
    for (std::size_t i = 0; i < properties.size(); ++i) {
      if (properties[i].name == wanted) return static_cast<int>(i);
    }
    return -1;
  }
};

enum class Encoding { text, little_endian, big_endian };

struct Header {
  Encoding encoding = Encoding::text;
  std::vector<Element> elements;

  const Element* find(std::string_view name) const {
    for (const Element& element : elements) {
      if (element.name == name) return &element;
    }
    return nullptr;
  }
};

Encoding read_encoding(TextCursor& text) {
  const std::string_view word = text.word();
  const std::string_view version = text.word();
  if (version != "1.0") text.bad("PLY version {} is not known; expected 1.0", quoted(version));
  if (word == "ascii") return Encoding::text;
  if (word == "binary_little_endian") return Encoding::little_endian;
  if (word == "binary_big_endian") return Encoding::big_endian;
  text.bad("format {} is not known; expected ascii, binary_little_endian or binary_big_endian",
           quoted(word));
}

Type read_type(TextCursor& text) {
  const std::string_view word = text.word();
  for (const TypeName& known : kTypeNames) {
    if (known.name == word) return known.type;
  }
  text.bad("type {} is not known; expected char, uchar, short, ushort, int, uint, float or double",
           quoted(word));
}

Element read_element(TextCursor& text) {
  Element element;
  element.name = text.word();
  element.line = text.line();
  const std::int64_t count = text.integer("the element's count");
  if (count < 0) text.bad("{} of element {}; a count is 0 or more", count, quoted(element.name));
  element.count = static_cast<std::uint64_t>(count);
  return element;
}

// "property float x", "property list uchar int vertex_indices"
Property read_property(TextCursor& text) {
  Property property;
  TextCursor ahead = text;
  property.is_list = ahead.word() == "list";
  if (property.is_list) {
    text = ahead;
    property.count_type = read_type(text);
    if (!is_whole(property.count_type)) {
      text.bad("a list's length must be of a whole type (uchar, int, ...)");
    }
  }
  property.type = read_type(text);
  property.name = text.word();
  if (property.name.empty()) text.bad("the property has no name");
  property.label = quoted(property.name);
  return property;
}

// Leaves the cursor on the first byte after the header.
Header read_header(TextCursor& text) {
  if (text.word() != "ply") text.bad("a PLY file begins with the line 'ply'; this one does not");
  text.skip_line();
  Header header;
  bool has_format = false;
  for (; text.next_filled_line(); text.skip_line()) {
    const std::string_view key = text.word();
    if (key == "end_header") {
      text.skip_line();
      if (!has_format) text.bad("the header has no 'format' line");
      return header;
    }
    if (key == "format") {
      header.encoding = read_encoding(text);
      has_format = true;
    } else if (key == "element") {
      header.elements.push_back(read_element(text));
    } else if (key == "property") {
      if (header.elements.empty()) text.bad("a property before the first element");
      header.elements.back().properties.push_back(read_property(text));
    } else if (key != "comment" && key != "obj_info") {
      text.bad(
          "{} begins no line of a PLY header; expected format, comment, element, property or "
          "end_header",
          quoted(key));
    }
  }
  text.bad("the file ends within the header; 'end_header' is missing");
}

// Elements and properties that a mesh is made of.
void check_header(const Header& header, const std::string& name) {
  const Element *vertex = header.find("vertex"), *face = header.find("face");
  if (!vertex) reject("{}: the header declares no element 'vertex'", name);
  for (const char* axis : {"x", "y", "z"}) {
    const int at = vertex->find(axis);
    if (at < 0 || vertex->properties[static_cast<std::size_t>(at)].is_list) {
      reject("{}:{}: element 'vertex' needs a property '{}' that is a number", name, vertex->line,
             axis);
    }
  }
  if (!face) {
    const bool strips = header.find("tristrips") != nullptr;
    reject("{}: the header declares no element 'face'{}", name,
           strips ? "; triangle strips are not read: export the mesh with faces"
                  : "; export the surface, not the points alone");
  }
}

// Fewest bytes that an element takes: a digit and a space for every value of a text.
std::uint64_t smallest_size(const Element& element, Encoding encoding) {
  std::uint64_t size = 0;
  for (const Property& p : element.properties) {
    size += encoding == Encoding::text ? 2 : size_of(p.is_list ? p.count_type : p.type);
  }
  return size;
}

// Counts against the file's size, before any memory is asked for.
void check_counts(const Header& header, std::uint64_t bytes_left, const std::string& name) {
  std::uint64_t needed = 0;
  for (const Element& element : header.elements) {
    const std::uint64_t size = smallest_size(element, header.encoding);
    if (element.count > kMostVertices) {
      reject("{}:{}: {} of element {}; at most {} are read: use a coarser mesh", name, element.line,
             element.count, quoted(element.name), kMostVertices);
    }
    if (size == 0 && element.count > 0) {
      reject("{}:{}: element {} has no properties", name, element.line, quoted(element.name));
    }
    needed += element.count * size;
    // The last value of a text may end with the file.
    if (needed > bytes_left + 1) {
      reject(
          "{}:{}: {} of element {} take {} bytes or more, but {} follow the header; the file may "
          "be cut off",
          name, element.line, element.count, quoted(element.name), element.count * size,
          bytes_left);
    }
  }
}

// ---- values, from a text or from bytes

// An element a line.
class TextValues {
 public:
  TextValues(const TextCursor& text) : text_(text) {}

  void begin(const Element& element, std::uint64_t index) {
    if (index_ > 0) text_.skip_line();
    ++index_;
    if (!text_.next_filled_line()) {
      text_.bad("the file ends before {} {} of {}; it may be cut off", quoted(element.name),
                index + 1, element.count);
    }
  }
  double number(const Property& p) { return text_.number(p.label); }
  std::int64_t integer(const Property& p, Type) { return text_.integer(p.label); }
  void skip(const Property&, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      if (text_.word().empty()) text_.bad("a list of {} values ends early", count);
    }
  }
  [[noreturn]] void bad(const std::string& message) const { text_.bad("{}", message); }

 private:
  TextCursor text_;
  std::uint64_t index_ = 0;
};

class BinaryValues {
 public:
  BinaryValues(std::string_view bytes, std::size_t at, bool big_endian, const std::string& name)
      : bytes_(bytes),
        at_(at),
        swap_(big_endian != (std::endian::native == std::endian::big)),
        name_(name) {}

  void begin(const Element& element, std::uint64_t index) { element_ = &element, index_ = index; }
  double number(const Property& p) { return value(p.type); }
  std::int64_t integer(const Property&, Type type) {
    return static_cast<std::int64_t>(value(type));
  }
  void skip(const Property& p, std::uint64_t count) {
    need(count * size_of(p.type));
    at_ += count * size_of(p.type);
  }
  [[noreturn]] void bad(const std::string& message) const {
    reject("{}: byte {}: {} {}: {}", name_, value_at_, quoted(element_->name), index_ + 1, message);
  }

 private:
  void need(std::uint64_t size) const {
    if (size > bytes_.size() - at_) {
      reject("{}: byte {}: the file ends within {} {} of {}; it may be cut off", name_, at_,
             quoted(element_->name), index_ + 1, element_->count);
    }
  }
  template <class T>
  double take() {
    std::array<char, sizeof(T)> raw;
    std::memcpy(raw.data(), bytes_.data() + at_, sizeof(T));
    if (swap_) std::reverse(raw.begin(), raw.end());
    at_ += sizeof(T);
    return static_cast<double>(std::bit_cast<T>(raw));
  }
  // A double holds every value of the other types.
  double value(Type type) {
    need(size_of(type));
    value_at_ = at_;
    switch (type) {
      case Type::i8:
        return take<std::int8_t>();
      case Type::u8:
        return take<std::uint8_t>();
      case Type::i16:
        return take<std::int16_t>();
      case Type::u16:
        return take<std::uint16_t>();
      case Type::i32:
        return take<std::int32_t>();
      case Type::u32:
        return take<std::uint32_t>();
      case Type::f32:
        return take<float>();
      case Type::f64:
        break;
    }
    return take<double>();
  }

  std::string_view bytes_;
  std::size_t at_;
  std::size_t value_at_ = 0;  // where the last value began
  bool swap_;
  std::string name_;
  const Element* element_ = nullptr;
  std::uint64_t index_ = 0;
};

// ---- elements

template <class Values>
std::uint64_t read_length(const Property& p, Values& values) {
  const std::int64_t length = values.integer(p, p.count_type);
  if (length < 0) values.bad(fmt::format("a list of {} values", length));
  return static_cast<std::uint64_t>(length);
}

template <class Values>
void skip_property(const Property& p, Values& values) {
  values.skip(p, p.is_list ? read_length(p, values) : 1);
}

template <class Values>
void read_vertices(const Element& element, Values& values, std::vector<Vec3d>& out) {
  // Which property is which coordinate; the others are passed over.
  std::vector<int> axis_of(element.properties.size(), -1);
  for (int axis = 0; axis < 3; ++axis) {
    axis_of[static_cast<std::size_t>(
        element.find(std::string_view("xyz").substr(static_cast<std::size_t>(axis), 1)))] = axis;
  }
  out.resize(element.count);
  for (std::uint64_t k = 0; k < element.count; ++k) {
    values.begin(element, k);
    for (std::size_t i = 0; i < axis_of.size(); ++i) {
      const Property& p = element.properties[i];
      if (axis_of[i] < 0) {
        skip_property(p, values);
        continue;
      }
      const double value = values.number(p);
      const std::string fault = coordinate_fault(value);
      if (!fault.empty()) values.bad(fault);
      out[k][axis_of[i]] = value;
    }
  }
}

template <class Values>
void read_polygon(const Property& p, std::uint64_t vertices, Values& values, Polygons& out) {
  const std::uint64_t corners = read_length(p, values);
  if (corners < 3) values.bad(fmt::format("a face of {} corners; it needs three or more", corners));
  for (std::uint64_t i = 0; i < corners; ++i) {
    const std::int64_t corner = values.integer(p, p.type);
    if (corner < 0 || static_cast<std::uint64_t>(corner) >= vertices) {
      values.bad(
          fmt::format("vertex number {} does not exist: the file has {} vertices, counted "
                      "from 0",
                      corner, vertices));
    }
    out.corners.push_back(static_cast<std::uint32_t>(corner));
  }
  out.ends.push_back(out.corners.size());
}

template <class Values>
void read_faces(const Element& element, std::uint64_t vertices, const std::string& name,
                Values& values, Polygons& out) {
  int corners = element.find("vertex_indices");
  if (corners < 0) corners = element.find("vertex_index");
  const Property* list =
      corners < 0 ? nullptr : &element.properties[static_cast<std::size_t>(corners)];
  if (!list || !list->is_list || !is_whole(list->type)) {
    reject(
        "{}:{}: element 'face' needs a property 'vertex_indices' that is a list of whole numbers",
        name, element.line);
  }
  out.ends.reserve(element.count);
  out.corners.reserve(3 * element.count);
  for (std::uint64_t k = 0; k < element.count; ++k) {
    values.begin(element, k);
    for (const Property& p : element.properties) {
      if (&p == list) {
        read_polygon(p, vertices, values, out);
      } else {
        skip_property(p, values);
      }
    }
  }
}

template <class Values>
Mesh read_elements(const Header& header, const std::string& name, Values values) {
  const Element *vertex = header.find("vertex"), *face = header.find("face");
  Polygons polygons;
  for (const Element& element : header.elements) {
    if (&element == vertex) {
      read_vertices(element, values, polygons.vertices);
    } else if (&element == face) {
      read_faces(element, vertex->count, name, values, polygons);
    } else {
      for (std::uint64_t k = 0; k < element.count; ++k) {
        values.begin(element, k);
        for (const Property& p : element.properties) skip_property(p, values);
      }
    }
  }
  return triangulate(std::move(polygons));
}

}  // namespace

Mesh parse_ply(std::string_view bytes, const std::string& name) {
  TextCursor text(bytes, name);
  const Header header = read_header(text);
  check_header(header, name);
  check_counts(header, bytes.size() - text.offset(), name);
  if (header.encoding == Encoding::text) return read_elements(header, name, TextValues(text));
  const bool big_endian = header.encoding == Encoding::big_endian;
  return read_elements(header, name, BinaryValues(bytes, text.offset(), big_endian, name));
}

}  // namespace barchan::mesh_parse
