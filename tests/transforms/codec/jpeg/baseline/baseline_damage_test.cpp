// The rule: where the baseline decoder gives pixels, libjpeg gives the same ones, without a warning.
#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <stdexcept>

#include <penstock/error.hpp>
#include <penstock/transforms/decode_jpeg.hpp>

#include "transforms/codec/jpeg/baseline/core.hpp"
#include "transforms/codec/jpeg/baseline/mutant.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

struct Counts {
  std::uint64_t refused = 0, equal = 0, handed_over = 0, needlessly = 0;
  std::array<std::uint64_t, 9> by_reason{}, needless_by_reason{};
};

std::optional<Image> judged(const Bytes& bytes, const Box& box, bool to_end) {
  try {
    return plain_crop(bytes, box, false, to_end);
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

void check(Core& core, const Bytes& bytes, Numbers& numbers, Counts& counts) {
  const std::optional<ImageShape> shape = shape_of(bytes);
  if (!shape || std::int64_t{shape->height} * shape->width > 1'000'000) {
    ++counts.refused;
    return;
  }
  const Box box = random_box(numbers, *shape);
  const bool to_end = numbers.below(4) == 0;
  const Outcome outcome = core.decode(bytes, box, to_end);
  if (!outcome.pixels && !outcome.reason) {
    ++counts.refused;
    return;
  }
  const std::optional<Image> expected = judged(bytes, box, to_end);
  if (outcome.pixels) {
    if (!expected) FAIL("libjpeg has something to say of it");
    if (*outcome.pixels != *expected) FAIL("the pixels are not libjpeg's");
    ++counts.equal;
    return;
  }
  ++counts.handed_over;
  const auto reason = static_cast<std::size_t>(*outcome.reason);
  ++counts.by_reason[reason];
  if (!expected) return;
  ++counts.needlessly;
  ++counts.needless_by_reason[reason];
}

}  // namespace

TEST_CASE("damaged files have libjpeg's pixels or are left to it") {
  Numbers numbers(7);
  Core core;
  Counts counts;
  const std::uint64_t mutants = runs(6'000);
  for (std::uint64_t i = 0; i < mutants;) {
    const RandomJpeg file = random_jpeg(numbers, 120);
    for (int k = 0; k < 20; ++k, ++i) {
      INFO(file.text << ", mutant " << i);
      check(core, damaged(file.bytes, numbers), numbers, counts);
    }
  }
  std::printf("%llu mutants: %llu with other headers, %llu equal, %llu left to libjpeg, %llu of these needlessly\n",
              static_cast<unsigned long long>(mutants), static_cast<unsigned long long>(counts.refused),
              static_cast<unsigned long long>(counts.equal), static_cast<unsigned long long>(counts.handed_over),
              static_cast<unsigned long long>(counts.needlessly));
  const char* const reasons[] = {"kind", "colors", "scans", "sampling", "tables", "code", "range", "end of data", "marker"};
  for (std::size_t r = 0; r < counts.by_reason.size(); ++r)
    std::printf("  %s: %llu, %llu needlessly\n", reasons[r], static_cast<unsigned long long>(counts.by_reason[r]),
                static_cast<unsigned long long>(counts.needless_by_reason[r]));
  CHECK(counts.equal > mutants / 10);
  CHECK(counts.handed_over > mutants / 10);
  CHECK(counts.needlessly < mutants * 3 / 100);
}
