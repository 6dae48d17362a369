// In the place of ray_scene.cpp and exr.cpp where the program is built without the renderer.
#include "base/error.h"
#include "render/exr.h"
#include "render/ray_scene.h"

namespace barchan {

struct RayScene::Tree {};

RayScene::RayScene() {
  reject("this build makes no pictures: install libembree-dev and build with -DBARCHAN_RENDER=ON");
}
RayScene::~RayScene() = default;
RayScene::RayScene(RayScene&&) noexcept = default;
RayScene& RayScene::operator=(RayScene&&) noexcept = default;
int RayScene::add_balls(std::span<const Ball>) {
  return 0;
}
int RayScene::add_mesh(TraceMesh) {
  return 0;
}
void RayScene::build() {}
RayHit RayScene::first(const Ray&) const {
  return {};
}
bool RayScene::blocked(const Ray&) const {
  return false;
}

void write_exr(const std::filesystem::path& path, const LightImage&) {
  reject("cannot make {}: this build makes no pictures", path.string());
}

}  // namespace barchan
