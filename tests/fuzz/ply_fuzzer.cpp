// mesh_fuzzer.h over PLY files.
#include "mesh_fuzzer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return barchan::fuzz_mesh(data, size, barchan::MeshFormat::ply);
}
