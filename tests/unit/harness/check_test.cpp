// Verdicts: what passes, what fails, and that nothing passes for want of numbers.
#include "harness/check.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace barchan {
namespace {

Check check_of(const std::string& text) {
  const Node document = parse_toml("[[check]]\nname = \"c\"\n" + text, "case.toml");
  return read_check(document.members.at(0).value.items.at(0));
}

// y = t^2 / 10 at 0, 0.1 .. 1 s.
Value value_of(const Name& name) {
  Series series;
  for (int i = 0; i <= 10; ++i) {
    const double t = 0.1 * i;
    series.time.push_back(t);
    series.value.push_back(joined(name) == "t" ? t : 0.1 * t * t);
  }
  if (joined(name) == "hole") series.value[4] = std::nan("");
  return series;
}

bool passes(const std::string& text) {
  return judge(check_of(text), value_of).passed;
}

std::string fault(const std::string& text) {
  try {
    check_of(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "no fault";
}

TEST(CheckTest, Numbers) {
  EXPECT_TRUE(passes("value = \"last(y)\"\nexpected = 0.1\ntolerance = 1e-9"));
  EXPECT_TRUE(passes("value = 102\nexpected = 100\ntolerance = \"2 %\""));
  EXPECT_FALSE(passes("value = 102.1\nexpected = 100\ntolerance = \"2 %\""));
  EXPECT_TRUE(passes("value = -98\nexpected = -100\ntolerance = \"1 + 1 %\""));
  EXPECT_FALSE(passes("value = \"log(-1)\"\nexpected = 0\ntolerance = 1e9"));
}

TEST(CheckTest, SeriesAgainstAClosedForm) {
  EXPECT_TRUE(passes("value = \"y\"\nexpected = \"t^2/10\"\ntolerance = 1e-12"));
  EXPECT_FALSE(passes("value = \"y\"\nexpected = \"t^2/10 + 0.01*t\"\ntolerance = 0.009"));
  EXPECT_TRUE(passes("value = \"y\"\nexpected = \"t^2/10 + 0.01*t\"\ntolerance = 0.009\nto = 0.8"));
  // The rms of 0.01 t over the rows is 0.0059.
  EXPECT_TRUE(
      passes("value = \"y\"\nexpected = \"t^2/10 + 0.01*t\"\ntolerance = 0.006\nerror = \"rms\""));
  EXPECT_TRUE(passes("value = \"y\"\nexpected = 0\ntolerance = 0.1"));
  EXPECT_FALSE(passes("value = \"hole\"\nexpected = \"t^2/10\"\ntolerance = 1"));
  EXPECT_FALSE(passes("value = \"y\"\nexpected = \"t\"\ntolerance = 9\nfrom = 5"));  // no rows
}

TEST(CheckTest, Bounds) {
  EXPECT_TRUE(passes("value = \"y\"\nat_least = 0\nat_most = 0.1"));
  EXPECT_FALSE(passes("value = \"y\"\nat_most = 0.099"));
  EXPECT_FALSE(passes("value = \"y\"\nat_least = 0.001"));
  EXPECT_TRUE(passes("value = \"y\"\nat_most = 0.05\nto = 0.7"));
  EXPECT_FALSE(passes("value = \"hole\"\nat_most = 1"));
  EXPECT_FALSE(passes("value = \"y\"\nat_most = 1\nfrom = 5"));
  EXPECT_TRUE(passes("value = 3\nat_least = \"2 + 1\""));
}

TEST(CheckTest, PublishedTableWithAFreeShift) {
  // y in units of 0.5 s and moved by 0.1 of them: rows (T, y(T / 2 + 0.05 s)).
  const std::string table =
      "value = \"y\"\ntime_unit = 0.5\ntolerance = 1e-4\n"
      "table = [[0.3, 0.004], [0.9, 0.025], [1.5, 0.064]]\n";
  EXPECT_FALSE(passes(table));
  EXPECT_TRUE(passes(table + "shift = 0.2"));
  EXPECT_FALSE(passes(table + "shift = 0.05"));
  // A row that the run does not reach is no match.
  EXPECT_FALSE(passes("value = \"y\"\ntolerance = 1\ntable = [[0.5, 0.025], [1.5, 0.225]]"));
  EXPECT_TRUE(
      passes("value = \"y\"\ntolerance = 1e-9\ntable = [[0.5, 0.025], [1.5, 0.225]]\nto = 1"));
}

TEST(CheckTest, SaysWhatIsMissing) {
  EXPECT_EQ(fault("value = 1\nexpected = 1"),
            "case.toml:1:1: [[check]] 'c' needs a tolerance, such as 0.01 or \"2 %\"");
  EXPECT_EQ(fault("value = 1"),
            "case.toml:1:1: [[check]] 'c' needs one of: expected, table, or the bounds at_least "
            "and at_most");
  EXPECT_EQ(fault("value = 1\nat_most = 1\ntolerance = 1"),
            "case.toml:1:1: [[check]] 'c': a bound has no tolerance");
  EXPECT_EQ(fault("expected = 1\ntolerance = 1"), "case.toml:1:1: [[check]] needs 'value'");
  EXPECT_EQ(fault("value = 1\nexpectd = 1"),
            "case.toml:4:1: unknown key 'expectd' in [[check]]; did you mean 'expected'?");
  EXPECT_EQ(fault("value = \"1 +\"\nat_most = 1"),
            "case.toml:3:9: character 4 of \"1 +\": something is missing at the end");
  EXPECT_EQ(fault("value = 1\ntolerance = 1\ntable = [[1, 2, 3]]"),
            "case.toml:5:10: a row of 'table' must be [time, value], not a list of 3 values");
}

}  // namespace
}  // namespace barchan
