#pragma once

#include <sys/resource.h>
#include <unistd.h>

namespace barchan {

// The thread that calls this gives way to the others of the program where all want the processor.
// Does nothing where that is not allowed.
inline void give_way() {
  constexpr int kNice = 10;
  const auto thread = static_cast<id_t>(gettid());
  setpriority(PRIO_PROCESS, thread, getpriority(PRIO_PROCESS, thread) + kNice);
}

}  // namespace barchan
