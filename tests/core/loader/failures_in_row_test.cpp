// SPDX-License-Identifier: Apache-2.0
// Samples of which none is good: a stream that fails for ever, and an epoch in which whatever was made failed.
#include "support/catch.hpp"

#include "core/reorder/reordered_help.hpp"

using namespace help;

namespace {

// Records 0 to `good` - 1 are good, what comes after them never is. Without an end.
struct FailsForEver {
  std::uint64_t good = 0;
  bool reads = false;  // its records can be read, and a stage fails
  std::uint64_t at = 0;
  ps::Schema schema() const { return {{"y", ps::DType::i64, {}}}; }
  void reset(std::uint64_t) { at = 0; }
  bool next(ps::SampleBuilder& out) {
    if (const std::uint64_t record = at++; record < good || reads)
      out.scalar<std::int64_t>("y", static_cast<std::int64_t>(record));
    else
      throw ps::Error(ps::Errc::io, "the feed is gone");
    return true;
  }
};

// Fails but for each `period`-th record, of `count`.
struct FailsMostly {
  std::uint64_t count = 0, period = 1, at = 0;
  ps::Schema schema() const { return {{"y", ps::DType::i64, {}}}; }
  void reset(std::uint64_t) { at = 0; }
  bool next(ps::SampleBuilder& out) {
    if (at == count) return false;
    if (++at % period != 0) throw ps::Error(ps::Errc::corrupt, "planted");
    out.scalar<std::int64_t>("y", static_cast<std::int64_t>(at));
    return true;
  }
};

ps::Stage fails_from(std::uint64_t first) {
  return ps::map("y", [first](ps::View<std::int64_t, 0> y) {
    if (static_cast<std::uint64_t>(y()) >= first) throw ps::Error(ps::Errc::io, "the feed is gone");
  });
}

ps::Stage few_in_row(ps::OnError policy, std::uint64_t most) {
  return ps::on_error({.policy = policy, .max_in_row = most});
}

ps::Error end_of(ps::Loader& loader, std::vector<Got>& got) {
  const auto error = error_of([&] {
    while (const auto batch = loader.next()) got.push_back(copy(*batch));
  });
  REQUIRE(error);
  return *error;
}

}  // namespace

TEST_CASE("a stream that fails for ever ends the run at the same sample at any number of threads") {
  const Watchdog dog(60s);
  constexpr std::uint64_t good = 10;
  for (const ps::OnError policy : {ps::OnError::drop, ps::OnError::mask})
    for (const bool reads : {false, true})
      for (const std::uint64_t most : {std::uint64_t{0}, std::uint64_t{7}, ps::ErrorPolicy().max_in_row}) {
        const ps::Pipeline p = ps::from(FailsForEver{.good = good, .reads = reads}) | fails_from(good) |
                               few_in_row(policy, most) | ps::batch(4);
        std::vector<Got> expected;
        for (const unsigned threads : {1u, 2u, 5u}) {
          CAPTURE(static_cast<int>(policy), reads, most, threads);
          ps::Loader loader(p, {.threads = threads});
          std::vector<Got> got;
          const ps::Error error = end_of(loader, got);
          CHECK(error.code() == ps::Errc::quota_exceeded);
          CHECK(error.index() == good + most);
          CHECK(error.stage() == (reads ? "map(y)" : "read"));
          CHECK(says(error.cause(), std::to_string(most + 1) +
                                        " samples of the stream failed one after the other, more than on_error "
                                        "allows (max_in_row " +
                                        std::to_string(most) + "); the last one: the feed is gone"));
          if (threads == 1) expected = got;
          CHECK(got == expected);
          CHECK(expected.size() == (policy == ps::OnError::drop ? good : good + most) / 4);
        }
      }
}

TEST_CASE("a sample that does not fail ends the row of those that do, also where it is left out") {
  const Watchdog dog(60s);
  const FailsMostly source{.count = 60, .period = 6};
  for (const bool filters : {false, true})
    for (const std::uint64_t window : {0u, 6u})
      for (const unsigned threads : {1u, 3u}) {
        CAPTURE(filters, window, threads);
        const auto pipeline = [&](std::uint64_t most) {
          ps::Pipeline p = ps::from(source);
          if (window != 0) p = p | ps::shuffle({.window = window});
          if (filters) p = p | ps::filter("y", [](ps::View<const std::int64_t, 0> y) { return y() == 60; });
          return p | few_in_row(ps::OnError::drop, most) | ps::batch(4);
        };
        // Mixed in windows of six, of which each has one that is good, at most ten fail in a row.
        ps::Loader loader(pipeline(window != 0 ? 10 : 5), {.threads = threads});
        std::uint64_t rows = 0;
        for (const Got& batch : collect(loader, 3)) rows += batch.indices.size();
        CHECK(rows == (filters ? 3u : 30u));
        ps::Loader strict(pipeline(4), {.threads = threads});
        std::vector<Got> got;
        CHECK(says(end_of(strict, got).cause(), "5 samples of the stream failed one after the other"));
      }
  // It ends with the epoch: after each one's last good record five fail, and five before its first.
  ps::Loader ends(ps::from(FailsMostly{.count = 17, .period = 6}) | few_in_row(ps::OnError::mask, 5) | ps::batch(4),
                  {.threads = 2});
  CHECK(collect(ends, 3).size() == 15);
}

TEST_CASE("a row of masked samples is counted over batches, and over what tuning begins anew") {
  const Watchdog dog(60s);
  ps::Loader loader(ps::from(FailsForEver{.good = 3}) | few_in_row(ps::OnError::mask, 20) | ps::batch(4),
                    {.threads = 2});
  std::vector<Got> got;
  CHECK(end_of(loader, got).index() == 23u);
  CHECK(got.size() == 5);
  // A resume begins the row anew.
  ps::Loader first(ps::from(FailsForEver{.good = 3}) | few_in_row(ps::OnError::mask, 20) | ps::batch(4),
                   {.threads = 2});
  for (int i = 0; i < 3; ++i) REQUIRE(first.next());
  ps::Loader rest(first.pipeline(), {.threads = 1});
  rest.resume(first.state());
  got.clear();
  CHECK(end_of(rest, got).index() == 32u);
}

TEST_CASE("a stream that fails for ever ends a write, after what came before it") {
  const Watchdog dog(60s);
  CountingSink sink;
  const auto error = error_of([&] {
    ps::write(ps::from(FailsForEver{.good = 10}) | ps::on_error({.policy = ps::OnError::drop}), sink, {.threads = 2});
  });
  REQUIRE(error);
  CHECK(says(error->cause(), "1001 samples of the stream failed one after the other"));
  CHECK(sink.committed == 10);
}

TEST_CASE("an epoch in which whatever was made failed is an error under every policy") {
  const Watchdog dog(60s);
  Records bad{.count = 12};
  for (std::uint64_t i = 0; i < bad.count; ++i) bad.shared->faults[i] = Fault::corrupt;
  struct Case {
    std::string name;
    ps::Pipeline pipeline;
    bool replaces = true;
  };
  const auto even = [] { return ps::filter("y", [](ps::View<const std::int64_t, 0> y) { return y() % 2 == 0; }); };
  const Case cases[] = {{"records", ps::from(bad)},
                        {"filtered", ps::from(bad) | even()},
                        {"a stream", ps::from(FailsMostly{.count = 12, .period = 100}), false}};
  for (const Case& c : cases)
    for (const ps::OnError policy : {ps::OnError::fail, ps::OnError::replace, ps::OnError::mask, ps::OnError::drop}) {
      if (policy == ps::OnError::replace && !c.replaces) continue;
      for (const ps::Tail tail : {ps::Tail::keep, ps::Tail::pad, ps::Tail::drop})
        for (const unsigned threads : {1u, 3u}) {
          CAPTURE(c.name, static_cast<int>(policy), static_cast<int>(tail), threads);
          ps::Loader loader(c.pipeline | ps::on_error({.policy = policy}) | ps::batch(5, {.tail = tail}),
                            {.threads = threads});
          for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
            CHECK(loader.epoch_number() == epoch);
            std::vector<Got> got;
            const ps::Error error = end_of(loader, got);
            const bool masks = policy == ps::OnError::mask;
            CHECK(got.size() == (!masks ? 0u : tail == ps::Tail::drop ? 2u : 3u));
            CHECK(error.index().has_value());
            CHECK(error.code() ==
                  (masks || policy == ps::OnError::drop ? ps::Errc::quota_exceeded : ps::Errc::corrupt));
            if (masks)
              CHECK(says(error.cause(), " samples of epoch " + std::to_string(epoch) +
                                            " were bad, and on_error masks them; the first one: planted"));
          }
        }
    }
}

TEST_CASE("an epoch is judged by what this rank made of it, where it saw it begin") {
  const Watchdog dog(60s);
  // Of batches of four, the first of two ranks has the first two rows.
  Records source{.count = 8};
  for (const std::uint64_t i : {0u, 1u, 4u, 5u}) source.shared->faults[i] = Fault::corrupt;
  const ps::Pipeline p = ps::from(source) | ps::on_error({.policy = ps::OnError::mask}) | ps::batch(4);
  ps::Loader first(p | ps::for_rank({.rank = 0, .world = 2}), {.threads = 2});
  ps::Loader second(p | ps::for_rank({.rank = 1, .world = 2}), {.threads = 2});
  std::vector<Got> got;
  CHECK(says(end_of(first, got).cause(), "no row is good: all 4 samples of epoch 0 were bad"));
  CHECK(got.size() == 2);
  CHECK(collect(second, 2).size() == 4);
  // A rank that has no row of the only batch has none that is bad.
  Records one{.count = 1};
  one.shared->faults[0] = Fault::corrupt;
  const ps::Pipeline single = ps::from(one) | ps::on_error({.policy = ps::OnError::mask}) | ps::batch(4);
  bool lost = false, without = false;
  for (const std::int32_t rank : {0, 1}) {
    ps::Loader loader(single | ps::for_rank({.rank = rank, .world = 2}), {.threads = 1});
    std::uint64_t rows = 0;
    const auto error = error_of([&] {
      while (const auto batch = loader.next()) rows += batch->size();
    });
    lost = lost || (error && rows == 1);
    without = without || (!error && rows == 0);
  }
  CHECK(lost);
  CHECK(without);
  // One that a state begins in its middle is not judged, and the next one is; so is one that ends after so many
  // batches.
  Records bad{.count = 8};
  for (std::uint64_t i = 0; i < bad.count; ++i) bad.shared->faults[i] = Fault::corrupt;
  const ps::Pipeline lost_one = ps::from(bad) | ps::on_error({.policy = ps::OnError::mask}) | ps::batch(4);
  for (const ps::Pipeline& whole : {lost_one, lost_one | ps::for_rank({.steps_per_epoch = 2})}) {
    ps::Loader left(whole, {.threads = 2});
    REQUIRE(left.next());
    ps::Loader rest(whole, {.threads = 2});
    rest.resume(left.state());
    CHECK(rest.next());
    CHECK_FALSE(rest.next());
    got.clear();
    CHECK(says(end_of(rest, got).cause(), "all 8 samples of epoch 1 were bad"));
    CHECK(rest.epoch_number() == 2);
    CHECK(got.size() == 2);
    // Leaving it tells nothing.
    for (int epoch = 0; epoch < 3; ++epoch)
      for (const ps::Batch& batch : left.epoch()) {
        CHECK(batch.size() == 4);
        break;
      }
  }
}
