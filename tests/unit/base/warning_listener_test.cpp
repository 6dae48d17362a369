#include "base/warning_listener.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/log.h"

namespace barchan {
namespace {

TEST(WarningListener, HearsWarningsOnlyAndOnlyWhileItListens) {
  const bool quiet = log_is_quiet();
  set_log_quiet(true);
  std::vector<std::string> heard;
  set_warning_listener([&](const std::string& text) { heard.push_back(text); });
  warn("step {} blew up", 7);
  note("nothing to see");
  set_warning_listener({});
  warn("unheard");
  set_log_quiet(quiet);
  EXPECT_EQ(heard, std::vector<std::string>{"step 7 blew up"});
}

}  // namespace
}  // namespace barchan
