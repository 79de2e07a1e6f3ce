// SPDX-License-Identifier: Apache-2.0
#include "host_device.hpp"

#include <cstring>

namespace penstock::detail {

void HostDevice::copy(void* to, const void* from, std::size_t bytes, StreamRef) {
  if (bytes != 0) std::memcpy(to, from, bytes);
}

}  // namespace penstock::detail
