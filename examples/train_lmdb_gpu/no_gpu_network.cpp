// SPDX-License-Identifier: Apache-2.0
// Replaces gpu_network.cpp in a build without CUDA.
#include <stdexcept>

#include "network.hpp"

std::unique_ptr<Network> gpu_network(const Sizes&, MatrixProducts) {
  throw std::runtime_error(penstock::device_support());
}
