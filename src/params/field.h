// A parameter, declared once. A struct of defaults and, beside it, a table with one line a member:
// name, unit, range, a sentence. From the tables come the scene reader and its errors, --set,
// `barchan params`, the reference page, the JSON schema, and the filled-in scene.toml of a run.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "math/vec3.h"

namespace barchan {

using ParamValue = std::variant<bool, std::int64_t, double, std::string, std::vector<double>,
                                std::vector<std::string>>;

enum class ParamKind {
  boolean,
  integer,
  number,
  text,
  name,          // [A-Za-z0-9_-]+
  choice,        // one of a list of words
  vector,        // three numbers
  words,         // a list of names
  number_range,  // a number, or [smallest, largest]
  texts,         // a list of texts
  expression,    // a number, or a text that says how to get it
  shape,         // the last four are read by their owners, their values live there
  keyframes,
  grain,
  nested,  // tables within the section
};

struct ParamRange {
  double lo = -std::numeric_limits<double>::infinity();
  double hi = std::numeric_limits<double>::infinity();
  bool open_lo = false;  // lo itself is not allowed
};

inline ParamRange any() {
  return {};
}
inline ParamRange at_least(double lo) {
  return {lo, std::numeric_limits<double>::infinity(), false};
}
inline ParamRange above(double lo) {
  return {lo, std::numeric_limits<double>::infinity(), true};
}
inline ParamRange between(double lo, double hi) {
  return {lo, hi, false};
}
inline ParamRange above_to(double lo, double hi) {
  return {lo, hi, true};
}

struct ParamField {
  std::string name;
  ParamKind kind = ParamKind::number;
  std::string unit;  // SI, "" where there is none
  ParamRange range;
  std::vector<std::string> choices;
  std::string help;       // one sentence
  bool optional = false;  // has no value until the scene gives one (NaN, "" or [])
  // Empty for shape, keyframes, grain and nested.
  std::function<ParamValue(const void*)> get;
  std::function<void(void*, const ParamValue&)> set;
};

struct ParamTable {
  std::string section;  // as in the scene file: "", "material.NAME", "[fill]" for a list, "pbf" ...
  std::string help;
  std::vector<ParamField> fields;

  const ParamField* find(const std::string& name) const {
    for (const ParamField& field : fields) {
      if (field.name == name) return &field;
    }
    return nullptr;
  }
};

// Specialised in the .cpp beside each parameter struct.
template <class S>
const ParamTable& table_of();

// ---- One line of a table

template <class S, class M>
ParamField make_field(std::string name, ParamKind kind, M S::*member, std::string unit,
                      ParamRange range, std::string help) {
  ParamField field{
      std::move(name), kind, std::move(unit), range, {}, std::move(help), false, {}, {}};
  field.get = [member](const void* object) -> ParamValue {
    const M& value = static_cast<const S*>(object)->*member;
    if constexpr (std::is_same_v<M, Vec3d>) {
      return std::vector<double>{value.x, value.y, value.z};
    } else if constexpr (std::is_same_v<M, int> || std::is_same_v<M, std::uint64_t>) {
      return static_cast<std::int64_t>(value);
    } else {
      return value;
    }
  };
  field.set = [member](void* object, const ParamValue& value) {
    M& target = static_cast<S*>(object)->*member;
    if constexpr (std::is_same_v<M, Vec3d>) {
      const auto& v = std::get<std::vector<double>>(value);
      target = {v[0], v[1], v[2]};
    } else if constexpr (std::is_same_v<M, int> || std::is_same_v<M, std::uint64_t>) {
      target = static_cast<M>(std::get<std::int64_t>(value));
    } else {
      target = std::get<M>(value);
    }
  };
  return field;
}

template <class S>
ParamField number(std::string name, double S::*member, std::string unit, ParamRange range,
                  std::string help) {
  return make_field(std::move(name), ParamKind::number, member, std::move(unit), range,
                    std::move(help));
}
template <class S>
ParamField integer(std::string name, int S::*member, ParamRange range, std::string help) {
  return make_field(std::move(name), ParamKind::integer, member, "", range, std::move(help));
}
template <class S>
ParamField integer(std::string name, std::uint64_t S::*member, ParamRange range, std::string help) {
  return make_field(std::move(name), ParamKind::integer, member, "", range, std::move(help));
}
template <class S>
ParamField boolean(std::string name, bool S::*member, std::string help) {
  return make_field(std::move(name), ParamKind::boolean, member, "", any(), std::move(help));
}
template <class S>
ParamField text(std::string name, std::string S::*member, std::string help) {
  return make_field(std::move(name), ParamKind::text, member, "", any(), std::move(help));
}
template <class S>
ParamField name_field(std::string name, std::string S::*member, std::string help) {
  return make_field(std::move(name), ParamKind::name, member, "", any(), std::move(help));
}
template <class S>
ParamField words(std::string name, std::vector<std::string> S::*member, std::string help) {
  return make_field(std::move(name), ParamKind::words, member, "", any(), std::move(help));
}
template <class S>
ParamField texts(std::string name, std::vector<std::string> S::*member, std::string help) {
  return make_field(std::move(name), ParamKind::texts, member, "", any(), std::move(help));
}
template <class S>
ParamField expression(std::string name, std::string S::*member, std::string help) {
  return make_field(std::move(name), ParamKind::expression, member, "", any(), std::move(help));
}
template <class S>
ParamField vector(std::string name, Vec3d S::*member, std::string unit, ParamRange range,
                  std::string help) {
  return make_field(std::move(name), ParamKind::vector, member, std::move(unit), range,
                    std::move(help));
}
template <class S>
ParamField choice(std::string name, std::string S::*member, std::vector<std::string> choices,
                  std::string help) {
  ParamField field =
      make_field(std::move(name), ParamKind::choice, member, "", any(), std::move(help));
  field.choices = std::move(choices);
  return field;
}
template <class S>
ParamField number_range(std::string name, std::vector<double> S::*member, std::string unit,
                        ParamRange range, std::string help) {
  return make_field(std::move(name), ParamKind::number_range, member, std::move(unit), range,
                    std::move(help));
}
inline ParamField special(std::string name, ParamKind kind, std::string help) {
  return {std::move(name), kind, "", any(), {}, std::move(help), false, {}, {}};
}
inline ParamField optional(ParamField field) {
  field.optional = true;
  return field;
}

// A vector that was not given.
inline Vec3d unset_vector() {
  constexpr double kUnset = std::numeric_limits<double>::quiet_NaN();
  return {kUnset, kUnset, kUnset};
}
inline bool is_set(const Vec3d& v) {
  return v.x == v.x;
}
inline bool is_set(double v) {
  return v == v;
}

}  // namespace barchan
