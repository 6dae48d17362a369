#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/error.h"

namespace barchan {

namespace fs = std::filesystem;

namespace {

// A file descriptor that closes itself.
struct Descriptor {
  int id;
  ~Descriptor() {
    if (id >= 0) ::close(id);
  }
};

std::string reason(int code) {
  if (code == ENOSPC || code == EDQUOT) return "no space left on the disk";
  return std::strerror(code);
}

void write_all(int file, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t wrote = ::write(file, bytes, std::min(count, std::size_t{1} << 30));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) throw errno;
    bytes += wrote;
    count -= static_cast<std::size_t>(wrote);
  }
}

void sync_folder(const fs::path& folder) {
  const Descriptor opened{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (opened.id >= 0) ::fsync(opened.id);
}

}  // namespace

void write_file_atomic(const fs::path& path, const void* bytes, std::size_t count) {
  fs::path part = path;
  part += ".part";
  try {
    {
      const Descriptor file{::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)};
      if (file.id < 0) throw errno;
      write_all(file.id, static_cast<const char*>(bytes), count);
      if (::fsync(file.id) != 0) throw errno;
    }
    if (::rename(part.c_str(), path.c_str()) != 0) throw errno;
  } catch (int code) {
    ::unlink(part.c_str());
    fail("cannot write {}: {}", path.string(), reason(code));
  }
  sync_folder(path.has_parent_path() ? path.parent_path() : fs::path("."));
}

void write_file_atomic(const fs::path& path, std::string_view text) {
  write_file_atomic(path, text.data(), text.size());
}

std::string read_text_file(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) reject("{} is a folder, not a file", path.string());
  std::ifstream file(path, std::ios::binary);
  if (!file) reject("cannot read {}: {}", path.string(), std::strerror(errno));
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

FolderLock::FolderLock(const fs::path& folder) {
  const fs::path path = folder / ".lock";
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file_ < 0) fail("cannot lock {}: {}", folder.string(), std::strerror(errno));
  if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    ::close(file_);
    file_ = -1;
    fail("another run is writing {}; wait for it, or choose another folder with --out",
         folder.string());
  }
}

FolderLock::~FolderLock() {
  if (file_ >= 0) ::close(file_);
}

bool FolderLock::is_held(const fs::path& folder) {
  const Descriptor file{::open((folder / ".lock").c_str(), O_RDWR | O_CLOEXEC)};
  if (file.id < 0) return false;
  return ::flock(file.id, LOCK_EX | LOCK_NB) != 0;
}

}  // namespace barchan
