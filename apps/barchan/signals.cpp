#include "signals.h"

#include <atomic>
#include <csignal>

namespace barchan {

namespace {

std::atomic<bool> g_stop{false};

void on_signal(int signal) {
  if (g_stop.exchange(true)) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

}  // namespace

void catch_signals() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

bool stop_asked() {
  return g_stop.load();
}

}  // namespace barchan
