// Tests that run on each device: the CPU always, a GPU where there is one.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/error.h"
#include "compute/device.h"

namespace barchan {

// Null, with the test skipped by the caller, where the device is not there.
inline std::unique_ptr<Device> device_or_null(const std::string& name, int threads = 2) {
  try {
    return make_device(name, threads);
  } catch (const Error&) {
    return nullptr;
  }
}

class OnDevice : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    device = device_or_null(GetParam());
    if (!device) GTEST_SKIP() << "no " << GetParam() << " device here";
  }
  std::unique_ptr<Device> device;
};

#define BARCHAN_ON_EACH_DEVICE(Suite)                                      \
  INSTANTIATE_TEST_SUITE_P(Devices, Suite, testing::Values("cpu", "cuda"), \
                           [](const auto& info) { return std::string(info.param); })

}  // namespace barchan
