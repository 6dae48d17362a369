// Case files: all that ship can be read, and what is wrong with a file is said with its place.
#include "harness/case_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

#include "base/atomic_file.h"
#include "base/error.h"
#include "harness/figures.h"

namespace barchan {
namespace {

namespace fs = std::filesystem;

const std::string kScene = "scene = \"spinning-drop\"\n";
const std::string kCheck = "[[check]]\nname = \"c\"\nvalue = \"ledger.leaks\"\nat_most = 0\n";
const std::string kControl = "[[control]]\nname = \"k\"\nset = [\"duration=1\"]\n";

std::string fault(const std::string& text) {
  const fs::path file =
      fs::temp_directory_path() / ("barchan-case-" + std::to_string(::getpid()) + ".toml");
  write_file_atomic(file, text);
  std::string message = "no fault";
  try {
    read_case(file, file.parent_path());
  } catch (const Error& error) {
    message = std::string(error.what()).substr(file.string().size());
  }
  fs::remove(file);
  return message;
}

TEST(CaseFileTest, AllThatShipCanBeRead) {
  const auto files = case_files();
  EXPECT_GE(files.size(), 10u);
  for (const auto& [id, path] : files) {
    SCOPED_TRACE(id);
    const ValidationCase one = read_case(path, validation_folder());
    EXPECT_EQ(one.id, id);
    EXPECT_FALSE(one.title.empty());
  }
}

TEST(CaseFileTest, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(fault(kScene + kCheck + kControl), "no fault");
  EXPECT_EQ(fault(kCheck + kControl), ":1:1: the case needs a scene: [scene] or scene = \"NAME\"");
  EXPECT_EQ(fault(kScene + kControl), ":1:1: the case checks nothing: add a [[check]]");
  EXPECT_EQ(fault(kScene + kCheck),
            ":1:1: the case has no [[control]]: a gate that nothing fails is worthless");
  EXPECT_EQ(fault("titel = \"x\"\n" + kScene + kCheck + kControl),
            ":1:1: unknown key 'titel' in the case; did you mean 'title'?");
  EXPECT_EQ(
      fault(kScene + "[[check]]\nname = \"c\"\nvalue = \"ledger.leeks\"\nat_most = 0\n" + kControl),
      ":4:9: character 1 of \"ledger.leeks\": ledger.csv has no column 'leeks'; did you mean "
      "'leaks'?");
  EXPECT_EQ(fault(kScene + kCheck + "[[control]]\nname = \"k\"\n"),
            ":6:1: [[control]] 'k' changes nothing: give set = [..]");
  EXPECT_EQ(fault(kScene + kCheck + kControl + "fails = [\"d\"]\n"),
            ":6:1: [[control]] 'k': no check is called 'd'");
  EXPECT_EQ(fault(kScene + "set = [1]\n" + kCheck + kControl),
            ":2:8: 'set' in the case must be a list of texts, but one of them is the number 1");
  EXPECT_EQ(
      fault(kScene + kCheck + kControl + "[constants]\na = \"elephants\"\n"),
      ":10:5: character 1 of \"elephants\": nothing is called 'elephants'; there are columns of "
      "ledger.csv, and body.NAME.COLUMN, particles.QUANTITY.STATISTIC and others "
      "(docs/validation.md)");
}

TEST(CaseFileTest, ConstantsAndVariantsAreKnownNames) {
  EXPECT_EQ(fault(kScene +
                  "[constants]\na = 2\nb = \"2*a\"\n[[variant]]\nname = \"fine\"\n"
                  "set = [\"fps=48\"]\n[[check]]\nname = \"c\"\nvalue = \"fine.ledger.leaks\"\n"
                  "at_most = \"b\"\n" +
                  kControl),
            "no fault");
  EXPECT_NE(fault(kScene + "[[check]]\nname = \"c\"\nvalue = \"fine.ledger.leaks\"\nat_most = 0\n" +
                  kControl),
            "no fault");
}

TEST(FiguresTest, EachIdStandsOnceAndPaperScenesAreAmongThem) {
  std::set<std::string> ids;
  for (const Figure& figure : figures()) EXPECT_TRUE(ids.insert(figure.id).second) << figure.id;
  EXPECT_EQ(ids.size(), 26u);
  for (const ShippedScene& scene : shipped_scenes()) {
    if (scene.path.string().find("/papers/") != std::string::npos) {
      EXPECT_TRUE(ids.contains(scene.name)) << scene.name;
    }
  }
  EXPECT_THROW(find_figure("zb05/column-sant"), Error);
}

}  // namespace
}  // namespace barchan
