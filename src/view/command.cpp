#include "view/command.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

namespace barchan {

namespace {

using Json = nlohmann::json;
using What = ViewCommand::What;

constexpr std::size_t kLongestWord = 200;

const std::map<std::string, What> kWords = {
    {"play", What::play},   {"pause", What::pause}, {"step", What::step},
    {"reset", What::reset}, {"seek", What::seek},   {"set", What::set},
    {"pour", What::pour},   {"push", What::push},   {"open", What::open}};

bool read_word(const Json& from, const char* key, std::string& to) {
  const auto found = from.find(key);
  if (found == from.end() || !found->is_string()) return false;
  to = found->get<std::string>();
  return !to.empty() && to.size() <= kLongestWord;
}

bool read_vector(const Json& from, const char* key, Vec3d& to) {
  const auto found = from.find(key);
  if (found == from.end() || !found->is_array() || found->size() != 3) return false;
  for (int axis = 0; axis < 3; ++axis) {
    const Json& number = (*found)[static_cast<std::size_t>(axis)];
    if (!number.is_number()) return false;
    to[axis] = number.get<double>();
    if (!(std::abs(to[axis]) <= 1e6)) return false;
  }
  return true;
}

bool read_value(const Json& from, ViewCommand& command) {
  const auto found = from.find("value");
  if (found == from.end()) return false;
  if (found->is_string()) {
    command.is_word = true;
    return read_word(from, "value", command.value);
  }
  if (found->is_array()) {
    command.is_vector = true;
    command.value = found->dump();
    return read_vector(from, "value", command.vector);
  }
  if (!found->is_number() || !std::isfinite(found->get<double>())) return false;
  command.value = found->dump();
  return true;
}

}  // namespace

std::string parse_view_command(const std::string& text, ViewCommand& command) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object()) return "it is not a JSON object";
  std::string word;
  if (!read_word(json, "do", word)) return "it does not say what to do";
  const auto what = kWords.find(word);
  if (what == kWords.end()) return "it asks for something unknown";
  command = {};
  command.what = what->second;
  switch (command.what) {
    case What::seek: {
      const auto frame = json.find("frame");
      if (frame == json.end() || !frame->is_number_integer()) return "seek without a frame";
      command.frame = frame->get<std::int64_t>();
      return "";
    }
    case What::set:
      if (!read_word(json, "key", command.key)) return "set without a key";
      return read_value(json, command) ? "" : "set without a value";
    case What::open:
      return read_word(json, "scene", command.scene) ? "" : "open without a scene";
    case What::pour:
    case What::push:
      return read_vector(json, "at", command.at) && read_vector(json, "velocity", command.velocity)
                 ? ""
                 : "pour and push need a place and a velocity";
    default:
      return "";
  }
}

}  // namespace barchan
