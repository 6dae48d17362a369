#include "view_place.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "base/error.h"

namespace barchan {

void add_view_place(CLI::App& command, ViewPlace& place) {
  command.add_option("--host", place.host,
                     "Address that the view listens at; 127.0.0.1 by default");
  command.add_option("--port", place.port, "Port of the view; any that is free by default")
      ->check(CLI::Range(0, 65535));
}

std::string chosen_token() {
  const char* given = std::getenv("BARCHAN_VIEW_TOKEN");
  const std::string token = given ? given : "";
  const bool plain = std::all_of(token.begin(), token.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_';
  });
  if (!token.empty() && (!plain || token.size() < 16)) {
    reject("BARCHAN_VIEW_TOKEN must have at least 16 letters, digits, - or _");
  }
  return token;
}

}  // namespace barchan
