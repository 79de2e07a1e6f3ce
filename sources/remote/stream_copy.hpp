// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace penstock::remote {

/// Copies bytes to memory that is read much later. Like std::memcpy, but the written bytes do not go through the
/// processor's cache, which takes half the time if they would not stay there. Another thread that the caller tells of
/// the bytes sees them.
inline void stream_copy(std::byte* to, const void* from, std::size_t bytes) noexcept {
  const auto* source = static_cast<const std::byte*>(from);
// Sanitizers check std::memcpy, and not these stores.
#if defined(__SSE2__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  constexpr std::size_t line = 64, vector = sizeof(__m128i), few = 16 * line;
  if (bytes < few) {
    std::memcpy(to, source, bytes);
    return;
  }
  const std::size_t head = (line - reinterpret_cast<std::uintptr_t>(to) % line) % line;
  std::memcpy(to, source, head);
  to += head, source += head, bytes -= head;
  for (; bytes >= line; to += line, source += line, bytes -= line) {
    __m128i part[line / vector];
    std::memcpy(part, source, line);
    for (std::size_t i = 0; i < line / vector; ++i) _mm_stream_si128(reinterpret_cast<__m128i*>(to) + i, part[i]);
  }
  std::memcpy(to, source, bytes);
  _mm_sfence();  // what follows is not seen before these bytes
#else
  std::memcpy(to, source, bytes);
#endif
}

}  // namespace penstock::remote
