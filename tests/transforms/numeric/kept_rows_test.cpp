// SPDX-License-Identifier: Apache-2.0
// Rows that are kept by what they are: drop_hidden and keep_rows. Channels that move to the end.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/transforms/numeric.hpp>

#include "support/catch.hpp"
#include "support/thrown.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

using Row = std::vector<float>;

// One record: rows of f32 in "first", their numbers in "number", and three bytes each in "bytes".
struct Rows {
  std::vector<Row> rows = {};
  std::vector<std::int64_t> inner = {};  // dimensions of a row
  bool torn = false;
  std::uint64_t size() const { return 1; }
  Schema schema() const {
    std::vector<std::int64_t> dims{dynamic};
    dims.insert(dims.end(), inner.begin(), inner.end());
    return {{"first", DType::f32, Shape(std::span<const std::int64_t>(dims))},
            {"number", DType::i64, {dynamic}},
            {"bytes", DType::u8, {dynamic, 3}},
            {"fixed", DType::i64, {2}}};
  }
  void read(std::uint64_t, SampleBuilder& out) const {
    const auto n = static_cast<std::int64_t>(rows.size());
    std::vector<float> all;
    for (const Row& row : rows) all.insert(all.end(), row.begin(), row.end());
    if (inner.size() == 1)
      std::ranges::copy(all, out.emplace<float, 2>("first", {n, inner[0]}).data());
    else
      std::ranges::copy(all, out.emplace<float, 3>("first", {n, inner[0], inner[1]}).data());
    const auto number = out.emplace<std::int64_t, 1>("number", {n + (torn ? 1 : 0)});
    const auto bytes = out.emplace<std::uint8_t, 2>("bytes", {n, 3});
    for (std::int64_t i = 0; i < number.extent(0); ++i) number(i) = i;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t c = 0; c < 3; ++c) bytes(i, c) = static_cast<std::uint8_t>(10 * i + c);
    const auto fixed = out.emplace<std::int64_t, 1>("fixed", {2});
    fixed(0) = fixed(1) = 0;
  }
};

// The numbers of the rows that are left. All fields must have the same ones.
std::vector<std::int64_t> left(const Rows& rows, const Stage& stage) {
  const OwnedSample sample = (from(rows) | stage).at(0);
  const auto numbers = sample["number"].as<const std::int64_t, 1>();
  const auto bytes = sample["bytes"].as<const std::uint8_t, 2>();
  std::vector<std::int64_t> out(numbers.data(), numbers.data() + numbers.extent(0));
  REQUIRE(bytes.extent(0) == numbers.extent(0));
  REQUIRE(sample["first"].shape[0] == numbers.extent(0));
  const std::size_t width = rows.rows.empty() ? 0 : rows.rows[0].size();
  const auto* const values = reinterpret_cast<const float*>(sample["first"].data);
  for (std::size_t i = 0; i < out.size(); ++i) {
    CHECK(bytes(static_cast<std::int64_t>(i), 2) == 10 * out[i] + 2);
    CHECK(
        std::equal(values + i * width, values + (i + 1) * width, rows.rows[static_cast<std::size_t>(out[i])].begin()));
  }
  return out;
}

using Numbers = std::vector<std::int64_t>;
const std::vector<std::string> all{"first", "number", "bytes"};

// The cause of an Error; empty if there is none.
std::string cause(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.cause();
  }
  return "";
}

}  // namespace

TEST_CASE("drop_hidden drops boxes that are hidden, small or empty, with what belongs to them") {
  const Rows boxes{.rows = {{0, 0, 10, 10, 1},
                            {0, 0, 10, 10, 0.3f},
                            {0, 0, 10, 10, 0.25f},
                            {0, 0, 10, 10, 0},
                            {4, 0, 4, 10, 1},
                            {0, 5, 10, 5, 1},
                            {0, 0, 3, 10, 0.5f},
                            {0, 0, 10, 2.5f, 0.5f}},
                   .inner = {5}};
  CHECK(left(boxes, drop_hidden(all)) == Numbers{0, 1, 2, 6, 7});
  CHECK(left(boxes, drop_hidden(all, {.least = 0.25})) == Numbers{0, 1, 2, 6, 7});
  CHECK(left(boxes, drop_hidden(all, {.least = 0.5})) == Numbers{0, 6, 7});
  CHECK(left(boxes, drop_hidden(all, {.least_side = 3})) == Numbers{0, 1, 2, 6});
  CHECK(left(boxes, drop_hidden(all, {.least = 1, .least_side = 10})) == Numbers{0});
  CHECK(left(boxes, drop_hidden(all, {.least_side = 11})) == Numbers{});
  CHECK(left({.inner = {5}}, drop_hidden(all)) == Numbers{});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(left({.rows = {{0, 0, nan, 1, 1}, {0, 0, 1, 1, nan}, {0, 0, 1, 1, 1}}, .inner = {5}}, drop_hidden(all)) ==
        Numbers{2});
  CHECK((from(boxes) | drop_hidden(all)).schema() == boxes.schema());
}

TEST_CASE("drop_hidden drops points and instances of which no point is visible") {
  CHECK(left({.rows = {{1, 1, 0}, {1, 1, 1}, {-5, 9, 0}, {1, 1, 2}}, .inner = {3}}, drop_hidden(all)) == Numbers{1, 3});
  CHECK(left({.rows = {{1, 1, 0, 2, 2, 0}, {1, 1, 0, 2, 2, 2}, {1, 1, 1, 2, 2, 0}}, .inner = {2, 3}},
             drop_hidden(all)) == Numbers{1, 2});
}

TEST_CASE("keep_rows keeps the rows of a predicate on the first field") {
  const Rows rows{.rows = {{1, 2}, {3, 4}, {5, 6}}, .inner = {2}};
  CHECK(left(rows, keep_rows(all, [](View<const float, 1> row) { return row(0) != 3; })) == Numbers{0, 2});
  CHECK(left(rows, keep_rows(all, [](View<const float, 1> row) { return row(1) > 9; })) == Numbers{});
  CHECK(left(rows, keep_rows(all, [](View<const float, 1>) { return true; })) == Numbers{0, 1, 2});
  CHECK(left(rows, keep_rows({"number", "first", "bytes"}, [](View<const std::int64_t, 0> n) { return n() == 1; })) ==
        Numbers{1});
  const auto any = [](View<const float, 1>) { return true; };
  CHECK((from(rows) | keep_rows(all, any, {.version = 1})).fingerprint() !=
        (from(rows) | keep_rows(all, any, {.version = 2})).fingerprint());
  const auto with_fixed = from(rows) | keep_rows({"number", "fixed"}, [](View<const std::int64_t, 0>) { return true; });
  CHECK(with_fixed.schema().at("fixed").shape == Shape{dynamic});
}

TEST_CASE("a cache takes keep_rows only if its function has a version") {
  struct Versioned {
    std::uint64_t number;
    bool operator()(View<const float, 1>) const { return true; }
    std::uint64_t version() const { return number; }
  };
  const Rows rows{.rows = {{1, 2}}, .inner = {2}};
  const auto any = [](View<const float, 1>) { return true; };
  const auto cached = [&](const Stage& stage) {
    return cause([&] { (void)(from(rows) | stage | cache({.max_bytes = 1 << 20})); });
  };
  CHECK(cached(keep_rows(all, any)).find("doesn't say which version it is") != std::string::npos);
  CHECK(cached(keep_rows(all, any, {.version = 1})) == "");
  CHECK(cached(keep_rows(all, Versioned{0})) == "");
  CHECK((from(rows) | keep_rows(all, Versioned{1})).fingerprint() !=
        (from(rows) | keep_rows(all, Versioned{2})).fingerprint());
}

TEST_CASE("stages that keep rows refuse fields that have none, or others") {
  const Rows rows{.rows = {{1, 2}}, .inner = {2}};
  const auto joined = [&](const Rows& of, const Stage& stage) {
    return cause([&] { (void)(from(of) | stage).at(0); });
  };
  const auto any = [](View<const float, 1>) { return true; };
  CHECK(cause([&] { (void)keep_rows({}, any); }) == "name the fields whose rows are kept together");
  CHECK(cause([&] { (void)drop_hidden({"a", "a"}); }) == "field \"a\" is named twice");
  CHECK(cause([&] { (void)drop_hidden({"a"}, {.least = 1.5}); }).find("0 to 1, not 1.5") != std::string::npos);
  CHECK(cause([&] { (void)drop_hidden({"a"}, {.least_side = -1}); }).find("pixels, not -1") != std::string::npos);
  CHECK(joined(rows, drop_hidden(all)).find("f32[N, 5], or points") != std::string::npos);
  CHECK(error_of([&] { (void)(from(rows) | drop_hidden(all)); }).stage() == "drop_hidden");
  CHECK(joined({.rows = {{1, 2, 3}}, .inner = {3}}, drop_hidden(all, {.least = 0.5})).find("are for boxes") !=
        std::string::npos);
  CHECK(joined(rows, keep_rows({"number"}, any)).find("rows of f32 with 1 dimension") != std::string::npos);
  CHECK(
      joined({.rows = {{1, 2}}, .inner = {2}, .torn = true}, keep_rows(all, [](View<const float, 1>) { return false; }))
          .find("\"number\" has 2 rows, and \"first\" has 1") != std::string::npos);
  CHECK(joined(rows, keep_rows({"other"}, any)).find("other") != std::string::npos);
}

TEST_CASE("channels_last moves the channels of any type to the end") {
  struct Planes {
    DType dtype;
    std::uint64_t size() const { return 1; }
    Schema schema() const { return {{"image", dtype, {3, dynamic, 50}}}; }
    void read(std::uint64_t, SampleBuilder& out) const {
      const TensorView image = out.emplace(0, {3, 41, 50});
      for (std::size_t i = 0; i < image.bytes(); ++i) image.data[i] = static_cast<std::byte>(i * 31 / 7);
    }
  };
  for (const DType dtype : {DType::u8, DType::f16, DType::f32, DType::i64}) {
    const Pipeline p = from(Planes{dtype}), last = p | channels_last("image");
    CHECK(last.schema().at("image").shape == Shape({dynamic, 50, 3}));
    const OwnedSample before = p.at(0), after = last.at(0);
    REQUIRE(after["image"].shape == Shape({41, 50, 3}));
    const std::size_t each = size_of(dtype);
    bool same = true;
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t pixel = 0; pixel < 41 * 50; ++pixel)
        same = same && std::equal(before["image"].data + (c * 41 * 50 + pixel) * each,
                                  before["image"].data + (c * 41 * 50 + pixel + 1) * each,
                                  after["image"].data + (pixel * 3 + c) * each);
    CHECK(same);
  }
  CHECK(cause([] {
          (void)(from(Rows{.rows = {{1, 2}}, .inner = {2}}) | channels_last("first"));
        }).find("[C, H, W]") != std::string::npos);
}

}  // namespace PENSTOCK_TEST_FILE
