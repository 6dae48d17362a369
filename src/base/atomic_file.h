// Files that are either whole or not there: written aside, synced, renamed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace barchan {

class ScratchFile;

// Writes bytes to path.part, syncs it, renames it over path and syncs the folder. On any fault (a
// full disk, say) the old file at path is untouched, path.part is removed, and an Error says why.
void write_file_atomic(const std::filesystem::path& path, const void* bytes, std::size_t count);
void write_file_atomic(const std::filesystem::path& path, std::string_view text);

// The same for a file that should not be in memory whole: pieces go to path.part, and commit()
// makes it the file. What is not committed leaves nothing behind.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void append(std::string_view text);
  void append(const ScratchFile& file);  // all of it
  void commit();

 private:
  std::filesystem::path path_, part_;
  int file_ = -1;
};

// Bytes put aside until they are wanted: a file without a name, which goes when its owner does,
// however that ends.
class ScratchFile {
 public:
  explicit ScratchFile(const std::filesystem::path& folder);
  ~ScratchFile();
  ScratchFile(ScratchFile&& other) noexcept;
  ScratchFile& operator=(ScratchFile&&) = delete;

  void append(std::string_view text);

 private:
  friend class AtomicFile;
  std::filesystem::path folder_;
  int file_ = -1;
};

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
