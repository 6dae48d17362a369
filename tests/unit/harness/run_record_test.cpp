// Names of the expression language against files made by hand.
#include "harness/run_record.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/atomic_file.h"
#include "base/error.h"

namespace barchan {
namespace {

namespace fs = std::filesystem;

class RunRecordTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("barchan-record-" + std::to_string(::getpid()));
    fs::create_directories(folder_ / "probes");
    write_file_atomic(folder_ / "ledger.csv", std::string(kLedgerHeader) +
                                                  "\n0,0,0,10,2,,0,0,0,0,5,0,,,,,0,0,\n"
                                                  "1,0.5,4,10,2,,0,0,0,1,4,1,,,,,0,0,0.25\n"
                                                  "2,1,4,10,2,,0,0,0,,3,2,,,,,0,0,0.5\n");
    write_file_atomic(folder_ / "bodies.csv",
                      std::string(kBodiesHeader) +
                          "\n0,0,left-wall,0,0,0,1,0,0,0,0,0,0,0,0,0,,,,,,\n"
                          "0,0,ball,0,1,0,1,0,0,0,0,0,0,0,0,3,,,,,,\n"
                          "1,0.5,left-wall,0,0,0,1,0,0,0,0,0,0,0,0,0,7,0,0,0,0,0\n"
                          "1,0.5,ball,0,2,0,1,0,0,0,0,0,0,0,0,3,0,0,0,0,0,0\n");
    write_file_atomic(folder_ / "probes" / "gate.csv", "frame,time,value\n0,0,3\n1,0.5,4\n");
    write_file_atomic(folder_ / "run.json",
                      "{\"frames\": 3, \"solver\": \"ballistic\", \"timings\": {\"fly\": 1.5},"
                      " \"bodies\": {\"ball\": {\"mass\": 2, \"center\": [0, 1, 0],"
                      " \"inertia\": [[1, 0.5, 0], [0.5, 2, 0], [0, 0, 3]]}}}");
  }
  void TearDown() override { fs::remove_all(folder_); }

  Value value(const Name& name) const { return RunRecord(folder_).value(name); }
  Series series(const Name& name) const { return std::get<Series>(value(name)); }
  double number(const Name& name) const { return std::get<double>(value(name)); }
  std::string fault(const Name& name) const {
    try {
      value(name);
    } catch (const Error& error) {
      return error.what();
    }
    return "no fault";
  }

  fs::path folder_;
};

TEST_F(RunRecordTest, Columns) {
  EXPECT_EQ(series({"t"}).value, (std::vector<double>{0, 0.5, 1}));
  EXPECT_EQ(series({"ledger", "max_speed"}).value, (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(series({"probe", "gate"}).value, (std::vector<double>{3, 4}));
  EXPECT_EQ(series({"body", "ball", "position_y"}).value, (std::vector<double>{1, 2}));
  EXPECT_EQ(series({"body", "ball", "center_y"}).value, (std::vector<double>{1, 2}));
  EXPECT_EQ(series({"body", "ball", "angular_momentum_z"}).value, (std::vector<double>{9, 9}));
  EXPECT_EQ(RunRecord(folder_).bodies(), (std::vector<std::string>{"left-wall", "ball"}));
}

TEST_F(RunRecordTest, TheFirstRowMayBeEmptyOthersAreNotSkipped) {
  EXPECT_EQ(series({"body", "left-wall", "force_x"}).time, (std::vector<double>{0.5}));
  EXPECT_EQ(series({"ledger", "ms_per_step"}).value, (std::vector<double>{0.25, 0.5}));
  EXPECT_TRUE(std::isnan(series({"ledger", "kinetic_energy"}).value[2]));
}

TEST_F(RunRecordTest, RunJson) {
  EXPECT_EQ(number({"run", "frames"}), 3.0);
  EXPECT_EQ(number({"run", "timings", "fly"}), 1.5);
  EXPECT_EQ(number({"run", "bodies", "ball", "center_y"}), 1.0);
  EXPECT_EQ(number({"run", "bodies", "ball", "inertia_yx"}), 0.5);
  EXPECT_EQ(number({"run", "bodies", "ball", "inertia_zz"}), 3.0);
}

TEST_F(RunRecordTest, FaultsNameTheNearest) {
  EXPECT_EQ(fault({"ledger", "max_sped"}),
            "ledger.csv has no column 'max_sped'; did you mean 'max_speed'?");
  EXPECT_EQ(fault({"ledgr", "max_speed"}),
            "nothing is called 'ledgr.max_speed'; did you mean 'ledger'?");
  EXPECT_EQ(fault({"ledger", "volume"}),
            "the column 'volume' of ledger.csv is empty: this solver does not measure it");
  EXPECT_EQ(fault({"body", "bal", "force_x"}), "there is no body 'bal'; did you mean 'ball'?");
  EXPECT_EQ(fault({"body", "ball", "position"}).substr(0, 36),
            "bodies.csv has no column 'position';");
  EXPECT_EQ(fault({"body", "left-wall", "center_x"}),
            "run.json holds no mass properties of the body 'left-wall'; is its motion "
            "\"dynamic\"?");
  EXPECT_EQ(fault({"probe", "gat"}), "there is no probe 'gat'; did you mean 'gate'?");
  EXPECT_EQ(fault({"run", "frame"}), "run.json has no 'run.frame'; did you mean 'frames'?");
  EXPECT_EQ(fault({"run", "solver"}), "'run.solver' is not a number");
  EXPECT_EQ(fault({"run", "bodies", "ball", "center_w"}).substr(0, 42),
            "run.json has no 'run.bodies.ball.center_w'");
  EXPECT_EQ(fault({"particles", "y", "p101"}),
            "'p101' is no statistic; there are min, max, mean and percentiles such as p50 and "
            "p99_5");
  EXPECT_EQ(fault({"pile", "x", "angel"}), "a pile has no column 'angel'; did you mean 'angle'?");
  EXPECT_EQ(fault({"pile", "w", "angle"}),
            "'pile.w.angle': a pile is measured along x, y, z, '-x', '-y', '-z' or r");
  EXPECT_EQ(fault({"particles", "y"}), "'particles.y' should read particles.QUANTITY.STATISTIC");
}

TEST_F(RunRecordTest, AFolderWithoutARunIsRefused) {
  EXPECT_THROW(RunRecord(folder_ / "probes"), Error);
}

}  // namespace
}  // namespace barchan
