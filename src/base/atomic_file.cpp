#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

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

// Large files go to the disk past the system's page cache: copying a frame into it costs as much
// as a time step, and nobody reads the frame soon. False where the file system does not do that;
// the file is then empty, as it was.
bool write_direct(const fs::path& path, const char* bytes, std::size_t count) {
  constexpr std::size_t kAlign = 4096, kPiece = std::size_t{4} << 20;
  const Descriptor file{
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_DIRECT, 0644)};
  if (file.id < 0) return false;
  const std::unique_ptr<void, decltype(&std::free)> piece(std::aligned_alloc(kAlign, kPiece),
                                                          std::free);
  if (!piece) return false;
  const bool aligned = reinterpret_cast<std::uintptr_t>(bytes) % kAlign == 0;
  for (std::size_t done = 0; done < count; done += kPiece) {
    const std::size_t size = std::min(kPiece, count - done);
    const std::size_t padded = (size + kAlign - 1) / kAlign * kAlign;
    const void* from = bytes + done;
    if (!aligned || padded != size) {  // the disk wants whole, aligned blocks
      std::memcpy(piece.get(), bytes + done, size);
      std::memset(static_cast<char*>(piece.get()) + size, 0, padded - size);
      from = piece.get();
    }
    const ssize_t wrote = ::pwrite(file.id, from, padded, static_cast<off_t>(done));
    if (wrote < 0 && errno == EINVAL && done == 0) return false;
    if (wrote < 0) throw errno;
    if (static_cast<std::size_t>(wrote) != padded) throw ENOSPC;
  }
  if (::ftruncate(file.id, static_cast<off_t>(count)) != 0 || ::fsync(file.id) != 0) throw errno;
  return true;
}

void write_through_cache(const fs::path& path, const char* bytes, std::size_t count) {
  const Descriptor file{::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)};
  if (file.id < 0) throw errno;
  write_all(file.id, bytes, count);
  if (::fsync(file.id) != 0) throw errno;
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
    constexpr std::size_t kLarge = std::size_t{1} << 20;
    const auto* from = static_cast<const char*>(bytes);
    if (count < kLarge || !write_direct(part, from, count)) write_through_cache(part, from, count);
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

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)), part_(path_) {
  part_ += ".part";
  file_ = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file_ < 0) fail("cannot write {}: {}", path_.string(), reason(errno));
}

AtomicFile::~AtomicFile() {
  if (file_ < 0) return;  // committed
  ::close(file_);
  ::unlink(part_.c_str());
}

void AtomicFile::append(std::string_view text) {
  try {
    write_all(file_, text.data(), text.size());
  } catch (int code) {
    fail("cannot write {}: {}", path_.string(), reason(code));
  }
}

void AtomicFile::append(const ScratchFile& from) {
  std::string piece(std::size_t{1} << 20, '\0');
  for (off_t at = 0;;) {
    const ssize_t got = ::pread(from.file_, piece.data(), piece.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      fail("cannot read back what was put aside in {}: {}", from.folder_.string(), reason(errno));
    if (got == 0) return;
    append(std::string_view(piece).substr(0, static_cast<std::size_t>(got)));
    at += got;
  }
}

void AtomicFile::commit() {
  if (::fsync(file_) != 0 || ::rename(part_.c_str(), path_.c_str()) != 0) {
    fail("cannot write {}: {}", path_.string(), reason(errno));
  }
  ::close(file_);
  file_ = -1;
  sync_folder(path_.has_parent_path() ? path_.parent_path() : fs::path("."));
}

ScratchFile::ScratchFile(const fs::path& folder) : folder_(folder) {
  std::string name = (folder / "scratch-XXXXXX").string();
  file_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (file_ < 0) fail("cannot write to {}: {}", folder.string(), reason(errno));
  ::unlink(name.c_str());  // its bytes stay as long as it is open
}

ScratchFile::ScratchFile(ScratchFile&& other) noexcept
    : folder_(std::move(other.folder_)), file_(std::exchange(other.file_, -1)) {}

ScratchFile::~ScratchFile() {
  if (file_ >= 0) ::close(file_);
}

void ScratchFile::append(std::string_view text) {
  try {
    write_all(file_, text.data(), text.size());
  } catch (int code) {
    fail("cannot write to {}: {}", folder_.string(), reason(code));
  }
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
