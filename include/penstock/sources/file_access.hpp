// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace penstock {

/// How a source reads its files. It changes no result.
enum class FileAccess : std::uint8_t {
  map,  ///< views them in a memory map. A file that is cut short while it is open ends the process by the signal SIGBUS
  read,  ///< reads them by pread(). A file that is cut short while it is open is Error(io). It costs a copy of each
         ///< value, and one or two system calls per record
};

}  // namespace penstock
