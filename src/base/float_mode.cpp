// SPDX-License-Identifier: Apache-2.0
#include <penstock/extend/float_mode.hpp>

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace penstock {

namespace {

#if defined(__x86_64__)
constexpr std::uint64_t standard = 0x1f80;
// The lowest bits are exception flags, which are no part of the mode.
std::uint64_t mode_of(std::uint64_t word) noexcept { return word & ~std::uint64_t{0x3f}; }
std::uint64_t get() noexcept { return _mm_getcsr(); }
void set(std::uint64_t word) noexcept { _mm_setcsr(static_cast<unsigned>(word)); }
#elif defined(__aarch64__)
constexpr std::uint64_t standard = 0;
std::uint64_t mode_of(std::uint64_t word) noexcept { return word; }
std::uint64_t get() noexcept {
  std::uint64_t word = 0;
  __asm__ __volatile__("mrs %0, fpcr" : "=r"(word));
  return word;
}
void set(std::uint64_t word) noexcept { __asm__ __volatile__("msr fpcr, %0" ::"r"(word) : "memory"); }
#else
constexpr std::uint64_t standard = 0;
std::uint64_t mode_of(std::uint64_t word) noexcept { return word; }
std::uint64_t get() noexcept { return 0; }
void set(std::uint64_t) noexcept {}
#endif

}  // namespace

FloatMode::FloatMode() noexcept : before_(get()) {
  if (mode_of(before_) != standard) set(standard);
}
FloatMode::~FloatMode() { set(before_); }

}  // namespace penstock
