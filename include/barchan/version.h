// The version of the program and of the files it writes.
#pragma once

namespace barchan {

// Program version, as `barchan --version` prints it.
const char* version();

// Changes whenever a checkpoint or frame written by an older program can no longer be read.
inline constexpr int kCacheFormat = 1;

}  // namespace barchan
