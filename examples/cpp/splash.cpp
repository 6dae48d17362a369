// How high a breaking dam splashes: ./splash [SCENE]
#include <barchan/simulation.h>

#include <algorithm>
#include <iostream>

int main(int argc, char** argv) try {
  barchan::Simulation simulation(argc > 1 ? argv[1] : "dam-break");
  for (int frame = 0; frame < 12; ++frame) {
    simulation.advance_frame();
    const barchan::Field x = simulation.positions();
    const float* y = x.component<float>(1);
    std::cout << simulation.time() << " s: " << *std::max_element(y, y + x.size) << " m\n";
  }
} catch (const std::exception& error) {
  std::cerr << "splash: " << error.what() << "\n";
  return 1;
}
