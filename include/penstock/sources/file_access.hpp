#pragma once

#include <cstdint>

namespace penstock {

/// How a source reads its files. It changes no result.
enum class FileAccess : std::uint8_t {
  map,  ///< views them in a memory map. A file that is cut short while it is open ends the process by the signal SIGBUS
  read,  ///< reads them by pread(): a file that is cut short while it is open is Error(io). Costs a copy of each value,
         ///< and a system call or two a record
};

}  // namespace penstock
