// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace penstock {

/// How a source reads its files. The choice changes no result.
enum class FileAccess : std::uint8_t {
  map,   ///< views the files in memory maps. A file that is cut short while it is open ends the process by the signal
         ///< SIGBUS
  read,  ///< reads the files by pread(). Reading a file that is cut short while it is open throws Error(io). Costs a
         ///< copy of each value, and one or two system calls per record
};

}  // namespace penstock
