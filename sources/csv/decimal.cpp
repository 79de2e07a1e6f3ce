#include "decimal.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "digits.hpp"

namespace penstock::csv {

namespace {

__extension__ using Wide = unsigned __int128;

// digits * 10^exponent
struct Decimal {
  std::uint64_t digits = 0;
  std::ptrdiff_t exponent = 0;
  bool negative = false;
};

// Goes through a text by runs of digits.
class DigitReader {
 public:
  explicit DigitReader(std::string_view text) noexcept : begin_(text.data()), end_(begin_ + text.size()), at_(begin_) {}

  bool ended() const noexcept { return at_ == end_; }
  std::ptrdiff_t at() const noexcept { return at_ - begin_; }
  bool skip(char c) noexcept {
    const bool there = at_ != end_ && *at_ == c;
    at_ += there ? 1 : 0;
    return there;
  }
  void skip_zeros() noexcept {
    while (skip('0')) {
    }
  }
  // Puts the digits there are after those of `number`, which overflows after 19.
  void take(std::uint64_t& number) noexcept {
    while (at_ != end_) {
      const std::uint64_t values = eight(), others = not_digits(values);
      if (others == 0) {
        number = number * 100'000'000 + number_of(values);
        at_ += 8;
        continue;
      }
      constexpr std::uint32_t powers_of_ten[] = {1, 10, 100, 1'000, 10'000, 100'000, 1'000'000, 10'000'000};
      const unsigned count = static_cast<unsigned>(std::countr_zero(others)) / 8;
      if (count == 0) return;
      number = number * powers_of_ten[count] + number_of(values << (64 - 8 * count));
      at_ += count;
      return;
    }
  }

 private:
  // The next eight characters, with no digits from the text's end on.
  std::uint64_t eight() const noexcept {
    const std::ptrdiff_t left = end_ - at_;
    if (left >= 8) return load_digits(at_);
    if (end_ - begin_ >= 8) return (load_digits(end_ - 8) >> (64 - 8 * left)) | ~std::uint64_t{0} << (8 * left);
    char text[8] = {};
    std::memcpy(text, at_, static_cast<std::size_t>(left));
    return load_digits(text);
  }

  const char* begin_;
  const char* end_;
  const char* at_;
};

bool read_decimal(std::string_view text, Decimal& out) noexcept {
  constexpr std::ptrdiff_t max_digits = 19;  // digits that 64 bits can always hold
  DigitReader reader(text);
  out.negative = reader.skip('-');
  const std::ptrdiff_t first = reader.at();
  reader.skip_zeros();
  const std::ptrdiff_t whole = reader.at();
  reader.take(out.digits);
  std::ptrdiff_t count = reader.at() - whole;
  bool any = reader.at() != first;
  if (reader.skip('.')) {
    const std::ptrdiff_t decimals = reader.at();
    if (count == 0) reader.skip_zeros();
    const std::ptrdiff_t counted = reader.at();
    reader.take(out.digits);
    count += reader.at() - counted;
    out.exponent = decimals - reader.at();
    any = any || out.exponent != 0;
  }
  if (!any || count > max_digits) return false;
  if (reader.skip('e') || reader.skip('E')) {
    constexpr std::ptrdiff_t max_exponent_digits = 4;
    const bool down = reader.skip('-');
    if (!down) reader.skip('+');
    const std::ptrdiff_t begin = reader.at();
    std::uint64_t exponent = 0;
    reader.take(exponent);
    if (reader.at() == begin || reader.at() - begin > max_exponent_digits) return false;
    out.exponent += down ? -static_cast<std::ptrdiff_t>(exponent) : static_cast<std::ptrdiff_t>(exponent);
  }
  return reader.ended();
}

// 5^n = (high * 2^64 + low) * 2^binary, or less than 2^binary more; the highest bit of `high` is set.
struct PowerOfFive {
  std::uint64_t high, low;
  int binary;
};

// Floats and doubles of up to 19 digits times 10^n are neither too large nor too small for their exponents.
constexpr int min_power = -27, max_power = 19;

constexpr PowerOfFive power_of_five(int n) {
  std::uint64_t power = 1;
  for (int i = 0; i < (n < 0 ? -n : n); ++i) power *= 5;
  const auto bits = static_cast<int>(std::bit_width(power));
  if (n >= 0) return {power << (64 - bits), 0, bits - 128};
  // 2^(bits + 127) / power, by hand: the dividend needs more bits than there are.
  Wide quotient = 0, rest = 1;
  for (int i = 0; i < bits + 127; ++i) {
    rest <<= 1;
    quotient <<= 1;
    if (rest >= power) {
      rest -= power;
      quotient |= 1;
    }
  }
  return {static_cast<std::uint64_t>(quotient >> 64), static_cast<std::uint64_t>(quotient), -(bits + 127)};
}

constexpr auto powers_of_five = [] {
  std::array<PowerOfFive, max_power - min_power + 1> powers{};
  for (int n = min_power; n <= max_power; ++n) powers[static_cast<std::size_t>(n - min_power)] = power_of_five(n);
  return powers;
}();

// The nearest number, by a product of which the first 128 bits are known but for an error below 2 in the last one.
template <class T>
bool round_decimal(const Decimal& decimal, T& out) noexcept {
  using Bits = std::conditional_t<sizeof(T) == sizeof(std::uint32_t), std::uint32_t, std::uint64_t>;
  constexpr int mantissa_bits = std::numeric_limits<T>::digits, bias = std::numeric_limits<T>::max_exponent - 1;
  const Bits sign = Bits{decimal.negative} << (8 * sizeof(T) - 1);
  if (decimal.digits == 0) {
    out = std::bit_cast<T>(sign);
    return true;
  }
  if (decimal.exponent < min_power || decimal.exponent > max_power) return false;
  const PowerOfFive& power = powers_of_five[static_cast<std::size_t>(decimal.exponent - min_power)];
  const int zeros = std::countl_zero(decimal.digits);
  const std::uint64_t digits = decimal.digits << zeros;
  const Wide product = Wide{digits} * power.high + ((Wide{digits} * power.low) >> 64);
  const auto high = static_cast<std::uint64_t>(product >> 64), low = static_cast<std::uint64_t>(product);

  const int dropped = 63 - mantissa_bits + static_cast<int>(high >> 63);
  const std::uint64_t half = std::uint64_t{1} << (dropped - 1), rest = high & (2 * half - 1);
  // Perhaps half way: which side it is on, or whether on none, is beyond what is known.
  if ((rest == half && low == 0) || (rest == half - 1 && low >= ~std::uint64_t{1})) return false;
  const auto mantissa = static_cast<Bits>((high >> dropped) + (rest >= half ? 1 : 0));
  const int exponent = mantissa_bits - 1 + dropped + 128 + static_cast<int>(decimal.exponent) + power.binary - zeros;
  // The mantissa's highest bit isn't stored: it makes the exponent one more, and a mantissa rounded up to the next
  // power of two makes it two more.
  out = std::bit_cast<T>(
      static_cast<Bits>(sign | ((static_cast<Bits>(exponent + bias - 1) << (mantissa_bits - 1)) + mantissa)));
  return true;
}

}  // namespace

template <class T>
bool parse_decimal(std::string_view text, T& out) noexcept {
  Decimal decimal;
  return read_decimal(text, decimal) && round_decimal(decimal, out);
}

template bool parse_decimal(std::string_view text, float& out) noexcept;
template bool parse_decimal(std::string_view text, double& out) noexcept;

}  // namespace penstock::csv
