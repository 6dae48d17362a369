// Where the files that travel with the program are: scenes/, validation/.
#pragma once

#include <filesystem>
#include <string>

namespace barchan {

// The first of: the folder that $BARCHAN_<NAME> names; `name` near the program or near
// libbarchan.so (installed, bundled or built), where it holds the subfolder `mark`; the source.
std::filesystem::path data_folder(const std::string& name, const std::string& mark);

}  // namespace barchan
