// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace penstock::detail {

/// Sets the standard floating-point mode for the calling thread while this object lives: round to nearest, and keep
/// denormal numbers. So a sample has the same bits on every thread, even on a caller's thread that flushes denormal
/// numbers to zero.
class FloatMode {
 public:
  FloatMode() noexcept : before_(get()) {
    if (control(before_) != standard) set(standard);
  }
  FloatMode(const FloatMode&) = delete;
  FloatMode& operator=(const FloatMode&) = delete;
  ~FloatMode() { set(before_); }

 private:
#if defined(__x86_64__)
  using Word = unsigned;
  static constexpr Word standard = 0x1f80;
  static Word control(Word word) noexcept { return word & ~Word{0x3f}; }  // without the exception flags
  static Word get() noexcept { return _mm_getcsr(); }
  static void set(Word word) noexcept { _mm_setcsr(word); }
#elif defined(__aarch64__)
  using Word = std::uint64_t;
  static constexpr Word standard = 0;
  static Word control(Word word) noexcept { return word; }
  static Word get() noexcept {
    Word word = 0;
    __asm__ __volatile__("mrs %0, fpcr" : "=r"(word));
    return word;
  }
  static void set(Word word) noexcept { __asm__ __volatile__("msr fpcr, %0" ::"r"(word) : "memory"); }
#else
  using Word = unsigned;
  static constexpr Word standard = 0;
  static Word control(Word word) noexcept { return word; }
  static Word get() noexcept { return 0; }
  static void set(Word) noexcept {}
#endif

  const Word before_;
};

}  // namespace penstock::detail
