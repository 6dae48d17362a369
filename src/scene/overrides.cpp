#include "scene/overrides.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

namespace barchan {

namespace {

void set_source(Node& node, const Source& source) {
  node.source = source;
  for (Node& item : node.items) set_source(item, source);
  for (Node::Member& member : node.members) {
    member.source = source;
    set_source(member.value, source);
  }
}

// The value as TOML; a bare word counts as text, because shells eat quotes.
Node parse_value(const std::string& value, const Source& source) {
  if (value.empty() || value.find('\n') != std::string::npos) {
    reject_at(source, "the value is not valid TOML");
  }
  Node node;
  try {
    node = std::move(parse_toml("value = " + value, source.file).members.at(0).value);
  } catch (const Error&) {
    if (value.find_first_of("[]{}\"'=") != std::string::npos) {
      reject_at(source, "the value is not valid TOML");
    }
    node.kind = Node::Kind::text;
    node.text = value;
  }
  set_source(node, source);
  return node;
}

std::vector<std::string> split(const std::string& path) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= path.size()) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    parts.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

Node* list_item(Node& list, const std::string& part) {
  for (Node& item : list.items) {
    const Node::Member* name = item.find("name");
    if (name && name->value.text == part) return &item;
  }
  std::size_t number = 0;
  const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), number);
  const bool whole = code == std::errc() && end == part.data() + part.size();
  if (!whole || number < 1 || number > list.items.size()) return nullptr;
  return &list.items[number - 1];
}

}  // namespace

void apply_override(const std::string& setting, Node& document) {
  const Source source{"--set " + setting, 0, 0};
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos || equals == 0) {
    reject_at(source, "expected section.key=value, for example resolution=0.01");
  }
  const std::vector<std::string> path = split(setting.substr(0, equals));
  if (std::any_of(path.begin(), path.end(), [](const std::string& p) { return p.empty(); })) {
    reject_at(source, "'{}' has an empty part", setting.substr(0, equals));
  }
  Node* node = &document;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    Node::Member* member = node->find(path[i]);
    if (!member) {
      Node table;
      table.source = source;
      node->members.push_back({path[i], source, std::move(table)});
      member = &node->members.back();
    }
    node = &member->value;
    if (node->kind == Node::Kind::list) {
      if (++i + 1 >= path.size()) {
        reject_at(source, "'{}' is a list: name one item and its key, for example {}.1.key=value",
                  path[i - 1], path[i - 1]);
      }
      const std::string list = path[i - 1];
      Node* item = list_item(*node, path[i]);
      if (!item) {
        reject_at(source, "there is no {} '{}'; the scene has {} of them, counted from 1", list,
                  path[i], node->items.size());
      }
      node = item;
    }
    if (node->kind != Node::Kind::table) {
      reject_at(source, "'{}' is {}, not a table", path[i], describe(*node));
    }
  }
  Node value = parse_value(setting.substr(equals + 1), source);
  if (Node::Member* member = node->find(path.back())) {
    member->source = source;
    member->value = std::move(value);
  } else {
    node->members.push_back({path.back(), source, std::move(value)});
  }
}

}  // namespace barchan
