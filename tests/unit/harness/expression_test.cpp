// The expression language: grammar, functions, and where faults are said to be.
#include "harness/expression.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/units.h"

namespace barchan {
namespace {

// x = t^2 at 0, 1, 2, 3 s; fine is 2 t in steps of a quarter second.
Value value_of(const Name& name) {
  if (joined(name) == "x") return Series{{0, 1, 2, 3}, {0, 1, 4, 9}};
  if (joined(name) == "wave") return Series{{0, 1, 2, 3}, {-1, 1, -1, -1}};
  if (joined(name) == "gap") return Series{{0, 1, 2}, {1, std::nan(""), 2}};
  if (joined(name) == "g") return 9.81;
  if (joined(name) == "body.left-wall.force_x") return 7.0;
  if (joined(name) == "fine") {
    Series series;
    for (int i = 0; i <= 8; ++i) {
      series.time.push_back(0.25 * i);
      series.value.push_back(0.5 * i);
    }
    return series;
  }
  reject("nothing is called '{}'", joined(name));
}

const Source kPlace{"fall.toml", 12, 9};

double number(const std::string& text) {
  return Expression(text, kPlace).number(value_of);
}

Series series(const std::string& text) {
  return std::get<Series>(Expression(text, kPlace).evaluate(value_of));
}

std::string fault(const std::string& text) {
  try {
    Expression(text, kPlace).evaluate(value_of);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), 2);
    return error.what();
  }
  return "no fault";
}

TEST(ExpressionTest, Arithmetic) {
  EXPECT_DOUBLE_EQ(number("1 + 2*3 - 4/8"), 6.5);
  EXPECT_DOUBLE_EQ(number("10 - 4 - 3"), 3.0);  // from the left
  EXPECT_DOUBLE_EQ(number("16/4/2"), 2.0);
  EXPECT_DOUBLE_EQ(number("-2^2"), -4.0);
  EXPECT_DOUBLE_EQ(number("2^3^2"), 512.0);  // from the right
  EXPECT_DOUBLE_EQ(number("2^-2"), 0.25);
  EXPECT_DOUBLE_EQ(number("-(1 - 3)*2e-1"), 0.4);
  EXPECT_DOUBLE_EQ(number(".5 + 1.5e1"), 15.5);
  EXPECT_DOUBLE_EQ(number("sqrt(2)*sin(pi/4)"), 1.0);
  EXPECT_DOUBLE_EQ(number("cos(radians(60)) + degrees(atan2(1, 1))"), 45.5);
  EXPECT_DOUBLE_EQ(number("max(1, 3, 2) - min(5, abs(-4))"), -1.0);
  EXPECT_DOUBLE_EQ(number("log(exp(1.5))"), 1.5);
  EXPECT_DOUBLE_EQ(number("body.'left-wall'.force_x"), 7.0);
}

TEST(ExpressionTest, SeriesRowByRow) {
  EXPECT_EQ(series("2*x + 1").value, (std::vector<double>{1, 3, 9, 19}));
  EXPECT_EQ(series("x/x").value[3], 1.0);
  EXPECT_EQ(series("max(x, 2)").value, (std::vector<double>{2, 2, 4, 9}));
  // Other times: those of the shorter series, as far as the other reaches.
  const Series difference = series("x - fine");
  EXPECT_EQ(difference.time, (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(difference.value, (std::vector<double>{0, -1, 0}));
}

TEST(ExpressionTest, SeriesToNumbers) {
  EXPECT_DOUBLE_EQ(number("first(x) + last(x)"), 9.0);
  EXPECT_DOUBLE_EQ(number("max(x) - min(x)"), 9.0);
  EXPECT_DOUBLE_EQ(number("mean(x)"), 3.5);
  EXPECT_DOUBLE_EQ(number("rms(wave)"), 1.0);
  EXPECT_DOUBLE_EQ(number("slope(fine)"), 2.0);
  EXPECT_DOUBLE_EQ(number("max_rise(x)"), 5.0);
  EXPECT_DOUBLE_EQ(number("max_rise(-x)"), 0.0);
  EXPECT_DOUBLE_EQ(number("at(x, 1.5)"), 2.5);
  EXPECT_DOUBLE_EQ(number("max(within(x, 0, 2))"), 4.0);
  EXPECT_DOUBLE_EQ(number("count(within(x, 1, 2))"), 2.0);
  EXPECT_DOUBLE_EQ(number("crossings(wave, 0)"), 2.0);
  EXPECT_DOUBLE_EQ(number("crossing(wave, 0, 2)"), 1.5);
  EXPECT_DOUBLE_EQ(number("at(rate(x), 2)"), 4.0);
}

TEST(ExpressionTest, WhatIsNotThereIsNotANumber) {
  for (const char* text : {"crossing(wave, 0, 3)", "at(x, 9)", "mean(within(x, 7, 8))", "max(gap)",
                           "min(gap)", "mean(gap)", "max_rise(gap)", "max(last(gap), log(-1))",
                           "min(log(-1), 1)", "max(1, log(-1))"}) {
    EXPECT_TRUE(std::isnan(number(text))) << text;
  }
}

TEST(ExpressionTest, FaultsNameTheCharacter) {
  EXPECT_EQ(fault("1 + "),
            "fall.toml:12:9: character 5 of \"1 + \": something is missing at the end");
  EXPECT_EQ(fault("max(x"), "fall.toml:12:9: character 6 of \"max(x\": expected ',' or ')'");
  EXPECT_EQ(fault("2 x"), "fall.toml:12:9: character 3 of \"2 x\": 'x' is not expected here");
  EXPECT_EQ(fault("1 + sqr(2)"),
            "fall.toml:12:9: character 5 of \"1 + sqr(2)\": unknown function 'sqr'; did you mean "
            "'sqrt'?");
  EXPECT_EQ(fault("at(x)"),
            "fall.toml:12:9: character 1 of \"at(x)\": at() takes 2 arguments, not 1");
  EXPECT_EQ(fault("2*y"), "fall.toml:12:9: character 3 of \"2*y\": nothing is called 'y'");
  EXPECT_EQ(fault("last(g)"),
            "fall.toml:12:9: character 1 of \"last(g)\": in last: it takes a series over time, not "
            "a number");
  EXPECT_EQ(fault("1..2"), "fall.toml:12:9: character 3 of \"1..2\": '.' is not expected here");
  EXPECT_EQ(fault(""), "fall.toml:12:9: character 1 of \"\": something is missing at the end");
  EXPECT_NE(fault("$"), "no fault");
  EXPECT_NE(fault("a."), "no fault");
  EXPECT_NE(fault("body.'x"), "no fault");
}

TEST(ExpressionTest, DeepNestingIsRefused) {
  const std::string deep = std::string(100000, '(') + "1" + std::string(100000, ')');
  EXPECT_NE(fault(deep).find("nested more than 64 deep"), std::string::npos);
  EXPECT_NE(fault(std::string(100000, '-') + "1").find("64 deep"), std::string::npos);
}

TEST(ExpressionTest, ASeriesIsNoNumber) {
  try {
    number("x");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "fall.toml:12:9: \"x\" is a series over time, but a number is needed here");
  }
}

}  // namespace
}  // namespace barchan
