// SPDX-License-Identifier: Apache-2.0
// Reads the bits of Huffman-coded data. The stuffing (the 0 after each FF) must have been removed.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace penstock::jpeg::baseline {

inline std::uint64_t load_big_endian(const std::uint8_t* at) noexcept {
  std::uint64_t value;
  std::memcpy(&value, at, sizeof value);
  if constexpr (std::endian::native == std::endian::little) value = __builtin_bswap64(value);
  return value;
}

// After a refill at least 56 bits can be taken. The reader does not know where the data ends: it reads up to 16 bytes
// beyond the bits that were taken, and more bits may be taken than the data has. The caller must keep readable memory
// after the data, and check afterwards that no more bits were taken than the data has.
class BitReader {
 public:
  BitReader() = default;
  explicit BitReader(const std::uint8_t* from) noexcept : next_(from) {}

  void refill() noexcept {
    bits_ |= load_big_endian(next_) >> (count_ & 63);
    next_ += ((63 - count_) >> 3) & 7;
    count_ |= 56;
  }
  // Returns the next bits of the data; the highest bit comes first. The bits after the first `loaded()` bits are the
  // bits that follow in the data, or 0.
  std::uint64_t bits() const noexcept { return bits_; }
  template <int Count>
  std::uint32_t peek() const noexcept {
    return static_cast<std::uint32_t>(bits_ >> (64 - Count));
  }
  // Takes the next `n` % 64 bits. Higher bits of `n` have no effect, so a caller can pass an entry of a table whose
  // lowest bits are the count.
  void take(std::uint64_t n) noexcept {
    bits_ <<= n & 63;
    count_ -= n;
  }
  // Puts back the last `n` bits that were taken, at most 63. The 16 bytes before the data must be readable.
  void put_back(std::uint32_t n) noexcept {
    const std::uint32_t ahead = static_cast<std::uint32_t>(count_ & 63) + n;  // bits from the new position to next_
    const std::uint8_t* const from = next_ - (ahead + 7) / 8;
    const std::uint32_t passed = (8 - ahead % 8) % 8;
    bits_ = load_big_endian(from) << passed;
    next_ = from + 7;
    count_ = 56 - passed;
  }
  // Returns the address of the first byte of which no bit was loaded. It is at most 8 bytes after the byte with the
  // next bit.
  const std::uint8_t* next() const noexcept { return next_; }
  // Sets the address of `next()`, after the data has moved.
  void move_to(const std::uint8_t* next) noexcept { next_ = next; }
  // Returns how many bits were loaded and are not taken yet.
  std::uint32_t loaded() const noexcept { return static_cast<std::uint32_t>(count_ & 63); }

 private:
  std::uint64_t bits_ = 0;
  const std::uint8_t* next_ = nullptr;
  std::uint64_t count_ = 0;  // modulo 64; higher bits have no meaning
};

// Returns the number that the top `size` bits of `bits` encode (ITU-T T.81, F.2.2.1, EXTEND), and 0 for size 0.
inline std::int32_t signed_value(std::uint64_t bits, std::uint32_t size) noexcept {
  // All ones if the first bit is 0, because the number is then negative. Otherwise 0.
  const auto negative = static_cast<std::uint64_t>(~static_cast<std::int64_t>(bits) >> 63);
  const std::uint64_t magnitude = ((bits ^ negative) >> 1) >> (63 - size);
  return static_cast<std::int32_t>(static_cast<std::int64_t>((magnitude ^ negative) - negative));
}

}  // namespace penstock::jpeg::baseline
