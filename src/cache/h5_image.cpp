#include "cache/h5_image.h"

#include <hdf5.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace barchan::h5 {

// Aligned to pages, so that write_file_atomic can hand it to the disk as it is.
void* resize(Image& image, std::size_t size) {
  constexpr std::size_t kPage = 4096;
  if (size > image.reserved) {
    const std::size_t wanted = (std::max(size, image.expected) + kPage - 1) / kPage * kPage;
    void* made = std::aligned_alloc(kPage, wanted);
    if (!made) return nullptr;
    if (image.data) std::memcpy(made, image.data, image.capacity);
    std::free(image.data);
    image.data = static_cast<std::byte*>(made);
    image.reserved = wanted;
  }
  image.capacity = size;
  return image.data;
}

namespace {

void* image_resize(void*, std::size_t size, H5FD_file_image_op_t, void* image) {
  return resize(*static_cast<Image*>(image), size);
}
herr_t image_keep(void*, H5FD_file_image_op_t, void*) {
  return 0;
}
void* image_share(void* image) {
  return image;
}
herr_t image_unshare(void*) {
  return 0;
}

}  // namespace

Id memory_access(Image& image, std::size_t expected_bytes) {
  Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5FD_file_image_callbacks_t calls{};
  calls.image_realloc = image_resize;
  calls.image_free = image_keep;
  calls.udata_copy = image_share;
  calls.udata_free = image_unshare;
  calls.udata = &image;
  H5Pset_file_image_callbacks(access, &calls);
  image.expected = expected_bytes + expected_bytes / 64 + (std::size_t{1} << 16);
  const std::size_t increment =
      std::clamp(expected_bytes / 8, std::size_t{1} << 16, std::size_t{1} << 26);
  H5Pset_fapl_core(access, increment, false);
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  return access;
}

}  // namespace barchan::h5
