#include "base/data_folder.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <system_error>

namespace barchan {

namespace fs = std::filesystem;

fs::path data_folder(const std::string& name, const std::string& mark) {
  std::string variable = "BARCHAN_" + name;
  std::transform(variable.begin(), variable.end(), variable.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (const char* given = std::getenv(variable.c_str())) return given;
  std::error_code none;
  const fs::path program = fs::read_symlink("/proc/self/exe", none).parent_path();
  for (const char* near : {".", "../share/barchan", "../.."}) {
    const fs::path folder = program / near / name;
    if (fs::is_directory(folder / mark, none)) return fs::canonical(folder);
  }
  return fs::path(BARCHAN_SOURCE_DIR) / name;
}

}  // namespace barchan
