// Pages made from the results.json that `barchan paper` and `barchan validate` leave behind.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace barchan {

// Results of one kind of machine: "cpu" and out/papers, "cuda" and out/papers-cuda.
struct ResultFolder {
  std::string name;
  std::filesystem::path path;
};

// Whether a figure or a case has results there, of the reduced version or of the full one. A case
// that did not end has none.
bool has_results(const std::filesystem::path& folder, bool quick);

// Every figure of the papers: pictures, plots and ours beside theirs. Figures without results are
// listed as such. Returns how many have some.
int write_paper_report(const std::vector<ResultFolder>& results, const std::filesystem::path& page);

// What does not hold, then every case with its checks, controls and curves, those without results
// named. Returns how many have some.
int write_validation_report(const std::filesystem::path& results,
                            const std::filesystem::path& page);

}  // namespace barchan
