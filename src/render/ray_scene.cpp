#include "render/ray_scene.h"

#include <embree3/rtcore.h>

#include <algorithm>

#include "base/error.h"
#include "compute/parallel.h"

namespace barchan {

namespace {

// One for the whole program: making one starts threads.
RTCDevice the_device() {
  struct Owner {
    RTCDevice device = rtcNewDevice(nullptr);
    ~Owner() { rtcReleaseDevice(device); }
  };
  static const Owner owner;
  if (!owner.device) fail("the ray tracer (Embree) does not start on this machine");
  return owner.device;
}

const ThreadPool& one_thread() {
  static const ThreadPool pool(1);
  return pool;
}

template <class T>
T* new_buffer(RTCGeometry geometry, RTCBufferType type, RTCFormat format, std::size_t bytes_each,
              std::size_t count) {
  return static_cast<T*>(rtcSetNewGeometryBuffer(geometry, type, 0, format, bytes_each, count));
}

struct Point4 {
  float x, y, z, radius;
};

RTCRayHit to_embree(const Ray& ray) {
  RTCRayHit query{};
  query.ray.org_x = ray.from.x, query.ray.org_y = ray.from.y, query.ray.org_z = ray.from.z;
  query.ray.dir_x = ray.way.x, query.ray.dir_y = ray.way.y, query.ray.dir_z = ray.way.z;
  query.ray.tnear = 0.0f;
  query.ray.tfar = ray.reach;
  query.ray.mask = 0xffffffffu;
  query.hit.geomID = RTC_INVALID_GEOMETRY_ID;
  return query;
}

}  // namespace

struct RayScene::Tree {
  RTCScene scene = nullptr;
  std::vector<TraceMesh> meshes;  // one an object; empty for balls

  Tree() : scene(rtcNewScene(the_device())) { rtcSetSceneFlags(scene, RTC_SCENE_FLAG_ROBUST); }
  ~Tree() { rtcReleaseScene(scene); }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  void attach(RTCGeometry geometry) {
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(scene, geometry);
    rtcReleaseGeometry(geometry);
    meshes.emplace_back();
  }

  Vec3 smooth_normal(const RTCHit& hit, const Vec3& flat) const {
    const TraceMesh& mesh = meshes[hit.geomID];
    if (mesh.normals.empty()) return flat;
    const Triangle& corners = mesh.triangles[hit.primID];
    const bool by_vertex = mesh.normals.size() == mesh.vertices.size();
    const auto normal = [&](std::size_t k) {
      return mesh.normals[by_vertex ? corners[k] : 3 * std::size_t{hit.primID} + k];
    };
    const Vec3 mixed = (1.0f - hit.u - hit.v) * normal(0) + hit.u * normal(1) + hit.v * normal(2);
    return normalized(mixed, flat);
  }
};

RayScene::RayScene() : tree_(std::make_unique<Tree>()) {}
RayScene::~RayScene() = default;
RayScene::RayScene(RayScene&&) noexcept = default;
RayScene& RayScene::operator=(RayScene&&) noexcept = default;

int RayScene::add_balls(std::span<const Ball> balls) {
  RTCGeometry geometry = rtcNewGeometry(the_device(), RTC_GEOMETRY_TYPE_SPHERE_POINT);
  auto* points = new_buffer<Point4>(geometry, RTC_BUFFER_TYPE_VERTEX, RTC_FORMAT_FLOAT4,
                                    sizeof(Point4), balls.size());
  for (std::size_t i = 0; i < balls.size(); ++i) {
    points[i] = {balls[i].center.x, balls[i].center.y, balls[i].center.z, balls[i].radius};
  }
  tree_->attach(geometry);
  return objects_++;
}

int RayScene::add_mesh(TraceMesh mesh) {
  RTCGeometry geometry = rtcNewGeometry(the_device(), RTC_GEOMETRY_TYPE_TRIANGLE);
  auto* vertices = new_buffer<Vec3>(geometry, RTC_BUFFER_TYPE_VERTEX, RTC_FORMAT_FLOAT3,
                                    sizeof(Vec3), mesh.vertices.size());
  auto* triangles = new_buffer<Triangle>(geometry, RTC_BUFFER_TYPE_INDEX, RTC_FORMAT_UINT3,
                                         sizeof(Triangle), mesh.triangles.size());
  std::copy(mesh.vertices.begin(), mesh.vertices.end(), vertices);
  std::copy(mesh.triangles.begin(), mesh.triangles.end(), triangles);
  tree_->attach(geometry);
  tree_->meshes.back() = std::move(mesh);
  return objects_++;
}

void RayScene::build() {
  const RTCScene scene = tree_->scene;
  one_thread().parallel_blocks(1, [scene](std::size_t) { rtcCommitScene(scene); });
}

RayHit RayScene::first(const Ray& ray) const {
  RayHit found;
  if (empty()) return found;
  RTCRayHit query = to_embree(ray);
  RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  rtcIntersect1(tree_->scene, &context, &query);
  if (query.hit.geomID == RTC_INVALID_GEOMETRY_ID) return found;
  found.object = static_cast<int>(query.hit.geomID);
  found.part = query.hit.primID;
  found.distance = query.ray.tfar;
  found.normal = normalized(Vec3(query.hit.Ng_x, query.hit.Ng_y, query.hit.Ng_z), -ray.way);
  found.smooth = tree_->smooth_normal(query.hit, found.normal);
  return found;
}

bool RayScene::blocked(const Ray& ray) const {
  if (empty()) return false;
  RTCRay query = to_embree(ray).ray;
  RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  rtcOccluded1(tree_->scene, &context, &query);
  return query.tfar < 0.0f;
}

}  // namespace barchan
