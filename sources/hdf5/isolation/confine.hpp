// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace penstock::hdf5 {

/// Takes from this process what reading a file does not need: descriptors above standard error, memory beyond
/// `memory_bytes`, core dumps, writing to files, child processes, plugins of the library. Ends the process when the
/// other side of `socket` is closed, whatever the process is doing.
void confine(std::uint64_t memory_bytes, int socket);

}  // namespace penstock::hdf5
