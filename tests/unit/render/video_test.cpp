// Videos through ffmpeg.
#include "render/video.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "barchan/error.h"
#include "render/image.h"

namespace barchan {
namespace {

namespace fs = std::filesystem;

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  ::pclose(pipe);
  return text;
}

bool have_ffmpeg() {
  return std::system("ffmpeg -version > /dev/null 2>&1 && ffprobe -version > /dev/null 2>&1") == 0;
}

class VideoTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // A name that a shell or ffmpeg's own syntax would trip over
    folder_ = fs::temp_directory_path() / ("barchan 'video' 100%d " + std::to_string(::getpid()));
    fs::create_directories(folder_);
    for (int i = 0; i < 5; ++i) {
      Image image(65, 49);
      for (std::uint8_t& byte : image.rgb) byte = static_cast<std::uint8_t>(50 * i);
      images_.push_back(folder_ / ("frame_" + std::to_string(i) + ".png"));
      write_png(images_.back(), image);
    }
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string probe(const fs::path& video, const std::string& entries) const {
    const fs::path plain = fs::temp_directory_path() / ("probe" + std::to_string(::getpid()));
    fs::copy_file(video, plain, fs::copy_options::overwrite_existing);
    const std::string text = output_of(
        "ffprobe -v error -count_frames -select_streams v:0 -of csv=p=0 -show_entries stream=" +
        entries + " " + plain.string());
    fs::remove(plain);
    return text;
  }

  fs::path folder_;
  std::vector<fs::path> images_;
};

TEST_F(VideoTest, HasAllPicturesAtTheRate) {
  if (!have_ffmpeg()) GTEST_SKIP() << "ffmpeg is not installed";
  const fs::path out = folder_ / "video.mp4";
  encode_video(images_, 24.0, out);
  EXPECT_EQ(probe(out, "codec_name,width,height,pix_fmt,r_frame_rate,nb_read_frames"),
            "h264,66,50,yuv420p,24/1,5\n");
  int files = 0;
  for (const auto& entry : fs::directory_iterator(folder_)) files += entry.is_regular_file();
  EXPECT_EQ(files, 6);               // nothing left lying about
  encode_video(images_, 30.0, out);  // and again, over it
  EXPECT_EQ(probe(out, "r_frame_rate,nb_read_frames"), "30/1,5\n");
}

TEST_F(VideoTest, TakesAnyRate) {
  if (!have_ffmpeg()) GTEST_SKIP() << "ffmpeg is not installed";
  const fs::path out = folder_ / "video.mp4";
  encode_video(images_, 0.5, out);
  EXPECT_EQ(probe(out, "r_frame_rate,nb_read_frames"), "1/2,5\n");
  encode_video(images_, 240.0, out);
  EXPECT_EQ(probe(out, "r_frame_rate,nb_read_frames"), "240/1,5\n");
  encode_video(images_, 12.5, out);
  EXPECT_EQ(probe(out, "r_frame_rate,nb_read_frames"), "25/2,5\n");
}

TEST_F(VideoTest, SaysWhatIsWrong) {
  const fs::path out = folder_ / "video.mp4";
  EXPECT_THROW(encode_video({}, 24.0, out), Error);
  EXPECT_THROW(encode_video(images_, 0.0, out), Error);
  std::vector<fs::path> missing = images_;
  missing.push_back(folder_ / "gone.png");
  EXPECT_THROW(encode_video(missing, 24.0, out), Error);
  if (!have_ffmpeg()) GTEST_SKIP() << "ffmpeg is not installed";
  // ffmpeg itself fails: the message carries its last line, no half video is left
  try {
    std::FILE* file = std::fopen(images_[0].c_str(), "wb");
    std::fputs("no picture", file);
    std::fclose(file);
    encode_video({images_[0]}, 24.0, out);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("ffmpeg failed: "), std::string::npos) << error.what();
  }
  EXPECT_FALSE(fs::exists(out));
  EXPECT_FALSE(fs::exists(out.string() + ".part"));
}

TEST_F(VideoTest, SaysHowToGetFfmpeg) {
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", folder_.c_str(), 1);
  std::string message;
  try {
    encode_video(images_, 24.0, folder_ / "video.mp4");
  } catch (const Error& error) {
    message = error.what();
  }
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_NE(message.find("apt install ffmpeg"), std::string::npos) << message;
}

}  // namespace
}  // namespace barchan
