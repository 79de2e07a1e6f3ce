// SPDX-License-Identifier: Apache-2.0
// Sources that are told which records an admitted batch will want.
#include "support/catch.hpp"

#include "core/help.hpp"

using namespace help;

TEST_CASE("every record that is read was announced, once for each time") {
  const Watchdog dog(30s);
  for (const unsigned threads : {1u, 3u}) {
    AdvisedRecords source;
    source.count = 53;
    std::atomic<std::uint64_t> early{0};
    source.shared->before_read = [s = source.shared.get(), &early](std::uint64_t i) {
      const std::lock_guard lock(s->mutex);
      if (!s->advice.contains(i)) ++early;
    };
    {
      ps::Loader loader(ps::from(source) | ps::shuffle() | ps::batch(8), {.threads = threads, .epochs = 3});
      CHECK(collect(loader, 3).size() == 21);
    }
    CHECK(source.shared->advised == 3 * 53);
    CHECK(source.shared->advice.size() == 53);
    for (const auto& [index, times] : source.shared->advice) CHECK(times == 3);
    CHECK(early < 3 * 53 / 4);  // a thread may be ahead of another one's announcement, but that is the exception
  }
}

TEST_CASE("a batch whose last sample is taken before its advice still gets ready") {
  // Two runners share one thread and give way to each other after every sample, as those take longer than a turn. The
  // caller comes just before a sample is done, so that it is awake to give the batch before back while the runner still
  // looks for more; with batches of one sample there is none left to come back for.
  const Watchdog dog(20s);
  const ps::Executor executor(1);
  const auto spin = [](std::chrono::microseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
    }
  };
  constexpr std::uint64_t records = 100;
  const auto read = [&] {
    AdvisedRecords source;
    source.count = records;
    std::atomic<std::uint64_t> almost{0};
    source.shared->before_read = [&](std::uint64_t i) {
      spin(2100us);
      almost = i + 1;
      spin(5us);
    };
    ps::Loader loader(ps::from(source) | ps::batch(1), {.executor = executor, .depth = 2, .epochs = 1});
    ps::Batch current;
    std::uint64_t batches = 0;
    for (auto next = loader.next(); next; next = loader.next()) {
      current = std::move(*next);
      ++batches;
      const auto enough = std::chrono::steady_clock::now() + 50ms;
      while (batches < records && almost <= batches && std::chrono::steady_clock::now() < enough)
        std::this_thread::yield();
    }
    return batches;
  };
  std::uint64_t of_other = 0;
  std::thread other([&] { of_other = read(); });
  const std::uint64_t batches = read();
  other.join();
  CHECK(batches == records);
  CHECK(of_other == records);
}

TEST_CASE("advice sees the indices as the order gave them, whatever is replaced meanwhile") {
  struct Slow : AdvisedRecords {
    std::shared_ptr<std::atomic<std::uint64_t>> changed = std::make_shared<std::atomic<std::uint64_t>>(0);
    void will_need(std::span<const std::uint64_t> indices) const noexcept {
      const std::vector<std::uint64_t> before(indices.begin(), indices.end());
      std::this_thread::sleep_for(500us);
      if (!std::ranges::equal(before, indices)) ++*changed;
    }
  };
  Slow source;
  source.count = 640;
  for (std::uint64_t i = 0; i < source.count; i += 5) source.shared->faults[i] = Fault::corrupt;
  ps::Loader loader(ps::from(source) | ps::on_error({.policy = ps::OnError::replace}) | ps::batch(64),
                    {.threads = 3, .epochs = 1});
  for (const ps::Batch& batch : loader.epoch())
    for (std::uint64_t row = 0; row < batch.size(); ++row) {
      const std::uint64_t wanted = batch.number() * 64 + row;
      if ((batch.indices()[row] == wanted) != (wanted % 5 != 0)) FAIL("row " << row << " of " << batch.number());
    }
  CHECK(*source.changed == 0);
}

TEST_CASE("a finished batch does not wait for the advice of a later one") {
  struct Blocking : AdvisedRecords {
    std::shared_ptr<std::atomic<int>> calls = std::make_shared<std::atomic<int>>(0);
    std::shared_ptr<std::atomic<bool>> received = std::make_shared<std::atomic<bool>>(false);
    std::shared_ptr<std::atomic<bool>> late = std::make_shared<std::atomic<bool>>(false);
    void will_need(std::span<const std::uint64_t>) const noexcept {
      if (++*calls != 3) return;
      *late = !eventually([this] { return received->load(); });
    }
  };
  const Watchdog dog(30s);
  Blocking source;
  source.count = 8;
  // One batch is announced for each sample made, so the first batch of two is made when the third is announced.
  ps::Loader loader(ps::from(source) | ps::batch(2), {.threads = 1, .depth = 4, .epochs = 1});
  REQUIRE(loader.next());
  *source.received = true;
  while (loader.next()) {
  }
  CHECK(!*source.late);
}
