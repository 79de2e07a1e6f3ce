// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "inverse_dct_plain.hpp"

namespace penstock::jpeg::baseline {

namespace {

using namespace reduced;

// Values of one column or row, `step` apart.
struct Line {
  const std::int16_t* values;
  int step;
  std::int32_t at(int k) const { return values[k * step]; }
  std::uint32_t product(int k, int by) const { return static_cast<std::uint32_t>(at(k) * by); }
};

template <int Shift>
std::int16_t descaled(std::uint32_t v) {
  return static_cast<std::int16_t>(std::clamp(static_cast<std::int32_t>(v) >> Shift, -32768, 32767));
}

template <int Shift>
void make_four(const Line& x, std::int16_t (&out)[4]) {
  const std::uint32_t dc = x.product(0, 2 * 8192) + (1u << (Shift - 1)),
                      even = x.product(2, c1847) + x.product(6, -c0765);
  const std::uint32_t inner =
      x.product(1, inner_1) + x.product(3, inner_3) + x.product(5, inner_5) + x.product(7, inner_7);
  const std::uint32_t outer =
      x.product(1, outer_1) + x.product(3, outer_3) + x.product(5, outer_5) + x.product(7, outer_7);
  out[0] = descaled<Shift>(dc + even + outer);
  out[1] = descaled<Shift>(dc - even + inner);
  out[2] = descaled<Shift>(dc - even - inner);
  out[3] = descaled<Shift>(dc + even - outer);
}

template <int Shift>
void make_two(const Line& x, std::int16_t (&out)[2]) {
  const std::uint32_t dc = x.product(0, 4 * 8192) + (1u << (Shift - 1));
  const std::uint32_t odd = x.product(1, two_1) + x.product(3, two_3) + x.product(5, two_5) + x.product(7, two_7);
  out[0] = descaled<Shift>(dc + odd);
  out[1] = descaled<Shift>(dc - odd);
}

// Transforms the columns, then the rows, by functions that make Size values of eight. Returns has_usual_columns().
template <int Size>
bool transform_block(const Block& block, const std::int16_t* quantization, std::uint8_t* to, std::ptrdiff_t stride,
                     void (*column)(const Line&, std::int16_t (&)[Size]),
                     void (*row)(const Line&, std::int16_t (&)[Size])) {
  std::int16_t x[64], between[Size][8], out[Size];
  for (int i = 0; i < 64; ++i) x[i] = static_cast<std::int16_t>(block.coefficients[i] * quantization[i]);
  for (int k = 0; k < 8; ++k) {
    column({x + k, 8}, out);
    for (int y = 0; y < Size; ++y) between[y][k] = out[y];
  }
  for (int y = 0; y < Size; ++y) {
    row({between[y], 1}, out);
    for (int k = 0; k < Size; ++k)
      to[y * stride + k] = static_cast<std::uint8_t>(std::clamp(int{out[k]}, -128, 127) + 128);
  }
  return has_usual_columns(x);
}

template <int Size>
bool transform_blocks(const BlocksToValues& job, void (*column)(const Line&, std::int16_t (&)[Size]),
                      void (*row)(const Line&, std::int16_t (&)[Size])) {
  bool usual = true;
  for (int i = 0; i < job.count; ++i) {
    Block& block = job.blocks[job.from[i]];
    std::uint8_t* const to = job.values + job.to[i];
    usual &= block.known <= 1 ? fill_flat<Size>(block.coefficients[0], job.quantization[0], to, job.stride)
                              : transform_block<Size>(block, job.quantization, to, job.stride, column, row);
    std::fill_n(block.coefficients, 64, std::int16_t{0});
  }
  return usual;
}

}  // namespace

bool reduced_dct_4_plain(const BlocksToValues& job) {
  return transform_blocks<4>(job, make_four<columns_shift_4>, make_four<rows_shift_4>);
}

bool reduced_dct_2_plain(const BlocksToValues& job) {
  return transform_blocks<2>(job, make_two<columns_shift_2>, make_two<rows_shift_2>);
}

bool reduced_dct_1(const BlocksToValues& job) {
  // libjpeg looks values up in a table of 1024.
  constexpr int largest = 511;
  bool usual = true;
  for (int i = 0; i < job.count; ++i) {
    std::int16_t& coefficient = job.blocks[job.from[i]].coefficients[0];
    const int value = (coefficient * job.quantization[0] + 4) >> 3;
    usual &= value >= -largest && value <= largest;
    job.values[job.to[i]] = static_cast<std::uint8_t>(std::clamp(value, -128, 127) + 128);
    coefficient = 0;
  }
  return usual;
}

}  // namespace penstock::jpeg::baseline
