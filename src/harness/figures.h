// Every figure and table of the four papers that Barchan repeats, by name.
#pragma once

#include <span>
#include <string>

namespace barchan {

struct Figure {
  const char* id;      // "zb05/column-sand": also the scene's name in scenes/papers
  const char* figure;  // in the paper
  const char* shows;   // what must be seen or measured
};

std::span<const Figure> figures();

// Rejects ids that there are not, with the nearest.
const Figure& find_figure(const std::string& id);

// Whether scenes/papers has its scene.
bool is_available(const Figure& figure);

}  // namespace barchan
