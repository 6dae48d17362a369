// Short ways to throw barchan::Error with a formatted message.
#pragma once

#include <fmt/core.h>

#include <utility>

#include "barchan/error.h"

namespace barchan {

// The caller asked for something that cannot be: exit code 2.
template <class... Args>
[[noreturn]] void reject(fmt::format_string<Args...> text, Args&&... args) {
  throw Error(Fault::input, fmt::format(text, std::forward<Args>(args)...));
}

// The work could not be done: exit code 1.
template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) {
  throw Error(Fault::failed, fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace barchan
