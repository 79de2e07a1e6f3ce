// SPDX-License-Identifier: Apache-2.0
// What the report says of blocks that records share.
#include "support/catch.hpp"

#include <time.h>

#include <atomic>
#include <mutex>
#include <string>

#include "core/blocks/chunks.hpp"

using namespace help;

namespace {

// CPU time of this thread.
std::uint64_t cpu_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

TEST_CASE("the report counts blocks that were decoded again in an epoch, and advises what is not done yet") {
  const Watchdog dog(30s);
  struct Said {
    std::string note;
    std::uint64_t decodes = 0, again = 0;
  };
  // `limit`: so many blocks.
  const auto run = [](auto stages, std::size_t limit, int epochs) {
    const Chunks source{.count = 256, .rows = true};
    const ps::Pipeline p = stages(ps::from(source)) | ps::batch(8);
    ps::Loader loader(p, {.threads = 2, .max_block_bytes = limit * source.block_bytes(0)});
    for (int epoch = 0; epoch < epochs; ++epoch)
      for (const ps::Batch& b : loader.epoch()) check_values(source, b);
    loader.end_epoch();
    Said said;
    for (const std::string& note : loader.report().notes)
      if (note.find(" blocks were loaded for ") != std::string::npos) said.note = note;
    // The next epoch is being prepared.
    const std::lock_guard lock(source.shared->mutex);
    for (const auto& [block, times] : source.shared->loads) said.decodes += times;
    said.again = said.decodes - source.shared->loads.size();
    return said;
  };
  const auto has = [](const Said& said, const std::string& text) { return said.note.find(text) != std::string::npos; };
  const auto in_order = [](const ps::Pipeline& p) { return p; };
  const auto by_blocks = [](std::uint64_t window) {
    return [window](const ps::Pipeline& p) { return p | ps::shuffle({.blocks = true, .window_blocks = window}); };
  };
  const auto shuffled = [](const ps::Pipeline& p) { return p | ps::shuffle(); };
  const auto survivors = [](const ps::Pipeline& p) {
    return p | ps::shuffle() | ps::on_error({.policy = ps::OnError::drop});
  };
  // Once an epoch, in however many.
  for (const auto& said : {run(in_order, 2, 3), run(by_blocks(2), 8, 3), run(shuffled, 40, 1), run(survivors, 40, 1)}) {
    INFO(said.note);
    CHECK(has(said, ", none of them twice in an epoch"));
    CHECK_FALSE(has(said, "max_block_bytes"));
    CHECK_FALSE(has(said, ".blocks = true"));
  }
  for (const auto& said : {run(shuffled, 4, 1), run(survivors, 4, 1)}) {
    INFO(said.note);
    CHECK(said.again > 50);
    // What is prepared of the next epoch is not again.
    CHECK(has(said, " of them not for the first time in their epoch; twice the `max_block_bytes` would save about "));
    CHECK(has(said, ", and `shuffle({.blocks = true})` asks for fewer at a time"));
  }
  const Said wide = run(by_blocks(32), 4, 1);
  INFO(wide.note);
  CHECK(wide.again > 50);
  CHECK(has(wide, "; twice the `max_block_bytes` would save about "));
  CHECK(has(wide, ", and fewer `.window_blocks` ask for fewer at a time"));
  CHECK_FALSE(has(wide, ".blocks = true"));
}

TEST_CASE("the report knows what loads of blocks took, of which it measures some") {
  const Watchdog dog(60s);
  for (const bool survivors : {false, true}) {
    for (const std::uint64_t usual_us : {200u, 1500u}) {
      CAPTURE(survivors, usual_us);
      const Chunks source{.count = usual_us == 200 ? 32'000u : 400u};
      std::atomic<std::uint64_t> spent_ns{0};
      source.shared->before_load = [&](std::uint64_t block) {
        const std::uint64_t begun = cpu_ns(), wanted = (usual_us + block % 20) * 1000;
        std::uint64_t spent = 0;
        while (spent < wanted) spent = cpu_ns() - begun;
        spent_ns += spent;
      };
      ps::Pipeline p = ps::from(source);
      if (survivors) p = p | ps::filter("x", [](ps::View<const std::uint64_t, 1>) { return true; });
      ps::Loader loader(p | ps::batch(50), {.threads = 2, .epochs = 1});
      while (loader.next()) {
      }
      const ps::Report report = loader.report();
      const double said_us = report.stages.at(0).cpu_us_per_sample * static_cast<double>(report.stages.at(0).samples);
      CHECK(said_us * 1000 / static_cast<double>(spent_ns.load()) == Approx(1).margin(0.15));
    }
  }
}
