// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace penstock::detail {

/// Tells the processor that this thread spins until another thread writes to memory.
inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#elif defined(__aarch64__)
  // The instruction `yield` does nothing on most cores. `isb` takes about as long as x86's `pause`.
  __asm__ __volatile__("isb" ::: "memory");
#endif
}

}  // namespace penstock::detail
