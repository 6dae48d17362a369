#include "cache/ledger.h"

#include <sys/resource.h>

#include <cmath>
#include <csignal>

#include "cache_fixture.h"

namespace barchan::test {
namespace {

using Ledger = CacheTest;

TEST_F(Ledger, RowsReadBackExactly) {
  LedgerRow row = make_row(2);
  row.mass = 0.1 + 0.2;
  row.momentum = {1e-300, -0.0, 5e300};
  row.density_error_mean = -0.125;  // a mean may be negative
  row.density_error_max = std::nan("");
  row.divergence_max = std::nan("");
  row.iterations_mean = -1;
  row.leaks = -1;
  row.retries = 4;
  {
    CsvFile file(folder / "ledger.csv", kLedgerHeader, {});
    file.append(ledger_row(make_row(1)));
    file.append(ledger_row(row));
    file.sync();
  }
  const Table table = read_csv(folder / "ledger.csv");
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(table.header.size(), 19u);
  EXPECT_EQ(table.column("frame")[1], 2.0);
  EXPECT_EQ(table.column("time")[1], 2.0 / 24.0);
  EXPECT_EQ(table.column("mass")[1], 0.1 + 0.2);
  EXPECT_EQ(table.column("momentum_x")[1], 1e-300);
  EXPECT_EQ(table.column("momentum_z")[1], 5e300);
  EXPECT_EQ(table.column("density_error_mean")[1], -0.125);
  for (const char* name : {"density_error_max", "divergence_max", "iterations_mean", "leaks"}) {
    EXPECT_TRUE(std::isnan(table.column(name)[1])) << name;
  }
  EXPECT_EQ(table.column("retries")[1], 4.0);
  EXPECT_NE(error_of([&] { table.column("nothing"); }), "");
}

TEST_F(Ledger, ForcesAreImpulsesOverTheFrame) {
  const Frame frame = make_frame(1, 2);
  const std::string first = bodies_rows(frame, 0.0);
  EXPECT_TRUE(contains(first, ",,,,,,\n"));
  put(folder / "bodies.csv", std::string(kBodiesHeader) + "\n" + bodies_rows(frame, 0.25));
  const Table table = read_csv(folder / "bodies.csv");
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(table.names, (std::vector<std::string>{"tank", "ball-1"}));
  EXPECT_EQ(table.column("orientation_w")[0], 1.0);
  EXPECT_EQ(table.column("orientation_y")[1], -0.5);
  EXPECT_EQ(table.column("force_y")[1], -4.0);
  EXPECT_EQ(table.column("torque_x")[1], 0.5);
}

TEST_F(Ledger, GoingOnCutsLaterRowsAndHalfRows) {
  const fs::path path = folder / "p.csv";
  put(path, "frame,time,value\n0,0,1\n1,0.1,\n2,0.2,3\n3,0.3,4\n4,0.4");
  {
    CsvFile file(path, kProbeHeader, 2);
    file.append(probe_row(3, 0.3, 9.0));
  }
  EXPECT_EQ(read_text_file(path), "frame,time,value\n0,0,1\n1,0.1,\n2,0.2,3\n3,0.3,9\n");
  { const CsvFile again(path, kProbeHeader, -1); }
  EXPECT_EQ(read_text_file(path), "frame,time,value\n");
  { const CsvFile made(folder / "new.csv", kProbeHeader, 5); }
  EXPECT_EQ(read_text_file(folder / "new.csv"), "frame,time,value\n");
  put(path, "frame,ti");  // killed while the header was written, by some other means than ours
  { const CsvFile mended(path, kProbeHeader, 5); }
  EXPECT_EQ(read_text_file(path), "frame,time,value\n");
  put(path, "frame,value\n0,1\n");
  EXPECT_TRUE(contains(error_of([&] { CsvFile(path, kProbeHeader, 5); }), "cannot go on with"));
  put(path, "frame,time,value\n0,0,1\n1,rubbish\n2,0.2,3\n");
  { const CsvFile mended(path, kProbeHeader, 5); }
  EXPECT_EQ(read_text_file(path), "frame,time,value\n0,0,1\n2,0.2,3\n");
}

TEST_F(Ledger, BrokenTablesAreRefused) {
  const fs::path path = folder / "t.csv";
  const auto said = [&](const std::string& text) {
    put(path, text);
    return error_of([&] { read_csv(path); });
  };
  EXPECT_TRUE(contains(said(""), "no header"));
  EXPECT_TRUE(contains(said("\n"), "no header"));
  EXPECT_TRUE(contains(said("a,b\n1,2\n1\n"), "t.csv:3: 1 fields"));
  EXPECT_TRUE(contains(said("a,b\n1,2\n1,2,3\n"), "t.csv:3: 3 fields"));
  EXPECT_TRUE(contains(said("a,b\n1,2x\n"), "'2x' in column 'b'"));
  EXPECT_EQ(said("a,b\r\n1,2\r\n"), "");
  EXPECT_EQ(said("a,b\n1,inf\n"), "");
  EXPECT_EQ(said("a,b\n"), "");
  EXPECT_NE(error_of([&] { read_csv(folder / "none.csv"); }), "");
}

// A limit on the file's size stands for a full disk: the write is cut short, then refused.
TEST_F(Ledger, ARowThatDoesNotFitIsTakenBack) {
  CsvFile file(folder / "p.csv", kProbeHeader, {});
  file.append(probe_row(0, 0, 1));
  const std::string before = read_text_file(folder / "p.csv");
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{before.size() + 5, old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string said = error_of([&] { file.append(probe_row(1, 0.123456789, 0.123456789)); });
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(contains(said, "cannot write")) << said;
  EXPECT_EQ(read_text_file(folder / "p.csv"), before);
  file.append(probe_row(1, 1, 1));
  EXPECT_EQ(read_csv(folder / "p.csv").rows(), 2u);
}

}  // namespace
}  // namespace barchan::test
