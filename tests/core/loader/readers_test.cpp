// SPDX-License-Identifier: Apache-2.0
// Readers that carry state: how many are opened, what they are told, how long what they give is used.
#include "support/catch.hpp"

#include <deque>

#include "core/help.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;

namespace {

struct Seen {
  std::atomic<int> open{0}, most{0};
  std::atomic<std::uint64_t> expected{0}, unexpected{0}, left_to_others{0}, shared{0};
  std::atomic<bool> slow{false};
};

// Gives its one buffer to view: what is not used up, or copied, before its next read is lost.
struct Reader {
  explicit Reader(std::shared_ptr<Seen> s) : seen(std::move(s)) {
    const int now = ++seen->open;
    int most = seen->most;
    while (most < now && !seen->most.compare_exchange_weak(most, now)) {
    }
  }
  ~Reader() { --seen->open; }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  void expect(std::span<const std::uint64_t> indices) noexcept {
    if (!next.empty()) ++(indices.empty() ? seen->left_to_others : seen->unexpected);
    next.assign(indices.begin(), indices.end());
  }
  void read(std::uint64_t i, ps::SampleBuilder& out) {
    if (busy.exchange(true)) ++seen->shared;
    if (seen->slow) std::this_thread::sleep_for(2ms);
    if (!next.empty()) {
      ++(next.front() == i ? seen->expected : seen->unexpected);
      next.pop_front();
    }
    for (std::uint64_t j = 0; j < 4; ++j) buffer[j] = x_of(i, j);
    out.view("x", std::as_bytes(std::span(buffer)).data(), ps::Shape{4});
    busy = false;
  }
  void pause() noexcept {
    next.clear();
    buffer.fill(0xdead);
  }

  std::shared_ptr<Seen> seen;
  std::array<std::uint32_t, 4> buffer{};
  std::deque<std::uint64_t> next;
  std::atomic<bool> busy{false};
};

struct Leased {
  std::uint64_t count = 0;
  std::shared_ptr<Seen> seen = std::make_shared<Seen>();
  std::uint64_t size() const { return count; }
  ps::Schema schema() const { return {{"x", ps::DType::u32, {4}}}; }
  std::string name() const { return "leased"; }
  std::unique_ptr<Reader> open_reader() const { return std::make_unique<Reader>(seen); }
};
static_assert(ps::LeasedSource<Leased>);

void check_rows(const ps::Batch& batch) {
  const auto x = batch["x"].as<const std::uint32_t, 2>();
  for (std::uint64_t row = 0; row < batch.indices().size(); ++row)
    for (std::uint64_t j = 0; j < 4; ++j)
      if (x(static_cast<std::int64_t>(row), static_cast<std::int64_t>(j)) != x_of(batch.indices()[row], j))
        FAIL("row " << row << " of batch " << batch.number());
}

struct Sink {
  std::uint64_t wrong = 0, stored = 0;
  void open(const ps::SinkJob&) {}
  bool has(const ps::SinkItem&) { return false; }
  void put(const ps::SinkItem& item, ps::Sample& sample) {
    const auto x = sample.view<const std::uint32_t, 1>("x");
    for (std::int64_t j = 0; j < 4; ++j) wrong += x(j) != x_of(item.index, static_cast<std::uint64_t>(j));
    ++stored;
  }
  void commit() {}
  void finish() {}
  std::string name() const { return "sink"; }
};

}  // namespace

TEST_CASE("a loader's readers are told exactly what they read next") {
  const Watchdog dog(60s);
  for (const unsigned threads : {1u, 3u}) {
    const Leased source{.count = 5'003};
    {
      ps::Loader loader(ps::from(source) | ps::shuffle() | ps::batch(64), {.threads = threads});
      const bool expects = !sanitized();  // samples this short are taken several at once
      // Where the runners are slow to come, the caller makes whole epochs, one sample at a time.
      for (int epoch = 0; epoch < 4 || (expects && source.seen->expected == 0 && epoch < 1000); ++epoch) {
        std::uint64_t rows = 0;
        for (const ps::Batch& batch : loader.epoch()) {
          check_rows(batch);
          rows += batch.indices().size();
        }
        CHECK(rows == 5'003);
      }
      if (expects) CHECK(source.seen->expected > 0);
    }
    CHECK(source.seen->open == 0);
    CHECK(source.seen->shared == 0);
    CHECK(source.seen->unexpected == 0);
    CHECK(source.seen->most <= static_cast<int>(threads) + 1);
  }
}

TEST_CASE("a loader's readers are told of records that are left to others, as they turn out to take long") {
  const Watchdog dog(60s);
  const Leased source{.count = 20'000};
  ps::Loader loader(ps::from(source) | ps::batch(64), {.threads = 3});
  for (int epoch = 0; epoch < 4 || (!sanitized() && source.seen->left_to_others == 0 && epoch < 100); ++epoch) {
    std::uint64_t number = 0;
    for (const ps::Batch& batch : loader.epoch()) {
      check_rows(batch);
      source.seen->slow = ++number % 100 < 3;
    }
  }
  if (!sanitized()) CHECK(source.seen->left_to_others > 0);
  CHECK(source.seen->unexpected == 0);
}

TEST_CASE("a write opens a reader for each task, however many samples wait") {
  const Watchdog dog(60s);
  for (const unsigned threads : {1u, 3u}) {
    const Leased source{.count = 2'000};
    Sink sink;
    ps::write(ps::from(source) | ps::shuffle(), sink, {.threads = threads, .max_in_flight = 200});
    CHECK(sink.stored == 2'000);
    CHECK(sink.wrong == 0);
    CHECK(source.seen->open == 0);
    CHECK(source.seen->shared == 0);
    CHECK(source.seen->most >= 1);
    CHECK(source.seen->most <= static_cast<int>(threads) + 1);
  }
}

}  // namespace PENSTOCK_TEST_FILE
