// Frames for the live view: encoded, and sent to a reader on the same machine.
#pragma once

namespace barchan {

void add_view_benchmarks();

}  // namespace barchan
