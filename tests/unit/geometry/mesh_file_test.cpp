// Mesh files: the same body in every format, polygons cut right, files that were written read back
// to the bit, and a message for every way a file can be wrong.
#include "geometry/mesh_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "geometry/mesh_mend.h"
#include "geometry/mesh_orient.h"
#include "geometry/stand_ins.h"
#include "meshes.h"

namespace barchan {
namespace {

namespace fs = std::filesystem;

class MeshFile : public ::testing::Test {
 protected:
  MeshFile() : folder_(fs::temp_directory_path() / "barchan_mesh_file_test") {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~MeshFile() override { fs::remove_all(folder_); }

  fs::path folder_;
};

std::string message_of(const std::string& text, MeshFormat format) {
  try {
    read_mesh_text(text, "m", format);
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::input);
    return error.what();
  }
  return "accepted";
}

// ---- what is read

TEST_F(MeshFile, WrittenMeshesReadBackToTheBit) {
  const Mesh mesh = stock_mesh("torus");
  write_ply(mesh, folder_ / "torus.ply");
  write_obj(mesh, folder_ / "torus.OBJ");
  for (const char* name : {"torus.ply", "torus.OBJ"}) {
    const Mesh read = read_mesh(folder_ / name);
    EXPECT_TRUE(read.vertices == mesh.vertices) << name;
    EXPECT_TRUE(read.triangles == mesh.triangles) << name;
  }
}

TEST(MeshText, ObjCornersInAllWritings) {
  const Mesh mesh = read_mesh_text(
      "# a tetrahedron\r\nmtllib x.mtl\r\no thing\r\nv 0 0 0 1.0\r\nv +1 0 0 0.5 0.5 0.5\r\n"
      "v 0 1e0 \\\r\n 0\r\nvt 0 0\r\nvn 0 0 1\r\nf 1/1/1 3//1 2/1\r\nf 1 2 4\r\n"
      "v 0 0 1\r\nf -3 -2 -1 # the last one\r\nf 3 1 4\r\n",
      "m", MeshFormat::obj);
  ASSERT_EQ(mesh.vertices.size(), 4u);
  ASSERT_EQ(mesh.triangles.size(), 4u);
  EXPECT_EQ(mesh.triangles[0], (Triangle{0, 2, 1}));
  EXPECT_EQ(mesh.triangles[1], (Triangle{0, 1, 3}));  // names a vertex that comes later
  EXPECT_EQ(mesh.triangles[2], (Triangle{1, 2, 3}));
  EXPECT_NEAR(signed_volume(mesh), 1.0 / 6.0, 1e-15);
}

TEST(MeshText, PolygonsAreFansAndQuadranglesAreCutInside) {
  const auto triangles = [](const std::string& text) {
    return read_mesh_text(text, "m", MeshFormat::obj).triangles;
  };
  // The shorter diagonal.
  EXPECT_EQ(triangles("v 0 0 0\nv 2 -1 0\nv 4 0 0\nv 2 1 0\nf 1 2 3 4\n")[0], (Triangle{0, 1, 3}));
  EXPECT_EQ(triangles("v 0 0 0\nv 2 -3 0\nv 4 0 0\nv 2 3 0\nf 1 2 3 4\n")[0], (Triangle{0, 1, 2}));
  // An arrowhead with its notch at corner 4: the diagonal from there, though it is longer.
  EXPECT_EQ(triangles("v -1 0 0\nv 0 9 0\nv 1 0 0\nv 0 1 0\nf 1 2 3 4\n")[0], (Triangle{0, 1, 3}));
  EXPECT_EQ(triangles("v 0 0 0\nv 1 0 0\nv 2 1 0\nv 1 2 0\nv 0 2 0\nf 1 2 3 4 5\n").size(), 3u);
}

TEST(MeshText, PlyPassesOverWhatItDoesNotKnow) {
  const Mesh mesh = read_mesh_text(
      "ply\nformat ascii 1.0\ncomment made by hand\nelement camera 1\nproperty list uchar float k\n"
      "property int id\nelement face 4\nproperty uchar red\nproperty list int short vertex_index\n"
      "element vertex 4\nproperty double z\nproperty short x\nproperty uchar y\nproperty float s\n"
      "end_header\n2 0.5 0.5 7\n9 3 0 2 1\n9 3 0 1 3\n\n9 3 1 2 3\n9 3 2 0 3\n"
      "0 0 0 5\n0 1 0 5\n0 0 1 5\n1.0 0 0 5",
      "m", MeshFormat::ply);
  EXPECT_NEAR(signed_volume(mesh), 1.0 / 6.0, 1e-15);
}

TEST(MeshText, CubeHasItsVolumeInEveryFormat) {
  const fs::path data = fs::path(BARCHAN_TEST_DATA) / "data" / "broken_meshes";
  for (const char* name : {"ok_text.ply", "ok_little_endian.ply", "ok_big_endian.ply",
                           "ok_text.stl", "ok_binary.stl", "ok_binary_that_says_solid.stl"}) {
    EXPECT_NEAR(signed_volume(mend(read_mesh(data / name), name).mesh), 1.0 / 6.0, 1e-15) << name;
  }
}

// ---- what is not

TEST_F(MeshFile, MissingFilesAndFoldersAreNamed) {
  fs::create_directories(folder_ / "folder.obj");
  for (const char* name : {"none.obj", "folder.obj"}) {
    try {
      read_mesh(folder_ / name);
      FAIL() << name << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::input);
      EXPECT_TRUE(std::string(error.what()).starts_with((folder_ / name).string() + ": "));
    }
  }
}

TEST(MeshText, HeadersPromiseNoMoreThanTheFileHolds) {
  // Each of these would ask for gigabytes if the count were believed.
  const std::string begin = "ply\nformat binary_little_endian 1.0\nelement vertex ";
  const std::string xyz = "\nproperty double x\nproperty double y\nproperty double z\n";
  const std::string faces = "\nproperty list uchar int vertex_indices\nend_header\n";
  EXPECT_NE(message_of(begin + "2000000000" + xyz + "element face 1" + faces, MeshFormat::ply)
                .find("take 48000000000 bytes or more, but 0 follow"),
            std::string::npos);
  EXPECT_NE(message_of(begin + "0" + xyz + "element face 2000000000" + faces, MeshFormat::ply)
                .find("2000000000 of element 'face'"),
            std::string::npos);
  EXPECT_NE(
      message_of(begin + "9223372036854775807" + xyz + "element face 1" + faces, MeshFormat::ply)
          .find("at most 2147483647"),
      std::string::npos);
}

// Every file of broken_meshes is in expected.txt as "file<TAB>outcome": the message without the
// path that it begins with, or "ok" and the notes, again without it.
std::map<std::string, std::string> expected_outcomes() {
  std::istringstream lines(
      read_text_file(fs::path(BARCHAN_TEST_DATA) / "data" / "broken_meshes" / "expected.txt"));
  std::map<std::string, std::string> outcomes;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t tab = line.find('\t');
    outcomes[line.substr(0, tab)] = line.substr(tab + 1);
  }
  return outcomes;
}

std::string outcome(const fs::path& file) {
  const std::string path = file.string();
  const auto without_path = [&](const std::string& text) {
    return text.starts_with(path) ? text.substr(path.size()) : text;
  };
  try {
    const Mended mended = mend(read_mesh(file), path);
    EXPECT_TRUE(testing::is_closed(mended.mesh)) << path;
    EXPECT_GT(signed_volume(mended.mesh), 0.0) << path;
    std::string text = "ok";
    for (const std::string& note : mended.notes) {
      text += (text == "ok" ? "" : " |") + without_path(note);
    }
    return text;
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::input);
    return without_path(error.what());
  }
}

TEST(BrokenMeshes, EachHasItsOutcome) {
  std::map<std::string, std::string> expected = expected_outcomes();
  EXPECT_GE(expected.size(), 80u);
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::path(BARCHAN_TEST_DATA) / "data" / "broken_meshes")) {
    const std::string name = entry.path().filename().string();
    if (name == "expected.txt") continue;
    EXPECT_EQ(outcome(entry.path()), expected[name]) << name;
    expected.erase(name);
  }
  for (const auto& [name, message] : expected)
    ADD_FAILURE() << name << " is not there: " << message;
}

}  // namespace
}  // namespace barchan
