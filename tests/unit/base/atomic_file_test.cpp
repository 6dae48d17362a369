#include "base/atomic_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "base/error.h"

namespace barchan {
namespace {

namespace fs = std::filesystem;

class AtomicFile : public testing::Test {
 protected:
  AtomicFile()
      : folder(fs::temp_directory_path() / ("barchan-atomic-" + std::to_string(::getpid()))) {
    fs::create_directories(folder);
  }
  ~AtomicFile() override { fs::remove_all(folder); }
  fs::path folder;
};

// Small files go through the page cache, large ones past it, in pieces that need not divide them.
TEST_F(AtomicFile, KeepsEveryByteAtEverySize) {
  for (const std::size_t size : {0u, 1u, 4095u, 4096u, 1u << 20, (1u << 20) + 1, (4u << 20) - 7,
                                 (4u << 20), (9u << 20) + 12345}) {
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>((i * 2654435761u) >> 13);
    write_file_atomic(folder / "file", bytes);
    EXPECT_TRUE(read_text_file(folder / "file") == bytes) << size;
    EXPECT_FALSE(fs::exists(folder / "file.part"));
  }
}

TEST_F(AtomicFile, AFaultLeavesTheOldFile) {
  write_file_atomic(folder / "file", "old");
  fs::create_directory(folder / "file.part");  // in the way
  EXPECT_THROW(write_file_atomic(folder / "file", std::string(2 << 20, 'x')), Error);
  EXPECT_EQ(read_text_file(folder / "file"), "old");
}

TEST_F(AtomicFile, AFolderIsNotAFile) {
  EXPECT_THROW(read_text_file(folder), Error);
}

TEST_F(AtomicFile, OneLockAtATime) {
  EXPECT_FALSE(FolderLock::is_held(folder));
  {
    const FolderLock lock(folder);
    EXPECT_TRUE(FolderLock::is_held(folder));
    EXPECT_THROW(FolderLock again(folder), Error);
  }
  EXPECT_FALSE(FolderLock::is_held(folder));
}

}  // namespace
}  // namespace barchan
