#pragma once

#include <cstdint>

namespace penstock::hdf5 {

/// Takes from this process what reading a file does not need: descriptors above standard error, memory beyond so many
/// bytes, core dumps, writing to files, processes of its own, plugins of the library. Ends it when the other side of
/// `socket` is gone, whatever it is doing then.
void confine(std::uint64_t memory_bytes, int socket);

}  // namespace penstock::hdf5
