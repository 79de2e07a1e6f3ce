// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace penstock::detail {

/// Hints to the processor that this thread only waits for a store of another thread.
inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#elif defined(__aarch64__)
  // `yield` does nothing on most cores; this waits about as long as x86's pause.
  __asm__ __volatile__("isb" ::: "memory");
#endif
}

}  // namespace penstock::detail
