// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace penstock::hdf5 {

/// Takes from this process what it does not need to read a file. It has no descriptors above standard error, and at
/// most `memory_bytes` of memory. It can't write core dumps or files, start child processes or load the library's
/// plugins. After that, the process ends when the other side of `socket` is closed, whatever it is doing.
void confine(std::uint64_t memory_bytes, int socket);

}  // namespace penstock::hdf5
