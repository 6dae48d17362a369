#include "geometry/stand_ins.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.h"
#include "base/nearest_name.h"
#include "geometry/mesh_file.h"
#include "geometry/mesh_mend.h"
#include "geometry/stand_in_makers.h"

namespace barchan {

namespace fs = std::filesystem;

namespace {

struct Stock {
  std::string_view name;
  Mesh (*make)();
  bool lies = false;  // 1 m across instead of 1 m tall
};

constexpr std::array<Stock, 11> kStock = {{{"armadillo", stand_ins::make_armadillo},
                                           {"bulldozer", stand_ins::make_bulldozer},
                                           {"bunny", stand_ins::make_bunny},
                                           {"camel", stand_ins::make_camel},
                                           {"castle", stand_ins::make_castle},
                                           {"cube", stand_ins::make_cube},
                                           {"hourglass", stand_ins::make_hourglass},
                                           {"house", stand_ins::make_house},
                                           {"ring", stand_ins::make_ring, true},
                                           {"sphere", stand_ins::make_sphere},
                                           {"torus", stand_ins::make_torus, true}}};

const Stock& find_stock(const std::string& name) {
  for (const Stock& stock : kStock) {
    if (stock.name == name) return stock;
  }
  const std::string nearest = nearest_name(name, stock_mesh_names());
  std::string known;
  for (const Stock& stock : kStock) known += (known.empty() ? "" : ", ") + std::string(stock.name);
  reject("no mesh is called '{}'; {}", name,
         nearest.empty() ? "known are " + known : "did you mean '" + nearest + "'?");
}

// On y = 0, centred, 1 m tall (or across).
Mesh brought_to_size(Mesh mesh, bool lies) {
  Aabb box;
  for (const Vec3d& p : mesh.vertices) box = join(box, {p, p});
  const Vec3d foot(box.center().x, box.lo.y, box.center().z), e = box.extent();
  const double scale = 1.0 / (lies ? std::max(e.x, e.z) : e.y);
  for (Vec3d& p : mesh.vertices) p = scale * (p - foot);
  return mesh;
}

}  // namespace

std::vector<std::string> stock_mesh_names() {
  std::vector<std::string> names;
  for (const Stock& stock : kStock) names.emplace_back(stock.name);
  return names;
}

fs::path asset_file(const fs::path& assets_folder, const std::string& name) {
  return assets_folder / (name + ".obj");
}

Mesh stock_mesh(const std::string& name, const fs::path& assets_folder) {
  const Stock& stock = find_stock(name);
  const fs::path file = asset_file(assets_folder, name);
  std::error_code none;
  if (!assets_folder.empty() && fs::exists(file, none)) {
    return brought_to_size(mend(read_mesh(file), file.string()).mesh, stock.lies);
  }
  return brought_to_size(stock.make(), stock.lies);
}

}  // namespace barchan
