// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#include <penstock/extend/host_device.hpp>

/// Keeps a kernel's compiler from unrolling the next loop. Put this before a loop that a kernel seldom enters, or that
/// has few turns. An unrolled loop fills the instruction cache. In it, threads of a warp that take different numbers of
/// turns also diverge.
#ifdef __CUDA_ARCH__
#define PENSTOCK_ROLLED _Pragma("unroll 1")
#else
#define PENSTOCK_ROLLED
#endif

/// The functions below read and write bytes in whole words, for kernels and the host.
namespace penstock::detail {

/// Shifts the 64 bits (high, low) right by `bits`, and returns the lower word. REQUIRES: `bits` is less than 32.
PENSTOCK_HOST_DEVICE inline std::uint32_t shifted_right(std::uint32_t low, std::uint32_t high, std::uint32_t bits) {
#ifdef __CUDA_ARCH__
  return __funnelshift_r(low, high, bits);
#else
  return static_cast<std::uint32_t>(((std::uint64_t{high} << 32) | low) >> bits);
#endif
}

/// Returns the word at `at`, which must be aligned to a word.
PENSTOCK_HOST_DEVICE inline std::uint32_t word_at(const std::uint8_t* at) {
#ifdef __CUDA_ARCH__
  return *reinterpret_cast<const std::uint32_t*>(at);
#else
  std::uint32_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
#endif
}

/// Returns the four bytes at any address, the first byte lowest. Reads the aligned words that have these bytes.
PENSTOCK_HOST_DEVICE inline std::uint32_t unaligned_word_at(const std::uint8_t* at) {
  const auto past = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(at) % 4);
  const std::uint32_t low = word_at(at - past);
  return past == 0 ? low : shifted_right(low, word_at(at - past + 4), 8 * past);
}

/// Reads the 4 * n bytes at any address into `words`. Reads the aligned words that have these bytes.
template <int n>
PENSTOCK_HOST_DEVICE inline void unaligned_words_at(const std::uint8_t* at, std::uint32_t (&words)[n]) {
  const auto past = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(at) % 4);
  const std::uint8_t* const aligned = at - past;
  std::uint32_t read[n + 1];
  for (int i = 0; i < n; ++i) read[i] = word_at(aligned + 4 * i);
  read[n] = past != 0 ? word_at(aligned + 4 * n) : 0;
  for (int i = 0; i < n; ++i) words[i] = shifted_right(read[i], read[i + 1], 8 * past);
}

/// Writes a word to `at`, which must be aligned to a word.
PENSTOCK_HOST_DEVICE inline void store_word(std::uint8_t* at, std::uint32_t word) {
#ifdef __CUDA_ARCH__
  *reinterpret_cast<std::uint32_t*>(at) = word;
#else
  std::memcpy(at, &word, sizeof word);
#endif
}

/// Writes four words to `to`, which must be aligned to 16 bytes.
PENSTOCK_HOST_DEVICE inline void store_words(std::uint32_t* to, const std::uint32_t (&words)[4]) {
#ifdef __CUDA_ARCH__
  *reinterpret_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
#else
  std::memcpy(to, words, sizeof words);
#endif
}

/// Returns bytes 0 and 2, each extended to 16 bits.
PENSTOCK_HOST_DEVICE inline std::uint32_t even_bytes(std::uint32_t word) { return word & 0x00FF00FF; }

/// Returns bytes 1 and 3, each extended to 16 bits.
PENSTOCK_HOST_DEVICE inline std::uint32_t odd_bytes(std::uint32_t word) {
#ifdef __CUDA_ARCH__
  return __byte_perm(word, 0, 0x4341);
#else
  return word >> 8 & 0x00FF00FF;
#endif
}

/// Returns the word whose even bytes are the odd bytes of `even`, and whose odd bytes are the odd bytes of `odd`.
PENSTOCK_HOST_DEVICE inline std::uint32_t joined_odd_bytes(std::uint32_t even, std::uint32_t odd) {
#ifdef __CUDA_ARCH__
  return __byte_perm(even, odd, 0x7351);
#else
  return odd_bytes(even) | (odd & 0xFF00FF00);
#endif
}

/// Returns bytes 0 and 1 of two words side by side: a0, b0, a1, b1.
PENSTOCK_HOST_DEVICE inline std::uint32_t low_pairs(std::uint32_t a, std::uint32_t b) {
#ifdef __CUDA_ARCH__
  return __byte_perm(a, b, 0x5140);
#else
  return (a & 255) | (b & 255) << 8 | (a & 0xFF00) << 8 | (b & 0xFF00) << 16;
#endif
}

/// Returns bytes 2 and 3 of two words side by side: a2, b2, a3, b3.
PENSTOCK_HOST_DEVICE inline std::uint32_t high_pairs(std::uint32_t a, std::uint32_t b) {
#ifdef __CUDA_ARCH__
  return __byte_perm(a, b, 0x7362);
#else
  return low_pairs(a >> 16, b >> 16);
#endif
}

/// Returns `sum` + (low half of `weights`) * (byte 0) + (high half of `weights`) * (byte 1).
PENSTOCK_HOST_DEVICE inline std::uint32_t plus_low_pair(std::uint32_t weights, std::uint32_t bytes, std::uint32_t sum) {
#ifdef __CUDA_ARCH__
  return __dp2a_lo(weights, bytes, sum);
#else
  return sum + (weights & 0xFFFF) * (bytes & 255) + (weights >> 16) * (bytes >> 8 & 255);
#endif
}

/// Returns `sum` + (low half of `weights`) * (byte 2) + (high half of `weights`) * (byte 3).
PENSTOCK_HOST_DEVICE inline std::uint32_t plus_high_pair(std::uint32_t weights, std::uint32_t bytes,
                                                         std::uint32_t sum) {
#ifdef __CUDA_ARCH__
  return __dp2a_hi(weights, bytes, sum);
#else
  return plus_low_pair(weights, bytes >> 16, sum);
#endif
}

}  // namespace penstock::detail
