// One TOML value into one parameter, by its table.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "params/field.h"
#include "scene/node.h"

namespace barchan {

// How a section is called in messages: "[pbf]", "[[fill]]", "the scene", "the case".
std::string section_title(const std::string& section);

// "did you mean ...?" or the list of what there is; starts with "; ".
std::string suggestion(const std::string& name, std::span<const std::string> candidates);

[[noreturn]] void reject_unknown_key(const Node::Member& member, const std::string& section,
                                     std::vector<std::string> known);

void expect_table(const Node& node, const std::string& what);
double read_number(const Node& node, const std::string& what);
Vec3d read_vector(const Node& node, const std::string& what);

// Reads `member` into object's field, checking type, range and choice.
void read_field(const Node::Member& member, const ParamField& field, const std::string& section,
                void* object);

std::vector<std::string> names_of(const ParamTable& table);

// Reads every plain key of `node`; shapes, keyframes and nested tables are left to the caller.
void read_section(const Node& node, const ParamTable& table, const std::string& section,
                  void* object);

// "a number above 0 [m]": what a field takes.
std::string expectation(const ParamField& field);

bool is_valid_name(const std::string& name);

}  // namespace barchan
