#include "scene/field_reader.h"

#include <algorithm>
#include <cmath>

#include "base/nearest_name.h"
#include "scene/sections.h"

namespace barchan {

namespace {

std::string joined(std::span<const std::string> words, const char* quote, const char* last) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    out += (i == 0 ? "" : (i + 1 == words.size() ? last : ", "));
    out += quote + words[i] + quote;
  }
  return out;
}

std::string range_text(const ParamRange& range) {
  const bool has_lo = std::isfinite(range.lo), has_hi = std::isfinite(range.hi);
  if (has_lo && has_hi && range.open_lo)
    return fmt::format(" above {} up to {}", range.lo, range.hi);
  if (has_lo && has_hi) return fmt::format(" from {} to {}", range.lo, range.hi);
  if (has_lo) return (range.open_lo ? " above " : " of at least ") + fmt::format("{}", range.lo);
  return "";
}

bool in_range(double value, const ParamRange& range) {
  return std::isfinite(value) && value <= range.hi &&
         (range.open_lo ? value > range.lo : value >= range.lo);
}

[[noreturn]] void reject_value(const Node& node, const ParamField& field,
                               const std::string& section) {
  reject_at(node.source, "'{}' in {} must be {}, not {}", field.name, section_title(section),
            expectation(field), describe(node));
}

[[noreturn]] void reject_item(const Node& item, const ParamField& field,
                              const std::string& section) {
  reject_at(item.source, "'{}' in {} must be {}, but one of them is {}", field.name,
            section_title(section), expectation(field), describe(item));
}

ParamValue read_numbers(const Node& node, const ParamField& field, const std::string& section,
                        std::size_t least, std::size_t most) {
  std::vector<double> values;
  const auto is_good = [&](const Node& item) {
    return item.is_number() && in_range(item.number, field.range);
  };
  if (field.kind == ParamKind::number_range && node.is_number()) {
    if (!is_good(node)) reject_value(node, field, section);
    return std::vector<double>{node.number};
  }
  if (node.kind != Node::Kind::list || node.items.size() < least || node.items.size() > most) {
    reject_value(node, field, section);
  }
  for (const Node& item : node.items) {
    if (!is_good(item)) reject_item(item, field, section);
    values.push_back(item.number);
  }
  return values;
}

ParamValue read_words(const Node& node, const ParamField& field, const std::string& section) {
  std::vector<std::string> values;
  if (node.kind != Node::Kind::list) reject_value(node, field, section);
  for (const Node& item : node.items) {
    if (item.kind != Node::Kind::text || !is_valid_name(item.text)) {
      reject_item(item, field, section);
    }
    values.push_back(item.text);
  }
  return values;
}

ParamValue read_texts(const Node& node, const ParamField& field, const std::string& section) {
  std::vector<std::string> values;
  if (node.kind != Node::Kind::list) reject_value(node, field, section);
  for (const Node& item : node.items) {
    if (item.kind != Node::Kind::text) reject_item(item, field, section);
    values.push_back(item.text);
  }
  return values;
}

std::string read_expression(const Node& node, const ParamField& field, const std::string& section) {
  if (node.kind == Node::Kind::text) return node.text;
  if (!node.is_number() || !std::isfinite(node.number)) reject_value(node, field, section);
  return inline_toml(node);
}

std::string read_choice(const Node& node, const ParamField& field, const std::string& section) {
  if (node.kind != Node::Kind::text) reject_value(node, field, section);
  if (std::find(field.choices.begin(), field.choices.end(), node.text) == field.choices.end()) {
    const std::string nearest = nearest_name(node.text, field.choices);
    reject_at(node.source, "'{}' in {} must be {}, not {}{}", field.name, section_title(section),
              joined(field.choices, "\"", " or "), describe(node),
              nearest.empty() ? "" : "; did you mean \"" + nearest + "\"?");
  }
  const std::string missing = not_available_yet(section, field.name, node.text);
  if (!missing.empty()) reject_at(node.source, "{} is not available yet", missing);
  return node.text;
}

}  // namespace

std::string section_title(const std::string& section) {
  if (section.empty()) return "the scene";
  if (section.starts_with("the ")) return section;
  return "[" + section + "]";
}

std::string suggestion(const std::string& name, std::span<const std::string> candidates) {
  const std::string nearest = nearest_name(name, candidates);
  if (!nearest.empty()) return "; did you mean '" + nearest + "'?";
  if (candidates.empty()) return "; it takes no keys";
  return (candidates.size() == 1 ? "; the only one is " : "; known are ") +
         joined(candidates, "'", " and ");
}

void reject_unknown_key(const Node::Member& member, const std::string& section,
                        std::vector<std::string> known) {
  reject_at(member.source, "unknown key '{}' in {}{}", member.key, section_title(section),
            suggestion(member.key, known));
}

void expect_table(const Node& node, const std::string& what) {
  if (node.kind != Node::Kind::table) {
    reject_at(node.source, "{} must be a table, not {}", what, describe(node));
  }
}

double read_number(const Node& node, const std::string& what) {
  if (!node.is_number() || !std::isfinite(node.number)) {
    reject_at(node.source, "{} must be a finite number, not {}", what, describe(node));
  }
  return node.number;
}

Vec3d read_vector(const Node& node, const std::string& what) {
  if (node.kind != Node::Kind::list || node.items.size() != 3) {
    reject_at(node.source, "{} must be three numbers [x, y, z], not {}", what, describe(node));
  }
  for (const Node& item : node.items) {
    if (!item.is_number() || !std::isfinite(item.number)) {
      reject_at(item.source, "{} must be three finite numbers, but one of them is {}", what,
                describe(item));
    }
  }
  return {node.items[0].number, node.items[1].number, node.items[2].number};
}

std::string expectation(const ParamField& field) {
  const std::string unit = field.unit.empty() ? "" : " [" + field.unit + "]";
  switch (field.kind) {
    case ParamKind::boolean:
      return "true or false";
    case ParamKind::integer:
      return "a whole number" + range_text(field.range);
    case ParamKind::number:
      return "a number" + range_text(field.range) + unit;
    case ParamKind::text:
      return "a text";
    case ParamKind::name:
      return "a name of letters, digits, '_' and '-' (at most 64)";
    case ParamKind::choice:
      return joined(field.choices, "\"", " or ");
    case ParamKind::vector:
      return "three numbers" +
             (std::isfinite(field.range.lo) ? ", each" + range_text(field.range) : "") + unit;
    case ParamKind::words:
      return "a list of names";
    case ParamKind::number_range:
      return "a number" + range_text(field.range) + unit + " or [smallest, largest]";
    case ParamKind::texts:
      return "a list of texts";
    case ParamKind::expression:
      return "a number or an expression";
    case ParamKind::shape:
      return "a shape";
    case ParamKind::keyframes:
      return "a list of keyframes";
    case ParamKind::nested:
      return "a table";
    case ParamKind::grain:
      return "\"sphere\", \"tetrahedron\", \"cube\" or a list of spheres";
  }
  return "";
}

bool is_valid_name(const std::string& name) {
  constexpr std::size_t kLongest = 64;
  return !name.empty() && name.size() <= kLongest &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-';
         });
}

void read_field(const Node::Member& member, const ParamField& field, const std::string& section,
                void* object) {
  const Node& node = member.value;
  const std::string missing = not_available_yet(section, field.name, "");
  if (!missing.empty()) reject_at(member.source, "{} is not available yet", missing);
  switch (field.kind) {
    case ParamKind::boolean:
      if (node.kind != Node::Kind::boolean) reject_value(node, field, section);
      return field.set(object, node.boolean);
    case ParamKind::integer:
      if (node.kind != Node::Kind::integer || !in_range(node.number, field.range)) {
        reject_value(node, field, section);
      }
      return field.set(object, node.integer);
    case ParamKind::number:
      if (!node.is_number() || !in_range(node.number, field.range)) {
        reject_value(node, field, section);
      }
      return field.set(object, node.number);
    case ParamKind::text:
      if (node.kind != Node::Kind::text) reject_value(node, field, section);
      return field.set(object, node.text);
    case ParamKind::name:
      if (node.kind != Node::Kind::text || !is_valid_name(node.text)) {
        reject_value(node, field, section);
      }
      return field.set(object, node.text);
    case ParamKind::choice:
      return field.set(object, read_choice(node, field, section));
    case ParamKind::vector:
      return field.set(object, read_numbers(node, field, section, 3, 3));
    case ParamKind::words:
      return field.set(object, read_words(node, field, section));
    case ParamKind::number_range:
      return field.set(object, read_numbers(node, field, section, 2, 2));
    case ParamKind::texts:
      return field.set(object, read_texts(node, field, section));
    case ParamKind::expression:
      return field.set(object, read_expression(node, field, section));
    case ParamKind::shape:
    case ParamKind::keyframes:
    case ParamKind::grain:
    case ParamKind::nested:
      return;  // their owners read them
  }
}

std::vector<std::string> names_of(const ParamTable& table) {
  std::vector<std::string> names;
  for (const ParamField& field : table.fields) names.push_back(field.name);
  return names;
}

void read_section(const Node& node, const ParamTable& table, const std::string& section,
                  void* object) {
  if (node.kind == Node::Kind::list) {
    reject_at(node.source, "there is one {0} only: write {0} with one pair of brackets",
              section_title(section));
  }
  expect_table(node, section_title(section));
  for (const Node::Member& member : node.members) {
    const ParamField* field = table.find(member.key);
    if (!field) reject_unknown_key(member, section, names_of(table));
    read_field(member, *field, section, object);
  }
}

}  // namespace barchan
