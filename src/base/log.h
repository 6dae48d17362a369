// The program's voice on stderr: warnings and notes. Results go to stdout, not here.
#pragma once

#include <fmt/core.h>

#include <string>
#include <utility>

namespace barchan {

enum class LogLevel { note, warning, error };

// Quiet keeps errors only.
void set_log_quiet(bool quiet);
bool log_is_quiet();
void log_message(LogLevel level, const std::string& text);

template <class... Args>
void note(fmt::format_string<Args...> text, Args&&... args) {
  log_message(LogLevel::note, fmt::format(text, std::forward<Args>(args)...));
}
template <class... Args>
void warn(fmt::format_string<Args...> text, Args&&... args) {
  log_message(LogLevel::warning, fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace barchan
