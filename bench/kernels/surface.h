#pragma once

namespace barchan {

void add_surface_benchmarks();

}  // namespace barchan
