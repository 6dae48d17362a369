// Files that are either whole or not there: written aside, synced, renamed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace barchan {

// Writes bytes to path.part, syncs it, renames it over path and syncs the folder. On any fault (a
// full disk, say) the old file at path is untouched, path.part is removed, and an Error says why.
void write_file_atomic(const std::filesystem::path& path, const void* bytes, std::size_t count);
void write_file_atomic(const std::filesystem::path& path, std::string_view text);

// Whole file as text; an Error that names the file where it cannot be read.
std::string read_text_file(const std::filesystem::path& path);

// Keeps two runs out of one folder. Held until destroyed; the system drops it if the process dies.
class FolderLock {
 public:
  // Throws (exit code 1) if another process holds the lock.
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  // Whether some process holds the folder's lock now.
  static bool is_held(const std::filesystem::path& folder);

 private:
  int file_ = -1;
};

}  // namespace barchan
