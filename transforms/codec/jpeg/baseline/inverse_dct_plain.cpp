// SPDX-License-Identifier: Apache-2.0
#include "inverse_dct_plain.hpp"

#include <cstdlib>

namespace penstock::jpeg::baseline {

namespace {

std::int16_t wrapped(std::int32_t x) { return static_cast<std::int16_t>(x); }

// Transforms eight values, which are `step` apart, in place.
template <int Shift>
void transform(std::int16_t* x, int step) {
  const auto at = [&](int k) -> std::int32_t { return x[k * step]; };
  const auto scaled = [](std::int32_t v) { return static_cast<std::uint32_t>(v) * 8192 + (1u << (Shift - 1)); };
  const auto sum = [](std::int32_t a, int by_a, std::int32_t b, int by_b) {
    return static_cast<std::uint32_t>(a * by_a) + static_cast<std::uint32_t>(b * by_b);
  };
  const std::uint32_t e3 = sum(at(2), c0541 + c0765, at(6), c0541), e2 = sum(at(2), c0541, at(6), c0541 - c1847);
  const std::uint32_t e0 = scaled(wrapped(at(0) + at(4))), e1 = scaled(wrapped(at(0) - at(4)));
  const std::uint32_t even[4] = {e0 + e3, e1 + e2, e1 - e2, e0 - e3};
  const std::int32_t z3 = wrapped(at(7) + at(3)), z4 = wrapped(at(5) + at(1));
  const std::uint32_t s3 = sum(z3, c1175 - c1961, z4, c1175), s4 = sum(z3, c1175, z4, c1175 - c0390);
  const std::uint32_t odd[4] = {
      sum(at(7), -c0899, at(1), c1501 - c0899) + s4,
      sum(at(5), -c2562, at(3), c3072 - c2562) + s3,
      sum(at(5), c2053 - c2562, at(3), -c2562) + s4,
      sum(at(7), c0298 - c0899, at(1), -c0899) + s3,
  };
  const auto descaled = [](std::uint32_t v) {
    return static_cast<std::int16_t>(std::clamp(static_cast<std::int32_t>(v) >> Shift, -32768, 32767));
  };
  for (int k = 0; k < 4; ++k) {
    x[k * step] = descaled(even[k] + odd[k]);
    x[(7 - k) * step] = descaled(even[k] - odd[k]);
  }
}

// Returns whether it is certain that libjpeg's version makes the same bits from these coefficients, which were
// multiplied by the quantization.
bool is_usual(const std::int16_t (&x)[64]) {
  if constexpr (passes_saturate) return std::all_of(x, x + 8, [](std::int32_t v) { return v == wrapped(v * 4) >> 2; });
  return has_usual_columns(x);
}

// Transforms a block. Returns is_usual() of its coefficients.
bool transform_block(const Block& block, const std::int16_t* quantization, std::uint8_t* to, std::ptrdiff_t stride) {
  std::int16_t x[64];
  for (int i = 0; i < 64; ++i) x[i] = wrapped(block.coefficients[i] * quantization[i]);
  const bool usual = is_usual(x);
  for (int column = 0; column < 8; ++column) transform<columns_shift>(x + column, 8);
  for (int row = 0; row < 8; ++row) {
    transform<rows_shift>(x + 8 * row, 1);
    for (int column = 0; column < 8; ++column)
      to[row * stride + column] = static_cast<std::uint8_t>(std::clamp(int{x[8 * row + column]}, -128, 127) + 128);
  }
  return usual;
}

}  // namespace

bool has_usual_columns(const std::int16_t (&x)[64]) {
  for (int column = 0; column < 8; ++column) {
    int sum = 0;
    for (int row = 0; row < 8; ++row) sum += std::abs(int{x[8 * row + column]});
    if (sum > largest_column) return false;
  }
  return true;
}

bool inverse_dct_plain(const BlocksToValues& job) {
  bool usual = true;
  for (int i = 0; i < job.count; ++i) {
    Block& block = job.blocks[job.from[i]];
    std::uint8_t* const to = job.values + job.to[i];
    usual &= block.known <= 1 ? fill_flat(block.coefficients[0], job.quantization[0], to, job.stride)
                              : transform_block(block, job.quantization, to, job.stride);
    std::fill_n(block.coefficients, 64, std::int16_t{0});
  }
  return usual;
}

}  // namespace penstock::jpeg::baseline
