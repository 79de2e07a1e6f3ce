// SPDX-License-Identifier: Apache-2.0
// Fields of `Memory` whose length differs from record to record.
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/memory.hpp>

#include "sources/source_checks.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using penstock_test::error_of;

namespace {

using Tokens = std::vector<std::vector<std::int32_t>>;
using Offsets = std::vector<std::int64_t>;

// Texts of 0 to 6 tokens; each token names its record and its place.
Tokens texts(std::size_t count) {
  Tokens out(count);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < i * 5 % 7; ++k) out[i].push_back(static_cast<std::int32_t>(100 * i + k));
  return out;
}

template <class T>
std::vector<T> values_of(const TensorView& tensor) {
  const auto* const first = reinterpret_cast<const T*>(tensor.data);
  return {first, first + tensor.shape.elements()};
}

std::string refusal(const std::function<void()>& f) {
  const Error error = error_of(f);
  CHECK(error.code() == Errc::invalid_argument);
  return std::string(error.cause());
}

}  // namespace

TEST_CASE("records in memory have fields of their own lengths") {
  const Tokens tokens = texts(20);
  Memory memory;
  memory.add_ragged<std::int32_t>("tokens", {}, tokens);
  memory.add_ragged("boxes", {4}, std::vector<std::vector<float>>(20, {1, 2, 3, 4}));
  REQUIRE(memory.size() == 20);
  CHECK(memory.schema().to_string() == "{tokens: i32[?], boxes: f32[?, 4]}");
  for (std::uint64_t i = 0; i < 20; ++i) {
    const OwnedSample sample = read_sample(memory, i);
    CHECK(sample["tokens"].shape == Shape{static_cast<std::int64_t>(tokens[i].size())});
    CHECK(values_of<std::int32_t>(sample["tokens"]) == tokens[i]);
    CHECK(sample["boxes"].shape == Shape{1, 4});
  }
  CHECK(error_of([&] { read_sample(memory, 20); }).code() == Errc::not_found);
}

TEST_CASE("values and offsets are viewed where they lie") {
  std::vector<float> values(24);
  std::iota(values.begin(), values.end(), 0.f);
  const auto* const data = reinterpret_cast<const std::byte*>(values.data());
  const Offsets offsets{0, 0, 3, 4, 4};
  auto owner = std::make_shared<int>(1);
  {
    Memory memory;
    memory.add_ragged({"x", DType::f32, {dynamic, 2, 3}}, data, offsets, owner);
    CHECK(owner.use_count() == 2);
    const std::vector<std::int64_t> lengths{0, 3, 1, 0};
    for (std::uint64_t i = 0; i < 4; ++i) {
      OwnedSample sample(memory.schema());
      SampleBuilder out = sample.builder();
      memory.read(i, out);
      CHECK(sample["x"].shape == Shape{lengths[i], 2, 3});
      if (lengths[i] != 0) CHECK(sample["x"].data == data + offsets[i] * 6 * 4);
    }
  }
  CHECK(owner.use_count() == 1);
  // Moved in, they are the same arrays.
  Memory moved;
  const float* const before = values.data();
  moved.add_ragged("x", {2, 3}, std::move(values), Offsets{0, 4});
  OwnedSample sample(moved.schema());
  SampleBuilder out = sample.builder();
  moved.read(0, out);
  CHECK(sample["x"].data == reinterpret_cast<const std::byte*>(before));
}

TEST_CASE("records without values, and no records at all") {
  Memory memory;
  memory.add_ragged("x", {2}, std::vector<std::vector<double>>(3));
  CHECK(read_sample(memory, 2)["x"].shape == Shape{0, 2});
  Memory none;
  none.add_ragged("x", {}, std::vector<std::vector<double>>{});
  CHECK(none.size() == 0);
  CHECK(none.schema().to_string() == "{x: f64[?]}");
  CHECK(error_of([&] { read_sample(none, 0); }).code() == Errc::not_found);
}

TEST_CASE("booleans of any length") {
  Memory memory;
  memory.add_ragged<bool>("known", {}, {{true, false}, {}, {true}});
  CHECK(memory.schema().to_string() == "{known: bool[?]}");
  CHECK(values_of<std::uint8_t>(read_sample(memory, 0)["known"]) == std::vector<std::uint8_t>{1, 0});
  CHECK(values_of<std::uint8_t>(read_sample(memory, 2)["known"]) == std::vector<std::uint8_t>{1});
}

TEST_CASE("offsets that can't be are refused with their number") {
  const auto with = [](std::vector<float> values, Offsets offsets, Shape shape = {}) {
    return refusal([&] { Memory().add_ragged("x", shape, std::move(values), std::move(offsets)); });
  };
  CHECK(with({}, {}) == "field \"x\" has no offsets; N records have N + 1 offsets");
  CHECK(with({1, 2}, {1, 2}) == "offset 0 of field \"x\" is 1; it must be 0");
  CHECK(with({1, 2}, {-1, 2}) == "offset 0 of field \"x\" is -1; it must be 0");
  CHECK(with({1, 2}, {0, 2, 1, 2}) ==
        "offset 2 of field \"x\" is 1; it must be at least the offset before it, which is 2");
  CHECK(with({1, 2}, {0, 1}) == "offset 1 of field \"x\" is 1; it must be the number of elements, which is 2");
  CHECK(with({1, 2}, {0, 3}) == "offset 1 of field \"x\" is 3; it must be the number of elements, which is 2");
  CHECK(with({1, 2, 3}, {0, 1}, {2}) == "field \"x\" has 3 elements, which is not a multiple of its shape [2]");
  CHECK(with({}, {0}, {0}) == "field \"x\" has 0 elements, which is not a multiple of its shape [0]");
  CHECK(refusal([] {
          Memory().add_ragged<float>("x", {2}, {{1, 2}, {1, 2, 3}});
        }) == "record 1 of field \"x\" has 3 elements, which is not a multiple of its shape [2]");
  for (const Shape& shape : {Shape{}, Shape{3}, Shape{3, dynamic}, Shape{dynamic, dynamic}})
    CHECK(refusal([&] {
            Memory().add_ragged({"x", DType::u8, shape}, nullptr, Offsets{0, 0});
          }) == "field \"x\" has the shape " + shape.to_string() +
                    "; a ragged field has a dynamic first dimension, and no other one");
  CHECK(refusal([] {
          Memory().add<float>("y", {}, {1, 2}).add_ragged<float>("x", {}, {{1}, {2}, {3}});
        }) == "field \"x\" has 3 records; the fields before it have 2");
  CHECK(refusal([] {
          Memory().add_ragged<float>("x", {}, {{1}, {2}, {3}}).add<float>("y", {}, {1, 2});
        }) == "field \"y\" has 2 records; the fields before it have 3");
  // What was refused is not there.
  Memory kept;
  kept.add<float>("y", {}, {1, 2});
  refusal([&] { kept.add_ragged<float>("x", {}, {{1}}); });
  CHECK(kept.schema().to_string() == "{y: f32[]}");
  CHECK(read_sample(kept, 1)["y"].shape == Shape{});
}

TEST_CASE("records of their own lengths are padded, kept ragged, and sorted into buckets") {
  const Tokens tokens = texts(50);
  Memory memory;
  memory.add_ragged<std::int32_t>("tokens", {}, tokens);
  for (const std::string how : {"pad", "ragged", "bucket"}) {
    CAPTURE(how);
    Pipeline p = from(memory) | shuffle({.seed = 3});
    p = how == "ragged" ? p | ragged("tokens") : how == "pad" ? p | pad("tokens", {.value = -1}) : p | bucket("tokens");
    if (how == "bucket") p = p | pad("tokens", {.value = -1});
    Loader loader(p | batch(8), {.threads = 2, .epochs = 1});
    std::vector<int> seen(50);
    for (const Batch& batch : loader.epoch())
      for (std::size_t row = 0; row < batch.size(); ++row) {
        const std::uint64_t record = batch.indices()[row];
        ++seen.at(record);
        const auto length = static_cast<std::size_t>(batch.lengths("tokens")[row]);
        REQUIRE(length == tokens[record].size());
        for (std::size_t k = 0; k < length; ++k) {
          const std::int32_t token =
              how == "ragged"
                  ? batch.ragged("tokens").view<std::int32_t, 1>(row)(static_cast<std::int64_t>(k))
                  : batch.view<std::int32_t, 2>("tokens")(static_cast<std::int64_t>(row), static_cast<std::int64_t>(k));
          CHECK(token == tokens[record][k]);
        }
      }
    CHECK(seen == std::vector<int>(50, 1));
  }
}

}  // namespace PENSTOCK_TEST_FILE
