#include "base/atomic_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "base/error.h"

namespace barchan {
namespace {

namespace fs = std::filesystem;

class AtomicFileTest : public testing::Test {
 protected:
  AtomicFileTest()
      : folder(fs::temp_directory_path() / ("barchan-atomic-" + std::to_string(::getpid()))) {
    fs::create_directories(folder);
  }
  ~AtomicFileTest() override { fs::remove_all(folder); }
  fs::path folder;
};

// Small files go through the page cache, large ones past it, in pieces that need not divide them.
TEST_F(AtomicFileTest, KeepsEveryByteAtEverySize) {
  for (const std::size_t size : {0u, 1u, 4095u, 4096u, 1u << 20, (1u << 20) + 1, (4u << 20) - 7,
                                 (4u << 20), (9u << 20) + 12345}) {
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>((i * 2654435761u) >> 13);
    write_file_atomic(folder / "file", bytes);
    EXPECT_TRUE(read_text_file(folder / "file") == bytes) << size;
    EXPECT_FALSE(fs::exists(folder / "file.part"));
  }
}

TEST_F(AtomicFileTest, AFaultLeavesTheOldFile) {
  write_file_atomic(folder / "file", "old");
  fs::create_directory(folder / "file.part");  // in the way
  EXPECT_THROW(write_file_atomic(folder / "file", std::string(2 << 20, 'x')), Error);
  EXPECT_EQ(read_text_file(folder / "file"), "old");
}

TEST_F(AtomicFileTest, PiecesAreAFileOnlyWhenCommitted) {
  const std::string large((3u << 20) + 17, 'x');
  write_file_atomic(folder / "file", "old");
  ScratchFile aside(folder);
  aside.append(large);
  aside.append("end");
  {
    AtomicFile given_up(folder / "file");
    given_up.append("half");
  }
  EXPECT_EQ(read_text_file(folder / "file"), "old");
  {
    AtomicFile file(folder / "file");
    file.append("begin");
    file.append(aside);
    file.append(aside);  // reading it does not use it up
    file.commit();
  }
  EXPECT_TRUE(read_text_file(folder / "file") == "begin" + large + "end" + large + "end");
  // Nothing else is in the folder: neither parts nor what was put aside
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
  EXPECT_THROW(AtomicFile(folder / "nowhere" / "file"), Error);
  EXPECT_THROW(ScratchFile(folder / "nowhere"), Error);
}

TEST_F(AtomicFileTest, AFolderIsNotAFile) {
  EXPECT_THROW(read_text_file(folder), Error);
}

TEST_F(AtomicFileTest, OneLockAtATime) {
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
