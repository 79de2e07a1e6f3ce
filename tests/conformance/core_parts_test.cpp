// SPDX-License-Identifier: Apache-2.0
// What the core has, held to its contracts.
#include <penstock/penstock.hpp>
#include <penstock/sources/memory.hpp>
#include <penstock/testing/fail_after_resource.hpp>
#include <penstock/testing/generated_records.hpp>
#include <penstock/testing/memory_resource.hpp>
#include <penstock/testing/source.hpp>
#include <penstock/testing/statistics_resource.hpp>
#include <penstock/testing/transform.hpp>

#include "support/catch.hpp"

namespace ps = penstock;
using ps::testing::check_memory_resource;
using ps::testing::check_source;
using ps::testing::GeneratedRecords;

namespace {

ps::Memory arrays(std::size_t records) {
  std::vector<float> x;
  std::vector<std::int64_t> n;
  for (std::size_t i = 0; i < records; ++i) {
    for (int k = 0; k < 6; ++k) x.push_back(static_cast<float>(i) + 0.1f * static_cast<float>(k));
    n.push_back(static_cast<std::int64_t>(i * i));
  }
  ps::Memory memory;
  memory.add<float>("x", {2, 3}, std::move(x)).add<std::int64_t>("n", {}, std::move(n));
  return memory;
}

// Keys, blocks and readers of its own.
struct Shards : GeneratedRecords {
  Shards() : GeneratedRecords(100) {}
  std::vector<std::uint64_t> block_ends() const { return {10, 60, 100}; }
  std::vector<ps::Group> groups() const { return {{"a", 30}, {"b", 45}, {"a", 100}}; }
};

}  // namespace

TEST_CASE("memory keeps the contracts of a source") {
  CHECK(check_source([] { return arrays(100); }).text() == "");
  CHECK(check_source([] { return arrays(100); }, {.records = 7}).text() == "");
  CHECK(check_source([] { return GeneratedRecords(300); }, {.unique_keys = true}).text() == "");
}

TEST_CASE("joins keep the contracts of a source") {
  const auto other = [] { return ps::concat(Shards{}, GeneratedRecords(23)); };
  CHECK(check_source([] { return ps::concat(Shards{}, GeneratedRecords(7), Shards{}); }, {.other = other}).text() ==
        "");
  CHECK(check_source([] { return ps::interleave(Shards{}, GeneratedRecords(7), {.block = 3}); }).text() == "");
  CHECK(check_source([] {
          return ps::zip({{Shards{}}, {GeneratedRecords(100), "b_"}, {arrays(100), "c_"}});
        }).text() == "");
  CHECK(check_source([] {
          return ps::concat(ps::interleave(GeneratedRecords(3), Shards{}), ps::concat(Shards{}, GeneratedRecords(1)));
        }).text() == "");
}

TEST_CASE("pairs and windows keep the contracts of a source") {
  struct Backwards : Shards {
    std::string key(std::uint64_t i) const {
      if (i >= size()) throw ps::Error(ps::Errc::not_found, "past the end");
      return GeneratedRecords::key(size() - 1 - i);
    }
    std::vector<std::uint64_t> block_ends() const { return {}; }
  };
  CHECK(check_source([] {
          return ps::pair({{GeneratedRecords(80)}, {Backwards{}, "b_"}}, {.unpaired = ps::Unpaired::leave_out});
        }).text() == "");
  const auto other = [] { return ps::windows(arrays(100), {.length = 7, .stride = 4}); };
  CHECK(check_source([] { return ps::windows(arrays(100), {.length = 7, .stride = 3}); }, {.other = other}).text() ==
        "");
}

TEST_CASE("memory resources keep their contract") {
  const auto host = check_memory_resource(ps::host_memory());
  CHECK(host.text() == "");
  CHECK(host.passed());
  ps::LimitResource limited(ps::host_memory(), std::size_t{1} << 30);
  CHECK(check_memory_resource(limited).text() == "");
  CHECK(limited.used() == 0);
  ps::testing::StatisticsResource counted(ps::host_memory());
  CHECK(check_memory_resource(counted).text() == "");
  CHECK(counted.used() == 0);
  ps::testing::FailAfterResource never(ps::host_memory(), 1'000'000'000, false);
  CHECK(check_memory_resource(never).text() == "");
}

TEST_CASE("stages of the core keep the contracts of a stage") {
  const auto inputs = ps::share(arrays(30));
  const auto noise = ps::map("x", [](ps::View<float, 2> x, ps::Context& context) {
    for (float& v : x) v += static_cast<float>(context.rng().uniform());
  });
  CHECK(ps::testing::check_stage(noise, inputs).text() == "");
  CHECK(ps::testing::check_stage(ps::select_fields({"n"}), inputs).text() == "");
  CHECK(ps::testing::check_stage(ps::drop_fields({"n"}), inputs).text() == "");
  CHECK(ps::testing::check_stage(ps::rename("n", "number"), inputs).text() == "");
  const auto first_rows = ps::map("x", [](ps::View<const float, 2> in, ps::Output<float, 2> out, ps::Context& context) {
    auto to = out.emplace(
        {static_cast<std::int64_t>(context.rng().below(static_cast<std::uint64_t>(in.extent(0) + 1))), in.extent(1)});
    std::copy(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(to.size()), to.begin());
  });
  CHECK(ps::testing::check_stage(first_rows, inputs).text() == "");
}
