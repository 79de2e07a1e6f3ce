// SPDX-License-Identifier: Apache-2.0
#include "compressors.hpp"

#include <utility>

#include <penstock/error.hpp>

namespace penstock::png {

Compressors::Compressor Compressors::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!unused_.empty()) {
      Compressor found(unused_.back().release(), {this});
      unused_.pop_back();
      return found;
    }
    unused_.reserve(made_ + 1);
    ++made_;
  }
  Compressor made(libdeflate_alloc_compressor(level_), {this});
  if (!made) throw Error(Errc::out_of_memory, "no memory for a PNG encoder");
  return made;
}

void Compressors::give_back(libdeflate_compressor* compressor) noexcept {
  const std::lock_guard lock(mutex_);
  unused_.emplace_back(compressor);
}

}  // namespace penstock::png
