// SPDX-License-Identifier: Apache-2.0
// Pieces of series.
#include "support/catch.hpp"

#include <cstring>
#include <set>

#include <penstock/sources/memory.hpp>
#include <penstock/stages/on_error.hpp>

#include "core/blocks/chunks.hpp"
#include "core/order/order_help.hpp"

using namespace help;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Rows of {x: f32[2], t: i64[], who: u8[?] or i64[]}.
struct Rows {
  std::vector<std::string> who;
  bool text = true;
  std::uint64_t bad = ~std::uint64_t{0};
  std::uint64_t size() const { return who.size(); }
  std::string name() const { return "rows"; }
  std::string key(std::uint64_t i) const { return "r" + std::to_string(i); }
  std::uint64_t identity() const { return 3; }
  ps::Schema schema() const {
    const ps::Schema first{{"x", ps::DType::f32, {2}}, {"t", ps::DType::i64, {}}};
    return first.with(text ? ps::Field{"who", ps::DType::u8, {ps::dynamic}} : ps::Field{"who", ps::DType::u8, {1}});
  }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    if (i == bad) throw ps::Error(ps::Errc::corrupt, "planted").with_index(i);
    auto x = out.emplace<float, 1>(0, {2});
    x(0) = static_cast<float>(i);
    x(1) = -static_cast<float>(i);
    out.scalar<std::int64_t>(1, static_cast<std::int64_t>(i));
    out.view(2, {reinterpret_cast<const std::byte*>(who[i].data()), who[i].size()});
  }
};

// First rows of all windows, by the words of the contract.
std::vector<std::uint64_t> first_rows(const std::vector<std::string>& who, std::uint64_t length, std::uint64_t stride) {
  std::vector<std::uint64_t> first;
  for (std::uint64_t begin = 0, end = 0; begin < who.size(); begin = end) {
    while (end < who.size() && who[end] == who[begin]) ++end;
    for (std::uint64_t row = begin; row + length <= end; row += stride) first.push_back(row);
  }
  return first;
}

std::string cause_of(const std::function<void()>& f) {
  const auto error = error_of(f);
  REQUIRE(error);
  return std::string(error->stage()) + ": " + std::string(error->cause());
}

}  // namespace

TEST_CASE("windows are rows stacked, as many as fit") {
  for (const std::uint64_t rows : {0u, 1u, 5u, 16u, 17u})
    for (const std::uint64_t length : {1u, 3u, 5u, 17u})
      for (const std::uint64_t stride : {1u, 2u, 7u}) {
        CAPTURE(rows, length, stride);
        ps::Memory series;
        std::vector<std::uint16_t> values;
        for (std::uint64_t i = 0; i < rows * 3; ++i) values.push_back(static_cast<std::uint16_t>(i * 7));
        series.add<std::uint16_t>("x", {3}, values);
        if (rows != 0) series.add<std::int64_t>("t", {}, std::vector<std::int64_t>(rows, 4));
        const ps::AnySource all = ps::windows(series, {.length = length, .stride = stride});
        CHECK(all.size() == (rows < length ? 0 : (rows - length) / stride + 1));
        if (rows != 0)
          CHECK(all.schema().to_string() ==
                "{x: u16[" + std::to_string(length) + ", 3], t: i64[" + std::to_string(length) + "]}");
        for (std::uint64_t i = 0; i < all.size(); ++i) {
          const ps::OwnedSample sample = ps::read_sample(all, i);
          const auto x = sample["x"].as<const std::uint16_t, 2>();
          REQUIRE(std::memcmp(x.data(), values.data() + i * stride * 3, length * 3 * sizeof(std::uint16_t)) == 0);
          REQUIRE(sample["t"].as<const std::int64_t, 1>()(static_cast<std::int64_t>(length - 1)) == 4);
        }
        CHECK(error_of([&] { (void)ps::read_sample(all, all.size()); })->code() == ps::Errc::not_found);
      }
}

TEST_CASE("series are groups of their windows, where nothing else tells groups") {
  // Two series of 7, apart from one another.
  const std::vector<std::int64_t> video{7, 7, 7, 7, -3, -3, 9, 7, 7, 7};
  ps::Memory rows;
  rows.add<std::int64_t>("video", {}, video);
  rows.add<std::int64_t>("row", {}, std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  const ps::AnySource numbers = ps::windows(rows, {.length = 2, .group_by = "video"});
  const std::vector<ps::Group> groups = numbers.model()->groups();
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].name == "7");
  CHECK(groups[0].end == 3);
  CHECK(groups[1].name == "-3");
  CHECK(groups[1].end == 4);
  CHECK(groups[2].name == "7");
  CHECK(groups[2].end == 6);
  // One window of each video in each epoch, another one from epoch to epoch.
  std::set<std::int64_t> first_of_7;
  ps::Loader loader(ps::from(numbers) | ps::bags(1) | ps::batch(2), {.threads = 1, .epochs = 20});
  for (int epoch = 0; epoch < 20; ++epoch)
    for (ps::Batch& batch : loader.epoch()) {
      REQUIRE(batch.size() == 2);
      const auto of = batch.view<const std::int64_t, 2>("video"), number = batch.view<const std::int64_t, 2>("row");
      std::set<std::int64_t> seen;
      for (std::int64_t row = 0; row < 2; ++row) {
        CHECK(of(row, 1) == of(row, 0));
        seen.insert(of(row, 0));
        if (of(row, 0) == 7) first_of_7.insert(number(row, 0));
      }
      CHECK(seen == std::set<std::int64_t>{-3, 7});
    }
  CHECK(first_of_7 == std::set<std::int64_t>{0, 1, 2, 7, 8});
  // A source with keys has its own say.
  const ps::AnySource keyed = ps::windows(Rows{.who = {"a", "a", "b", "b"}}, {.length = 2, .group_by = "who"});
  CHECK(keyed.model()->groups().empty());
}

TEST_CASE("series of any field are groups") {
  ps::Memory rows;
  rows.add<float>("x", {2}, std::vector<float>{1, 2, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2});
  const std::vector<ps::Group> groups = ps::windows(rows, {.length = 2, .group_by = "x"}).model()->groups();
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].name == groups[2].name);
  CHECK(groups[0].name != groups[1].name);
}

TEST_CASE("windows never cross from one series to the next") {
  std::vector<std::string> who;
  for (std::uint64_t series = 0; series < 40; ++series)
    for (std::uint64_t i = 0; i < mix(series) % 9 + 1; ++i)
      who.push_back(std::string(1, static_cast<char>('a' + series % 20)));
  for (const bool text : {true, false})
    for (const std::uint64_t length : {1u, 2u, 4u, 9u, 10u})
      for (const std::uint64_t stride : {1u, 3u}) {
        CAPTURE(text, length, stride);
        const ps::AnySource all =
            ps::windows(Rows{.who = who, .text = text}, {.length = length, .stride = stride, .group_by = "who"});
        const std::vector<std::uint64_t> expected = first_rows(who, length, stride);
        REQUIRE(all.size() == expected.size());
        for (std::uint64_t i = 0; i < all.size(); ++i) {
          const ps::OwnedSample sample = ps::read_sample(all, i);
          const auto t = sample["t"].as<const std::int64_t, 1>();
          for (std::uint64_t row = 0; row < length; ++row)
            REQUIRE(t(static_cast<std::int64_t>(row)) == static_cast<std::int64_t>(expected[i] + row));
          REQUIRE(sample["x"].as<const float, 2>()(0, 1) == -static_cast<float>(expected[i]));
          REQUIRE(all.model()->key(i) == "r" + std::to_string(expected[i]));
          // Text stands there once, as it is the same in all rows.
          REQUIRE(sample["who"].shape == (text ? ps::Shape{1} : ps::Shape{static_cast<std::int64_t>(length), 1}));
          REQUIRE(static_cast<char>(sample["who"].data[0]) == who[expected[i]][0]);
        }
      }
}

TEST_CASE("series may be named by numbers that are too large for labels") {
  const std::uint64_t large = ~std::uint64_t{0};
  ps::Memory rows, series;
  rows.add<std::int32_t>("x", {}, std::vector<std::int32_t>{0, 1, 2, 3, 4, 5});
  series.add<std::uint64_t>("who", {}, std::vector<std::uint64_t>{7, 7, large, large, large, large - 1});
  // Joined, sources say labels, or that these are none.
  const ps::AnySource pieces = ps::windows(ps::zip(rows, series), {.length = 2, .group_by = "who"});
  REQUIRE(pieces.size() == 3);
  const ps::OwnedSample second = ps::from(pieces).at(1);
  CHECK(reinterpret_cast<const std::int32_t*>(second["x"].data)[0] == 2);
}

TEST_CASE("a plan counts the rows that are in no window") {
  const std::vector<std::string> who{"a", "a", "b", "b", "b", "b", "b", "b", "c", "c", "c", "c"};
  const ps::AnySource all = ps::windows(Rows{.who = who}, {.length = 3, .stride = 2, .group_by = "who"});
  REQUIRE(all.model()->notes().size() == 1);
  CHECK(all.model()->notes()[0] ==
        "3 windows of 3 rows, every 2, of 12 rows in 3 series by who; 1 series shorter than a window have none (2 "
        "rows); 2 rows after the last window of their series are in none");
  CHECK(has(ps::from(all).plan(), "3 windows of 3 rows"));
  // A value that comes again begins a series of its own.
  CHECK(ps::windows(Rows{.who = {"a", "a", "b", "a", "a"}}, {.length = 2, .group_by = "who"}).size() == 2);
  std::set<std::uint64_t> identities;
  for (const ps::WindowOptions& o : std::vector<ps::WindowOptions>{{.length = 3, .group_by = "who"},
                                                                   {.length = 2, .group_by = "who"},
                                                                   {.length = 2, .stride = 2, .group_by = "who"}})
    identities.insert(ps::windows(Rows{.who = who}, o).model()->identity());
  identities.insert(ps::windows(Rows{.who = std::vector<std::string>(12, "a")}, {.length = 3, .group_by = "who"})
                        .model()
                        ->identity());
  CHECK(identities.size() == 4);
}

TEST_CASE("windows that can't be are refused, and a bad row is named") {
  const Rows rows{.who = {"a", "a", "a", "a"}};
  CHECK(has(cause_of([&] { (void)ps::windows(rows, {.length = 0}); }), "windows: `.length`"));
  CHECK(has(cause_of([&] { (void)ps::windows(rows, {.length = 1, .stride = 0}); }), ".stride"));
  CHECK(has(cause_of([&] { (void)ps::windows(rows, {.length = 2}); }), "\"who\" is u8[?], which varies"));
  CHECK(has(cause_of([&] { (void)ps::windows(rows, {.length = 2, .group_by = "patient"}); }), "no field \"patient\""));
  CHECK(error_of([&] { (void)ps::windows(rows, {.length = std::uint64_t{1} << 60, .group_by = "who"}); })->code() ==
        ps::Errc::limit_exceeded);
  ps::Memory deep;
  deep.add<std::uint8_t>("x", {1, 1, 1, 1, 1, 1, 1, 1}, {1, 2});
  CHECK(has(cause_of([&] { (void)ps::windows(deep, {.length = 2}); }), "a dimension more"));

  Rows bad{.who = std::vector<std::string>(10, "a"), .text = false, .bad = 7};
  const ps::AnySource all = ps::windows(bad, {.length = 4, .stride = 2});
  const auto error = error_of([&] { (void)ps::from(all).at(2); });
  REQUIRE(error);
  CHECK(error->index() == 2);
  CHECK(error->key() == "r7");
  CHECK(error->source() == "rows");
  CHECK(error->cause() == "planted; it is row 7 of rows");
  CHECK(error_of([&] { (void)ps::windows(bad, {.length = 2, .group_by = "who"}); })->index() == 7);
}

TEST_CASE("a loader decodes each block of a series once for all windows that need it") {
  const Chunks chunks{.count = 1003, .per_block = 10};
  const ps::AnySource all = ps::windows(chunks, {.length = 25, .stride = 5});
  const auto check = [&](const ps::Pipeline& p, std::uint64_t max_decodes, std::size_t block_bytes) {
    chunks.shared->loads.clear();
    ps::Loader loader(p | ps::batch(8), {.threads = 3, .max_block_bytes = block_bytes, .epochs = 1});
    std::uint64_t seen = 0;
    for (const ps::Batch& b : loader.epoch()) {
      const auto x = b.view<std::uint64_t, 3>("x");
      for (std::uint64_t r = 0; r < b.size(); ++r, ++seen)
        for (std::uint64_t row = 0; row < 25; ++row)
          for (std::uint64_t j = 0; j < 4; ++j)
            REQUIRE(x(static_cast<std::int64_t>(r), static_cast<std::int64_t>(row), static_cast<std::int64_t>(j)) ==
                    chunks.x_of(b.indices()[r] * 5 + row, j));
    }
    CHECK(seen == all.size());
    CHECK(chunks.decodes() <= max_decodes);
  };
  // Blocks of 10 rows of 32 bytes; the last one is in no window.
  check(ps::from(all), 100, 40 * 352);
  check(ps::from(all) | ps::shuffle({.seed = 1}), 100, std::size_t{1} << 20);
  // A window of blocks, and the neighbours that its windows reach into, fit.
  check(ps::from(all) | ps::shuffle({.blocks = true, .window_blocks = 4}), 200, 24 * 352);
  CHECK(all.model()->block_ends().front() == 2);
  CHECK(all.model()->block_ends().back() == all.size());
  CHECK(std::ranges::is_sorted(all.model()->block_ends()));
  // Without a loader.
  chunks.shared->loads.clear();
  CHECK(ps::read_sample(all, 3)["x"].as<const std::uint64_t, 2>()(24, 0) == chunks.x_of(39, 0));
  // A block that can't be decoded is an error of each window that needs it.
  chunks.shared->faults[5] = Fault::corrupt;
  ps::Loader loader(ps::from(all) | ps::on_error({.policy = ps::OnError::mask}) | ps::batch(1),
                    {.threads = 2, .epochs = 1});
  std::vector<std::uint64_t> bad;
  for (const ps::Batch& b : loader.epoch())
    if (b.mask()[0] == 0) bad.push_back(b.indices()[0]);
  CHECK(bad == std::vector<std::uint64_t>{6, 7, 8, 9, 10, 11});
  ps::Loader first(ps::from(all) | ps::batch(1), {.threads = 2, .epochs = 1});
  const auto error = error_of([&] {
    while (first.next()) {
    }
  });
  REQUIRE(error);
  CHECK(error->index() == 6);
  CHECK(error->key() == "row 50");
  CHECK(error->cause().find("; it is row 50 of chunks") != std::string::npos);
}
