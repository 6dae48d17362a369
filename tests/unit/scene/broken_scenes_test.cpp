// Scenes with one fault each, and the exact message a user gets for it.
//
// tests/data/broken/NAME.toml begins with the line
//     # expect: :5:1: unknown key 'fricton_angle' in [material.sand]; did you mean ...
// which is the whole message without the "broken/NAME.toml" that it begins with; a message that
// does not begin with the file's name stands there in full. Two files cannot hold a comment:
// kWithoutComment has their messages. To add a case, drop a file in; to see what it says, run the
// test.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "compute/device.h"
#include "scene/scene.h"
#include "sim/emitters.h"
#include "sim/initial_state.h"
#include "sim/state.h"

namespace barchan {
namespace {

namespace fs = std::filesystem;

const std::map<std::string, std::string> kWithoutComment = {
    {"empty_file.toml",
     ":1:1: the scene holds no particles: add a [[fill]] or an [[emitter]] with a shape"},
    {"binary_garbage.toml",
     ":1:1: not valid TOML: only ASCII may stand outside of quotes and comments"},
};

std::vector<fs::path> broken_scenes() {
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::path(BARCHAN_TEST_DATA) / "data" / "broken")) {
    if (entry.path().extension() == ".toml") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string expected_message(const std::string& name, const std::string& text) {
  const auto known = kWithoutComment.find(name);
  if (known != kWithoutComment.end()) return known->second;
  const std::string mark = "# expect: ";
  if (!text.starts_with(mark)) return "(the file has no '# expect: ' line)";
  return text.substr(mark.size(), text.find('\n') - mark.size());
}

// Reads the scene and, where that works, places its particles and makes its emitters.
void read_and_fill(const std::string& text, const std::string& file) {
  const Scene scene = read_scene(text, file);
  const std::unique_ptr<Device> device = make_cpu_device(1);
  const SolidSet solids = make_solids(scene, *device);
  State state(*device);
  fill_state(scene, solids, state);
  const Emitters emitters(scene, *device);
}

class BrokenScene : public testing::TestWithParam<fs::path> {};

TEST_P(BrokenScene, IsRefusedWithItsMessage) {
  const std::string name = GetParam().filename().string();
  const std::string text = read_text_file(GetParam());
  const std::string file = "broken/" + name;
  try {
    read_and_fill(text, file);
    FAIL() << name << " was accepted";
  } catch (const Error& error) {
    const std::string message = error.what();
    const bool names_file = message.starts_with(file);
    EXPECT_EQ(names_file ? message.substr(file.size()) : message, expected_message(name, text));
    EXPECT_EQ(error.fault(), Fault::input);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, BrokenScene, testing::ValuesIn(broken_scenes()),
                         [](const auto& info) { return info.param.stem().string(); });

TEST(BrokenScenes, AreMany) {
  EXPECT_GE(broken_scenes().size(), 200u);
}

}  // namespace
}  // namespace barchan
