// SPDX-License-Identifier: Apache-2.0
#include "transforms/codec/jpeg/baseline/rule.hpp"

#include <stdexcept>

#include <penstock/error.hpp>
#include <penstock/transforms/decode_jpeg.hpp>

using namespace penstock;

namespace penstock_test {

namespace {

std::optional<Image> by_libjpeg(const Bytes& bytes, const Box& box, bool to_end, int denominator) {
  try {
    return plain_crop(bytes, box, false, to_end, denominator);
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

std::optional<ImageShape> shape_of(const Bytes& bytes) {
  try {
    return jpeg_decoder()->start()->open(bytes);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

Judgement judge(Core& core, const Bytes& bytes, Numbers& numbers) {
  const std::optional<ImageShape> shape = shape_of(bytes);
  if (!shape || std::int64_t{shape->height} * shape->width > 1'000'000) return {};
  const int denominator = numbers.coin() ? 1 : 2 << numbers.below(3);
  const Box box = random_box(numbers, shape_at(*shape, denominator));
  const bool to_end = numbers.below(4) == 0;
  const Outcome outcome = core.decode(bytes, box, to_end, false, denominator);
  if (!outcome.pixels && !outcome.reason) return {};
  const std::optional<Image> expected = by_libjpeg(bytes, box, to_end, denominator);
  if (outcome.reason) return {Judgement::handed_over, *outcome.reason, expected != std::nullopt, nullptr};
  const char* const broken = !expected                      ? "libjpeg has something to say of it"
                             : *outcome.pixels != *expected ? "the pixels are not libjpeg's"
                                                            : nullptr;
  return {Judgement::equal, {}, false, broken};
}

}  // namespace penstock_test
