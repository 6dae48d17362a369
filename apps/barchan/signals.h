// Ctrl-C and SIGTERM: the first asks the work to end, the second ends the program at once.
#pragma once

namespace barchan {

void catch_signals();
bool stop_asked();  // since catch_signals()

}  // namespace barchan
