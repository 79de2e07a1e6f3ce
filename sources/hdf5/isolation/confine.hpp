// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace penstock::hdf5 {

/// Takes from this process all that reading a file does not need. Closes all descriptors above standard error, and
/// limits the process's memory to `memory_bytes`. After the call the process can't write core dumps or files, start
/// child processes or load the library's plugins. Two limits have exceptions: a process of root can still start child
/// processes, and a build with sanitizers has no limit of memory. When the other side of `socket` is closed, the
/// process ends, whatever it is doing. If the thread for this can't be started, the process first answers the question
/// in progress.
void confine(std::uint64_t memory_bytes, int socket);

}  // namespace penstock::hdf5
