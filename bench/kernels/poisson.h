#pragma once

namespace barchan {

void add_poisson_benchmarks();

}  // namespace barchan
