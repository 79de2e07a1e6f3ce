#pragma once

#include <cstdint>
#include <cstring>

#include <penstock/extend/host_device.hpp>

/// Bytes by the word, for kernels and the host alike.
namespace penstock::detail {

/// The lower word of (high, low) shifted right, by less than 32 bits.
PENSTOCK_HOST_DEVICE inline std::uint32_t shifted_right(std::uint32_t low, std::uint32_t high, std::uint32_t bits) {
#ifdef __CUDA_ARCH__
  return __funnelshift_r(low, high, bits);
#else
  return static_cast<std::uint32_t>(((std::uint64_t{high} << 32) | low) >> bits);
#endif
}

/// `at`: aligned to a word.
PENSTOCK_HOST_DEVICE inline std::uint32_t word_at(const std::uint8_t* at) {
#ifdef __CUDA_ARCH__
  return *reinterpret_cast<const std::uint32_t*>(at);
#else
  std::uint32_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
#endif
}

/// Four bytes from any address on, the first one lowest. Reads the aligned words that hold them.
PENSTOCK_HOST_DEVICE inline std::uint32_t unaligned_word_at(const std::uint8_t* at) {
  const auto past = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(at) % 4);
  const std::uint32_t low = word_at(at - past);
  return past == 0 ? low : shifted_right(low, word_at(at - past + 4), 8 * past);
}

/// `at`: aligned to a word.
PENSTOCK_HOST_DEVICE inline void store_word(std::uint8_t* at, std::uint32_t word) {
#ifdef __CUDA_ARCH__
  *reinterpret_cast<std::uint32_t*>(at) = word;
#else
  std::memcpy(at, &word, sizeof word);
#endif
}

}  // namespace penstock::detail
