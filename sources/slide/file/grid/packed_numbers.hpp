// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace penstock::slide {

/// Small numbers, each in a fixed number of bits. A value.
class PackedNumbers {
 public:
  PackedNumbers() = default;
  /// Makes `count` numbers of `bits` bits each. All numbers are 0. `bits` is 1 to 8.
  PackedNumbers(std::size_t count, unsigned bits) : bits_(bits), words_((count * bits + word - 1) / word + 1) {}

  /// Takes numbers of `bits` bits each, packed in `words`. Does not check them; call `holds` for that.
  PackedNumbers(unsigned bits, std::vector<std::uint64_t> words) : bits_(bits), words_(std::move(words)) {}

  unsigned bits() const noexcept { return bits_; }
  /// Returns whether the numbers have 1 to 8 bits, there are at least `count` numbers, and none of the first `count` is
  /// above `most`.
  bool holds(std::size_t count, std::uint64_t most) const noexcept {
    if (bits_ < 1 || bits_ > 8 || count / word > words_.size() || words_.size() < (count * bits_ + word - 1) / word + 1)
      return false;
    for (std::size_t i = 0; i < count; ++i)
      if ((*this)[i] > most) return false;
    return true;
  }
  /// Sets number `i`, which must still be 0.
  void set(std::size_t i, std::uint64_t number) noexcept {
    const std::size_t at = i * bits_;
    words_[at / word] |= number << at % word;
    if (at % word + bits_ > word) words_[at / word + 1] |= number >> (word - at % word);
  }
  std::uint64_t operator[](std::size_t i) const noexcept {
    const std::size_t at = i * bits_;
    std::uint64_t number = words_[at / word] >> at % word;
    if (at % word + bits_ > word) number |= words_[at / word + 1] << (word - at % word);
    return number & ((std::uint64_t{1} << bits_) - 1);
  }
  std::span<const std::uint64_t> words() const noexcept { return words_; }

 private:
  static constexpr std::size_t word = 64;
  unsigned bits_ = 1;
  std::vector<std::uint64_t> words_;
};

}  // namespace penstock::slide
