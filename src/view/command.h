// What the page asks for, as JSON: {"do": "set", "key": "pbf.iterations", "value": 4}. Nothing is
// believed: unknown words, missing and wrong members, and numbers that are none are refused.
#pragma once

#include <cstdint>
#include <string>

#include "math/vec3.h"

namespace barchan {

struct ViewCommand {
  enum class What { play, pause, step, reset, seek, set, pour, push, open };
  What what = What::pause;
  std::int64_t frame = 0;  // seek
  std::string key;         // set
  std::string value;       // set: a number or a word, as text
  bool is_word = false;    // set: the value was a text
  bool is_vector = false;  // set: the value was three numbers
  Vec3d vector;            // set: those
  std::string scene;       // open: name of a shipped scene
  Vec3d at, velocity;      // pour, push [m], [m/s]
};

// Returns "" and fills in the command, or says what is wrong.
std::string parse_view_command(const std::string& text, ViewCommand& command);

}  // namespace barchan
