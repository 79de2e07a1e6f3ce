// SPDX-License-Identifier: Apache-2.0
// A random part of a record's rows.
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/memory.hpp>
#include <penstock/transforms/numeric.hpp>

#include "support/catch.hpp"
#include "support/thrown.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

// Record i has i rows of three fields, each of which tells its row.
struct Bags {
  std::uint64_t records = 0;
  bool torn = false;  // one field has a row more
  std::uint64_t size() const { return records; }
  Schema schema() const {
    return {{"features", DType::f32, {dynamic, 3}},
            {"number", DType::i64, {}},
            {"at", DType::i64, {dynamic}},
            {"masks", DType::boolean, {dynamic, 2, 1, 2}}};
  }
  void read(std::uint64_t i, SampleBuilder& out) const {
    const auto rows = static_cast<std::int64_t>(i);
    const auto features = out.emplace<float, 2>("features", {rows, 3});
    out.scalar<std::int64_t>("number", rows);
    const auto at = out.emplace<std::int64_t, 1>("at", {rows + (torn ? 1 : 0)});
    const auto masks = out.emplace<bool, 4>("masks", {rows, 2, 1, 2});
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t k = 0; k < 3; ++k) features(row, k) = static_cast<float>(10 * row + k);
      at(row) = row;
      for (std::int64_t k = 0; k < 4; ++k) masks(row, k / 2, 0, k % 2) = (row >> k & 1) != 0;
    }
    if (torn) at(rows) = 0;
  }
};

std::vector<std::int64_t> rows_of(const OwnedSample& sample) {
  const auto at = sample["at"].as<const std::int64_t, 1>();
  return {at.data(), at.data() + at.extent(0)};
}

}  // namespace

TEST_CASE("sampled rows are different ones in order, the same of each field, and others in each epoch") {
  const std::vector<std::string> fields{"features", "at", "masks"};
  const Pipeline p = from(Bags{40}) | seed(3) | sample_rows(fields, 12);
  CHECK(p.schema() == Bags{}.schema());
  std::set<std::vector<std::int64_t>> seen;
  for (std::uint64_t i = 0; i < 40; ++i)
    for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
      const OwnedSample sample = p.at(i, epoch);
      const std::vector<std::int64_t> rows = rows_of(sample);
      REQUIRE(rows.size() == std::min<std::size_t>(i, 12));
      CHECK(*sample["number"].as<const std::int64_t, 0>().data() == static_cast<std::int64_t>(i));
      const auto features = sample["features"].as<const float, 2>();
      const auto masks = sample["masks"].as<const bool, 4>();
      REQUIRE(features.extent(0) == static_cast<std::int64_t>(rows.size()));
      REQUIRE(masks.extent(0) == static_cast<std::int64_t>(rows.size()));
      for (std::size_t r = 0; r < rows.size(); ++r) {
        const auto at = static_cast<std::int64_t>(r);
        REQUIRE(rows[r] < static_cast<std::int64_t>(i));
        if (r != 0) REQUIRE(rows[r - 1] < rows[r]);
        if (i <= 12) REQUIRE(rows[r] == at);
        for (std::int64_t k = 0; k < 3; ++k) REQUIRE(features(at, k) == static_cast<float>(10 * rows[r] + k));
        for (std::int64_t k = 0; k < 4; ++k) REQUIRE(masks(at, k / 2, 0, k % 2) == ((rows[r] >> k & 1) != 0));
      }
      if (i == 39) seen.insert(rows);
    }
  CHECK(seen.size() == 4);
  // Through a loader, at any number of threads.
  const Pipeline batches = p | drop_fields({"masks"}) | ragged("features") | ragged("at") | batch(7);
  for (const unsigned threads : {1u, 4u}) {
    Loader loader(batches, {.threads = threads, .epochs = 2});
    while (const auto b = loader.next())
      for (std::size_t row = 0; row < b->size(); ++row) {
        const auto at = b->ragged("at")[row].as<const std::int64_t, 1>();
        CHECK(std::vector<std::int64_t>(at.data(), at.data() + at.extent(0)) ==
              rows_of(p.at(b->indices()[row], b->epoch())));
      }
  }
}

TEST_CASE("each set of rows is as likely as any other") {
  const Pipeline p = from(Bags{6}) | sample_rows({"at"}, 2);
  std::map<std::vector<std::int64_t>, int> counts;
  constexpr int draws = 3000;
  for (std::uint64_t epoch = 0; epoch < draws; ++epoch) ++counts[rows_of(p.at(5, epoch))];
  REQUIRE(counts.size() == 10);
  for (const auto& [rows, count] : counts) CHECK(std::abs(count - draws / 10) < 5 * std::sqrt(draws / 10));
}

TEST_CASE("of fields of fixed size fewer rows are left, and fields must go together") {
  Memory m;
  m.add<float>("x", {8, 2}, std::vector<float>(32, 1.0f));
  m.add<std::uint16_t>("y", {8}, std::vector<std::uint16_t>(16));
  m.add<std::uint16_t>("z", {7}, std::vector<std::uint16_t>(14));
  m.add<std::int64_t>("label", {}, std::vector<std::int64_t>(2));
  const Pipeline all = from(m);
  const Pipeline p = all | sample_rows({"y", "x"}, 5);
  CHECK(p.schema().to_string() == "{x: f32[5, 2], y: u16[5], z: u16[7], label: i64[]}");
  CHECK(p.at(1)["x"].shape == Shape{5, 2});
  CHECK((all | sample_rows({"y", "x"}, 9)).schema() == all.schema());
  CHECK((all | sample_rows({"y", "x"}, 9)).at(0)["y"].shape == Shape{8});
  const auto code = [&](std::vector<std::string> fields, std::uint64_t rows) {
    return code_of([&] { (void)(all | sample_rows(std::move(fields), rows)); });
  };
  CHECK(code({"x", "z"}, 5) == Errc::schema_mismatch);
  CHECK(code({"label"}, 5) == Errc::schema_mismatch);
  CHECK(code({"w"}, 5) == Errc::schema_mismatch);
  CHECK(code({}, 5) == Errc::invalid_argument);
  CHECK(code({"x", "x"}, 5) == Errc::invalid_argument);
  CHECK(code({"x"}, 0) == Errc::invalid_argument);
  Bags torn{5};
  torn.torn = true;
  const Error error = error_of([&] { (void)(from(torn) | sample_rows({"features", "at"}, 2)).at(3); });
  CHECK(error.code() == Errc::unsupported);
  CHECK(mentions(error, "field \"at\" has 4 rows, and \"features\" has 3"));
}
