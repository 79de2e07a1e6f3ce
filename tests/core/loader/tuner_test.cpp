// SPDX-License-Identifier: Apache-2.0
// What is decided of runs that are models: their rates follow from the settings, and from chance.
#include "loader/tuner.hpp"

#include <algorithm>
#include <functional>
#include <random>

#include "core/help.hpp"
#include "support/catch.hpp"

using namespace help;
using namespace penstock::detail;
using namespace penstock::detail::runtime;

namespace {

using Model = std::function<TuneWindow(const TunedSettings&)>;

TuningBounds some_growth() {
  TuningBounds growth;
  growth.first = {.threads = 1, .depth = 4, .entries = 64, .block_limit = 1 << 20};
  growth.most = {.threads = 16, .depth = 32, .entries = 512, .block_limit = 1 << 24};
  growth.tunes_threads = true;
  growth.bytes = (1 << 24) - (1 << 20);
  growth.depth_bytes = growth.entry_bytes = 1000;
  return growth;
}

// Windows that it took.
unsigned run(Tuner& tuner, const Model& model, const TuningBounds& growth, unsigned most = 10'000) {
  unsigned windows = 0;
  for (; !tuner.done() && windows < most; ++windows) {
    const TunedSettings& s = tuner.settings();
    REQUIRE(growth.cost(s) <= growth.bytes);
    REQUIRE((s.threads >= 1 && s.threads <= growth.most.threads));
    REQUIRE((s.depth >= growth.first.depth && s.depth <= growth.most.depth));
    REQUIRE((s.entries >= growth.first.entries && s.entries <= growth.most.entries));
    REQUIRE((s.block_limit >= growth.first.block_limit && s.block_limit <= growth.most.block_limit));
    tuner.measured(model(s));
  }
  REQUIRE(tuner.done());
  REQUIRE_FALSE(tuner.end().empty());
  return windows;
}

TuneWindow busy(double rate) { return {.rate = rate, .wait_share = 0.8, .in_work = 1}; }

}  // namespace

TEST_CASE("a run that waits gets as many threads as help it") {
  const TuningBounds growth = some_growth();
  Tuner tuner(growth, 2);
  run(
      tuner,
      [](const TunedSettings& s) {
        TuneWindow w = busy(100.0 * std::min(s.threads, 8u));
        w.waiting = 0.95;
        return w;
      },
      growth);
  CHECK(tuner.settings().threads == 8);
  CHECK(tuner.settings().depth == 4);
  CHECK(std::ranges::count(tuner.trials(), true, &ps::TuneTrial::kept) == 3);
}

TEST_CASE("a run that computes gets the cores that there are, and no more") {
  const TuningBounds growth = some_growth();
  Tuner tuner(growth, 4);
  run(
      tuner, [](const TunedSettings& s) { return busy(100.0 * std::min(s.threads, 4u)); }, growth);
  CHECK(tuner.settings().threads == 4);
  for (const ps::TuneTrial& step : tuner.trials()) CHECK(step.to <= 4);
}

TEST_CASE("threads that are in each other's way are taken back") {
  TuningBounds growth = some_growth();
  growth.first.threads = 16;
  Tuner tuner(growth, 16);
  run(
      tuner, [](const TunedSettings& s) { return busy(1000.0 / (1 + 0.1 * s.threads)); }, growth);
  CHECK(tuner.settings().threads == 1);
}

TEST_CASE("batches and cells are raised where runners lack them, as long as that helps") {
  const TuningBounds growth = some_growth();
  Tuner tuner(growth, 1);
  run(
      tuner,
      [](const TunedSettings& s) {
        TuneWindow w =
            busy(100.0 * std::min(s.depth, 16u) + static_cast<double>(std::min<std::size_t>(s.entries, 128)));
        w.no_batch = s.depth < 16 ? 0.3 : 0.05;
        w.no_entry = s.entries < 256 ? 0.2 : 0;
        return w;
      },
      growth);
  CHECK(tuner.settings().depth == 16);
  // From 64 to 128 is a gain of 64 in 1,664 at the most: below what counts.
  CHECK((tuner.settings().entries == 64 || tuner.settings().entries == 128));
}

TEST_CASE("memory for blocks follows from what it saves, within what there is") {
  const TuningBounds growth = some_growth();
  for (const std::size_t enough : {std::size_t{1} << 22, std::size_t{1} << 30}) {
    Tuner tuner(growth, 1);
    run(
        tuner,
        [&](const TunedSettings& s) {
          TuneWindow w = busy(static_cast<double>(s.block_limit));
          w.saved_by_blocks = s.block_limit < enough ? 0.4 : 0;
          return w;
        },
        growth);
    CHECK(tuner.settings().block_limit == std::min<std::size_t>(enough, growth.most.block_limit));
    for (const ps::TuneTrial& step : tuner.trials())
      CHECK((step.setting != "max_block_bytes" || step.after_samples_per_s != 0));
  }
}

TEST_CASE("it waits for blocks that may yet be saved, but not for ever") {
  const TuningBounds growth = some_growth();
  Tuner tuner(growth, 1, 32);
  CHECK(run(
            tuner,
            [&](const TunedSettings&) {
              TuneWindow w = busy(100);
              w.blocks_known = false;
              return w;
            },
            growth) == 8 * 32);
  unsigned windows = 0;
  Tuner later(growth, 1);
  run(
      later,
      [&](const TunedSettings& s) {
        TuneWindow w = busy(100);
        w.blocks_known = ++windows >= 10;
        w.saved_by_blocks = windows >= 10 && s.block_limit < 1 << 21 ? 0.4 : 0;
        return w;
      },
      growth);
  CHECK(later.settings().block_limit == 1 << 21);
}

TEST_CASE("nothing is tried where the caller does not wait, unless it only begins slowly") {
  const TuningBounds growth = some_growth();
  Tuner tuner(growth, 8);
  run(
      tuner,
      [](const TunedSettings&) {
        TuneWindow w = busy(100);
        w.wait_share = 0.01;
        return w;
      },
      growth);
  CHECK(tuner.trials().empty());
  CHECK(tuner.settings() == growth.first);
  unsigned windows = 0;
  Tuner slow_start(growth, 8);
  run(
      slow_start,
      [&](const TunedSettings& s) {
        TuneWindow w = busy(100.0 * std::min(s.threads, 8u));
        if (++windows < 5) w.wait_share = 0;
        return w;
      },
      growth);
  CHECK(slow_start.settings().threads == 8);
}

TEST_CASE("chance alone changes hardly anything, and what helps is found in spite of it") {
  const TuningBounds growth = some_growth();
  std::mt19937 random(5);
  std::normal_distribution<double> noise(1, 0.02);
  int changed = 0, found = 0;
  for (int i = 0; i < 200; ++i) {
    Tuner same(growth, 1);
    run(
        same,
        [&](const TunedSettings&) {
          TuneWindow w = busy(100 * noise(random));
          w.waiting = w.no_batch = w.no_entry = 0.5;
          return w;
        },
        growth);
    changed += same.settings() != growth.first;
    Tuner better(growth, 4);
    run(
        better, [&](const TunedSettings& s) { return busy(100 * noise(random) * (s.threads >= 2 ? 1.2 : 1)); }, growth);
    found += better.settings().threads >= 2;
  }
  CHECK(changed <= 20);
  CHECK(found >= 190);
}

TEST_CASE("whatever is measured, it ends in time and never leaves its limits") {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> share(0, 1);
  const auto some = [&](unsigned least, unsigned most) {
    return std::uniform_int_distribution<unsigned>(least, most)(random);
  };
  for (int i = 0; i < 2000; ++i) {
    TuningBounds growth;
    growth.first = {.threads = some(1, 9),
                    .depth = some(2, 9),
                    .entries = some(0, 1) * some(4, 90),
                    .block_limit = some(0, 1) * some(1, 9000)};
    growth.most = {.threads = growth.first.threads + some(0, 20),
                   .depth = growth.first.depth + some(0, 30),
                   .entries = growth.first.entries == 0 ? 0 : growth.first.entries + some(0, 500),
                   .block_limit = growth.first.block_limit == 0 ? 0 : growth.first.block_limit + some(0, 90'000)};
    growth.tunes_threads = some(0, 1) == 1;
    if (!growth.tunes_threads) growth.most.threads = growth.first.threads;
    growth.bytes = some(0, 100'000);
    growth.depth_bytes = some(0, 5000);
    growth.entry_bytes = some(0, 500);
    Tuner tuner(growth, some(1, 16), 48);
    const unsigned windows = run(
        tuner,
        [&](const TunedSettings&) {
          if (share(random) < 0.05 && !tuner.trials().empty()) return TuneWindow{.rate = 1};
          return TuneWindow{.rate = share(random),
                            .wait_share = share(random) < 0.1 ? 0 : share(random),
                            .no_batch = share(random),
                            .no_entry = share(random),
                            .in_work = share(random),
                            .waiting = share(random),
                            .saved_by_blocks = share(random),
                            .blocks_known = share(random) < 0.5};
        },
        growth, 600);
    // A trial that was begun is brought to its end.
    CHECK(windows <= 48 + 8 * 48 + 8);
  }
}

TEST_CASE("settings that there is no memory for are given up") {
  const TuningBounds growth = some_growth();
  Tuner tuner(growth, 1);
  int refused = 0;
  for (unsigned i = 0; i < 1000 && !tuner.done(); ++i) {
    if (tuner.settings().depth > 8) {
      ++refused;
      tuner.refused();
      continue;
    }
    TuneWindow w = busy(100.0 * tuner.settings().depth);
    w.no_batch = 0.5;
    tuner.measured(w);
  }
  CHECK(tuner.done());
  // What could not be had was not measured, also when something else was after it.
  for (const ps::TuneTrial& step : tuner.trials())
    if (step.why.ends_with("no memory for it")) CHECK(step.after_samples_per_s == 0);
  CHECK(refused <= 2);
  CHECK(tuner.settings().depth == 8);
  CHECK(std::ranges::any_of(tuner.trials(), [](const ps::TuneTrial& step) {
    return !step.kept && step.to == 16 && step.after_samples_per_s == 0 && step.why.ends_with("no memory for it");
  }));
}

TEST_CASE("a trial that could not be had gets no rate from the windows after it") {
  TuningBounds growth = some_growth();
  growth.tunes_threads = false;
  growth.most.threads = growth.first.threads;
  Tuner tuner(growth, 1);
  TuneWindow w = busy(100);
  w.no_batch = 0.5;
  w.blocks_known = false;
  tuner.measured(w);
  while (tuner.settings() != growth.first) tuner.refused();
  REQUIRE_FALSE(tuner.done());
  tuner.measured(w);
  REQUIRE_FALSE(tuner.trials().empty());
  for (const ps::TuneTrial& step : tuner.trials()) CHECK(step.after_samples_per_s == 0);
}

TEST_CASE("what bounds the run and may not be raised is named at the end") {
  struct Row {
    const char* what;
    void (*change)(TuningBounds&, TuneWindow&);
    const char* end;
  };
  const Row rows[] = {
      {"nothing is lacking", [](TuningBounds&, TuneWindow&) {}, "nothing else is likely to make batches faster"},
      {"a depth that was raised in vain",
       [](TuningBounds&, TuneWindow& w) {
         w.in_work = 0.3;
         w.no_batch = 0.7;
       },
       "nothing else is likely to make batches faster"},
      {"a depth that is set",
       [](TuningBounds& g, TuneWindow& w) {
         g.most.depth = g.first.depth;
         w.in_work = 0.3;
         w.no_batch = 0.7;
       },
       "nothing else is likely to make batches faster, but `depth` = 4, which is set and so stays as it is, bounds the "
       "run: runners had no batch to write to, or waited for one slow sample, 70 % of their time"},
      {"a depth without memory for more",
       [](TuningBounds& g, TuneWindow& w) {
         g.most.depth = g.first.depth;
         g.depth_by = RaiseLimit::limits;
         w.in_work = 0.3;
         w.no_batch = 0.7;
       },
       "nothing else is likely to make batches faster, but `depth` = 4, the most that there is memory for or that is "
       "tried, bounds the run: runners had no batch to write to, or waited for one slow sample, 70 % of their time"},
      {"cells that are set",
       [](TuningBounds& g, TuneWindow& w) {
         g.most.entries = g.first.entries;
         w.in_work = 0.4;
         w.no_entry = 0.6;
       },
       "nothing else is likely to make batches faster, but `max_reorder_bytes`, which is set and so stays as it is, "
       "bounds the run: runners waited for an older sample, as there was no room for another, 60 % of their time"},
      {"cells of a stream",
       [](TuningBounds& g, TuneWindow& w) {
         g.most.entries = g.first.entries;
         g.entries_by = RaiseLimit::stream;
         w.in_work = 0.4;
         w.no_entry = 0.6;
       },
       "nothing else is likely to make batches faster, but `max_reorder_bytes`, which `tune` does not change for a "
       "stream, bounds the run: runners waited for an older sample, as there was no room for another, 60 % of their "
       "time"},
      {"memory for blocks that is set",
       [](TuningBounds& g, TuneWindow& w) {
         g.most.block_limit = g.first.block_limit;
         w.in_work = 0.4;
         w.saved_by_blocks = 0.3;
       },
       "nothing else is likely to make batches faster, but `max_block_bytes` = 1048576, which is set and so stays as "
       "it "
       "is, bounds the run: twice as much would save decodes that take 30 % of the runners' time"},
      {"an executor of fewer threads than cores",
       [](TuningBounds& g, TuneWindow&) {
         g.most.threads = g.first.threads = 2;
         g.threads_by = RaiseLimit::executor;
       },
       "nothing else is likely to make batches faster, but `threads` = 2, all threads of the executor, bounds the run: "
       "there are 4 cores"},
      {"threads that are set, and samples that wait",
       [](TuningBounds& g, TuneWindow& w) {
         g.most.threads = g.first.threads = 4;
         g.tunes_threads = false;
         w.waiting = 0.8;
       },
       "nothing else is likely to make batches faster, but `threads` = 4, which is set and so stays as it is, bounds "
       "the run: samples wait 80 % of the time they take"},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    TuningBounds growth = some_growth();
    growth.first.threads = growth.most.threads = 4;
    growth.tunes_threads = false;
    TuneWindow window = busy(100);
    row.change(growth, window);
    growth.most.threads = std::max(growth.most.threads, growth.first.threads);
    Tuner tuner(growth, 4);
    run(
        tuner, [&](const TunedSettings&) { return window; }, growth);
    CHECK(tuner.end() == row.end);
  }
}
