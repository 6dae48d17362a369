#include "base/data_folder.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <system_error>
#include <vector>

namespace barchan {

namespace fs = std::filesystem;

namespace {

// Where this code runs from: the program, or libbarchan.so in a program of somebody else.
std::vector<fs::path> own_folders() {
  std::error_code none;
  std::vector<fs::path> folders = {fs::read_symlink("/proc/self/exe", none).parent_path()};
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&own_folders), &info) != 0 && info.dli_fname) {
    const fs::path file(info.dli_fname);
    if (file.is_absolute()) folders.push_back(file.parent_path());
  }
  return folders;
}

}  // namespace

fs::path data_folder(const std::string& name, const std::string& mark) {
  std::string variable = "BARCHAN_" + name;
  std::transform(variable.begin(), variable.end(), variable.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (const char* given = std::getenv(variable.c_str())) return given;
  std::error_code none;
  for (const fs::path& here : own_folders()) {
    for (const char* near : {".", "../share/barchan", "../.."}) {
      const fs::path folder = here / near / name;
      if (fs::is_directory(folder / mark, none)) return fs::canonical(folder);
    }
  }
  return fs::path(BARCHAN_SOURCE_DIR) / name;
}

}  // namespace barchan
