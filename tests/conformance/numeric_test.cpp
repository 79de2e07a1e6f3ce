// SPDX-License-Identifier: Apache-2.0
// Stages on numbers, held to the contract of a stage.
#include <penstock/penstock.hpp>
#include <penstock/sources/memory.hpp>
#include <penstock/testing/generated_records.hpp>
#include <penstock/testing/transform.hpp>
#include <penstock/transforms/numeric.hpp>

#include "support/catch.hpp"

namespace ps = penstock;

namespace {

struct Texts {
  std::uint64_t size() const { return 20; }
  ps::Schema schema() const { return {{"tokens", ps::DType::u16, {ps::dynamic}}, {"label", ps::DType::i64, {}}}; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    auto tokens = out.emplace<std::uint16_t, 1>("tokens", {static_cast<std::int64_t>(i % 7)});
    for (auto& token : tokens) token = static_cast<std::uint16_t>(i * 40);
    out.scalar<std::int64_t>("label", static_cast<std::int64_t>(i % 10));
  }
};

}  // namespace

TEST_CASE("stages on numbers keep the contract of a stage") {
  const auto texts = ps::share(Texts{});
  using ps::testing::check_stage;
  CHECK(check_stage(ps::cast("label", ps::DType::f32), texts).text() == "");
  CHECK(check_stage(ps::cast("tokens", ps::DType::f64), texts).text() == "");
  CHECK(check_stage(ps::cast("tokens", ps::DType::u8), texts, {.allow_bad_records = true}).text() == "");
  CHECK(check_stage(ps::one_hot("label", 10), texts).text() == "");
  CHECK(check_stage(ps::one_hot("tokens", 800, {.dtype = ps::DType::u8}), texts).text() == "");
  CHECK(check_stage(ps::one_hot("label", 5), texts, {.allow_bad_records = true}).text() == "");
  CHECK(check_stage(ps::sample_rows({"tokens"}, 3), texts).text() == "");
}
