#pragma once

namespace barchan {

void add_file_benchmarks();

}  // namespace barchan
