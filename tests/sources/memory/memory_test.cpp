// SPDX-License-Identifier: Apache-2.0
#include <penstock/sources/memory.hpp>

#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "sources/source_checks.hpp"
#include "support/catch.hpp"

using namespace penstock;
using penstock_test::error_of;

TEST_CASE("memory gives rows of its arrays") {
  std::vector<float> x(12);
  std::iota(x.begin(), x.end(), 0.f);
  Memory memory;
  memory.add<float>("x", {2, 2}, x).add<std::int64_t>("y", {}, {7, 8, 9});
  REQUIRE(memory.size() == 3);
  CHECK(memory.schema().to_string() == "{x: f32[2, 2], y: i64[]}");
  const OwnedSample second = read_sample(memory, 1);
  CHECK(second["x"].as<float, 2>()(1, 0) == 6.f);
  CHECK(*second["y"].as<std::int64_t, 0>().data() == 8);
}

TEST_CASE("memory has each field once") {
  Memory memory;
  memory.add<float>("x", {}, {1, 2});
  for (const auto& again : std::vector<std::function<void()>>{
           [&] {
             memory.add<float>("x", {}, {3, 4});
           },
           [&] {
             memory.add<double>("x", {}, {3, 4});
           },
           [&] {
             memory.add_ragged<std::int32_t>("x", {}, std::vector<std::vector<std::int32_t>>{{1}, {2}});
           }}) {
    const auto error = error_of(again);
    CHECK(error.code() == Errc::invalid_argument);
    CHECK(error.cause().find("there is a field \"x\" already") != std::string::npos);
  }
  CHECK(memory.schema().to_string() == "{x: f32[]}");
}

TEST_CASE("memory of booleans") {
  Memory memory;
  memory.add<bool>("known", {2}, {true, false, false, true});
  REQUIRE(memory.size() == 2);
  CHECK(memory.schema().to_string() == "{known: bool[2]}");
  const OwnedSample second = read_sample(memory, 1);
  CHECK_FALSE(second["known"].as<bool, 1>()(0));
  CHECK(second["known"].as<bool, 1>()(1));
}

TEST_CASE("memory views its arrays, and copies of it share them") {
  Memory memory;
  memory.add<float>("x", {2}, {1, 2, 3, 4});
  const Memory copy = memory;
  OwnedSample a(memory.schema()), b(memory.schema());
  SampleBuilder to_a = a.builder(), to_b = b.builder();
  memory.read(1, to_a);
  copy.read(1, to_b);
  CHECK(a["x"].data == b["x"].data);
}

TEST_CASE("memory of a caller's own") {
  const std::vector<std::uint8_t> bytes{1, 2, 3, 4, 5, 6};
  Memory memory;
  memory.add({"image", DType::u8, {3}}, reinterpret_cast<const std::byte*>(bytes.data()), 2);
  CHECK(read_sample(memory, 1)["image"].as<std::uint8_t, 1>()(2) == 6);
}

TEST_CASE("memory refuses arrays that don't fit each other") {
  Memory memory;
  CHECK(error_of([&] { memory.add<float>("x", {2}, {1, 2, 3}); }).code() == Errc::invalid_argument);
  memory.add<float>("x", {2}, {1, 2, 3, 4});
  CHECK(error_of([&] { memory.add<float>("y", {}, {1, 2, 3}); }).code() == Errc::invalid_argument);
}

TEST_CASE("memory past its end is refused, not read") {
  Memory memory;
  memory.add<float>("x", {2}, {1, 2, 3, 4});
  for (const std::uint64_t index : {std::uint64_t{2}, ~std::uint64_t{0}}) {
    const Error error = error_of([&] { read_sample(memory, index); });
    CHECK(error.code() == Errc::not_found);
    CHECK(error.index() == index);
    CHECK(error.source() == "memory");
  }
}
