// SPDX-License-Identifier: Apache-2.0
// The window of survivors that are put together by length, without threads.
#include "reorder/bucket_window.hpp"

#include <random>
#include <set>

#include "core/help.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;
using namespace penstock::detail;
using namespace penstock::detail::runtime;

namespace {

const ps::Schema schema{{"x", ps::DType::i64, {}}};
BatchBounds bounds_of(std::uint64_t rows) { return BatchBounds(schema, BatchSpec{rows, {}}); }

// The rows of each batch, in the order in which they come.
std::vector<std::vector<std::uint32_t>> batches_of(BucketWindow& window) {
  std::vector<std::vector<std::uint32_t>> out;
  for (; window.has_batch(); window.next_batch()) out.emplace_back(window.batch().begin(), window.batch().end());
  return out;
}

// Collects survivors of these lengths, and cuts.
void collect(BucketWindow& window, const std::vector<std::int64_t>& lengths, std::uint64_t seed, bool last,
             Cursor begin = {}) {
  window.reset(begin, 0);
  for (std::size_t i = 0; i < lengths.size(); ++i) window.add({nullptr, {}, i, false, lengths[i]});
  window.cut(seed, {begin.epoch, 0, begin.position + lengths.size(), 0}, last);
}

}  // namespace

TEST_CASE("a bucket window gives each survivor one batch, and like lengths to the same") {
  std::mt19937_64 random(3);
  for (int run = 0; run < 300; ++run) {
    const std::uint64_t rows = 1 + random() % 5, size = rows * (1 + random() % 6);
    const std::size_t count = run % 2 == 0 ? size : 1 + random() % size;
    const ps::Tail tail = random() % 2 == 0 ? ps::Tail::keep : ps::Tail::drop;
    const BatchBounds bounds = bounds_of(rows);
    BucketWindow window(size, tail, bounds);
    std::vector<std::int64_t> lengths;
    for (std::size_t i = 0; i < count; ++i) lengths.push_back(static_cast<std::int64_t>(random() % 9));
    collect(window, lengths, 5, count != size);
    CHECK(window.full() == (count == size));
    CHECK_FALSE(window.collecting());
    const auto batches = batches_of(window);
    const std::size_t whole = count / rows, over = count % rows;
    REQUIRE(batches.size() == whole + (over != 0 && tail == ps::Tail::keep));
    std::set<std::uint32_t> seen;
    std::vector<std::pair<std::int64_t, std::int64_t>> spans;
    for (std::size_t b = 0; b < batches.size(); ++b) {
      CHECK(batches[b].size() == (b < whole ? rows : over));  // an incomplete one comes last
      std::int64_t least = 99, most = -1;
      for (const std::uint32_t row : batches[b]) {
        CHECK(seen.insert(row).second);
        CHECK(window[row].index == row);
        least = std::min(least, lengths[row]);
        most = std::max(most, lengths[row]);
        if (b == whole) CHECK(row >= count - over);  // of the last samples, not the longest ones
      }
      if (b < whole) spans.emplace_back(least, most);
    }
    std::ranges::sort(spans);
    for (std::size_t i = 1; i < spans.size(); ++i) CHECK(spans[i - 1].second <= spans[i].first);
    const auto left = window.left_over();
    CHECK(left.size() == (tail == ps::Tail::drop ? over : 0));
    for (const std::uint32_t row : left) CHECK(seen.insert(row).second);
    CHECK(seen.size() == count);
  }
}

TEST_CASE("the order of a bucket window's batches follows from the seed and where the window begins") {
  const BatchBounds bounds = bounds_of(2);
  BucketWindow window(40, ps::Tail::keep, bounds);
  std::vector<std::int64_t> lengths;
  for (int i = 0; i < 40; ++i) lengths.push_back(i);
  const auto with = [&](std::uint64_t seed, Cursor begin) {
    collect(window, lengths, seed, false, begin);
    return batches_of(window);
  };
  const auto first = with(1, {});
  CHECK(first == with(1, {}));
  CHECK(first != with(2, {}));
  CHECK(first != with(1, {0, 0, 40, 0}));
  CHECK(first != with(1, {1, 0, 0, 0}));
}

TEST_CASE("a bucket window is resumed after the batches that were delivered") {
  const BatchBounds bounds = bounds_of(2);
  BucketWindow window(8, ps::Tail::keep, bounds);
  collect(window, {5, 1, 4, 2, 8, 7, 3, 6}, 9, false, {0, 0, 100, 0});
  std::vector<Cursor> cursors;
  const auto all = [&] {
    std::vector<std::vector<std::uint32_t>> out;
    for (; window.has_batch(); window.next_batch()) {
      cursors.push_back(window.cursor_after());
      out.emplace_back(window.batch().begin(), window.batch().end());
    }
    return out;
  }();
  REQUIRE(cursors.size() == 4);
  for (std::uint16_t part = 1; part < 4; ++part) {
    const Cursor& cursor = cursors[part - 1u];
    CHECK(cursor.position == 100);
    CHECK(cursor.window_batches == part);
    // Collected again from there, it skips what was delivered.
    window.reset({0, 0, cursor.position, 0}, cursor.window_batches);
    CHECK(window.again());
    const std::int64_t lengths[] = {5, 1, 4, 2, 8, 7, 3, 6};
    for (std::size_t i = 0; i < 8; ++i) window.add({nullptr, {}, i, false, lengths[i]});
    window.cut(9, {0, 0, 108, 0}, false);
    for (std::size_t b = 0; window.has_batch(); window.next_batch(), ++b) {
      CHECK(window.skips() == (b < part));
      CHECK(std::ranges::equal(window.batch(), all[b]));
    }
  }
  CHECK(cursors[3] == Cursor{0, 0, 108, 0});
  window.begin_next();
  CHECK(window.collecting());
  CHECK(window.empty());
  CHECK_FALSE(window.again());
}

}  // namespace PENSTOCK_TEST_FILE
