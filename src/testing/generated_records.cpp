// SPDX-License-Identifier: Apache-2.0
#include <penstock/error.hpp>
#include <penstock/extend/rng.hpp>
#include <penstock/testing/generated_records.hpp>

namespace penstock::testing {

namespace {
void require(std::uint64_t index, std::uint64_t count) {
  if (index >= count)
    throw Error(Errc::not_found, "there are " + std::to_string(count) + " records")
        .with_source("generated")
        .with_index(index);
}
}  // namespace

Schema GeneratedRecords::schema() const { return {{"image", DType::u8, {dynamic}}, {"label", DType::i64, {}}}; }

void GeneratedRecords::read(std::uint64_t index, SampleBuilder& out) const {
  require(index, count_);
  Rng numbers(index, 0, Place{});
  const auto length = static_cast<std::int64_t>(index % 10 == 3 ? 0 : numbers.below(3001));
  for (std::uint8_t& value : out.emplace<std::uint8_t, 1>(0, {length})) value = static_cast<std::uint8_t>(numbers());
  out.scalar<std::int64_t>(1, static_cast<std::int64_t>(numbers.below(1000)));
}

std::string GeneratedRecords::key(std::uint64_t index) const {
  require(index, count_);
  std::string digits = std::to_string(index);
  return std::string(digits.size() < 8 ? 8 - digits.size() : 0, '0') + digits;
}

}  // namespace penstock::testing
