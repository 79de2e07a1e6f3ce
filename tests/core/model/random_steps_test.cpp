// SPDX-License-Identifier: Apache-2.0
// Random pipelines in epochs of a fixed number of batches, on one or several ranks, through the engine and
// through the model. PENSTOCK_SEED starts elsewhere; a failure prints the seed of its pipeline.
#include "support/catch.hpp"

#include <cstdio>

#include "core/help.hpp"
#include "core/model/random_run.hpp"
#include "core/model/random_spec.hpp"

using namespace help;
using namespace random_run;

namespace {

// What a spec is played with, drawn from its seed.
struct Play {
  u64 seed = 0, steps = 1, epochs = 1, world = 1;

  Play(u64 spec_seed, const model::Spec& spec) : seed(spec_seed) {
    steps = 1 + mix(seed + 40) % 6;
    epochs = 1 + mix(seed + 41) % 3;
    const u64 max_ranks = model::by_size(spec) ? 1 : std::min<u64>(model::max_rows(spec), 4);
    world = 1 + mix(seed + 42) % max_ranks;
  }
  ps::Loader loader(const ps::Pipeline& p, u64 rank, u64 salt) const {
    ps::LoaderOptions o = some_options(seed, salt);
    if (mix(seed + salt + 2) % 2 == 0) o.epochs = epochs;
    if (mix(seed + salt + 3) % 3 == 0) o.max_reorder_bytes = 1 + mix(seed + salt + 4) % 4000;
    const ps::Rank part{.rank = static_cast<int>(rank), .world = static_cast<int>(world), .steps_per_epoch = steps};
    return ps::Loader(p | ps::for_rank(part), o);
  }
};

}  // namespace

TEST_CASE("random pipelines bring the steps that the model says, on any number of ranks") {
  const Watchdog dog(600s, "a random pipeline of so many steps");
  const auto [base, count] = seeds(20262000, 1500);
  u64 played = 0, direct = 0, several = 0, failing = 0, starved = 0, resumed = 0, batches = 0, passes = 0;
  for (u64 seed = base; seed < base + count; ++seed) {
    const auto drawn = std::make_shared<model::Spec>(model::random_spec(seed));
    model::add_maps(*drawn, seed);
    for (model::BatchMap& map : drawn->maps) map.fails_at = ~u64{0};
    const std::shared_ptr<const model::Spec> spec = drawn;
    if (spec->stream || model::size_of(*spec) == 0) continue;
    const Play play_of(seed, *spec);
    ++played;
    direct += !model::reordered(*spec);
    several += play_of.world > 1;
    const ps::Pipeline p = build(spec, mix(seed + 1) % 2 == 0, mix(seed + 2) % 4 != 0);
    for (u64 rank = 0; rank < play_of.world; ++rank) {
      u64 acted = 0;
      auto expected = model::run_steps(*spec, play_of.steps, play_of.epochs, acted, {rank, play_of.world});
      const std::string which = "PENSTOCK_SEED=" + std::to_string(seed) + "\n  " + model::describe(*spec) +
                                "\n  rank " + std::to_string(rank) + " of " + std::to_string(play_of.world) + ", " +
                                std::to_string(play_of.epochs) + " epochs of " + std::to_string(play_of.steps);
      std::vector<model::Event> got;
      ps::Loader loader = play_of.loader(p, rank, 50 + rank);
      // A state is resumed anywhere but after an error, which it names.
      const u64 stop_at = mix(seed + rank + 3) % 2 == 0 ? mix(seed + rank + 4) % (expected.size() + 1) : ~u64{0};
      play(loader, play_of.epochs, stop_at, got);
      ps::State end = loader.state();
      if (got.size() == stop_at && (got.empty() || !got.back().failed)) {
        ++resumed;
        ps::Loader rest = play_of.loader(p, rank, 60 + rank);
        rest.resume(end);
        REQUIRE(rest.state() == end);
        play(rest, play_of.epochs, ~u64{0}, got);
        // An epoch that a state begins in its middle is not judged.
        std::erase_if(got, [](const model::Event& e) { return model::is_lost(e); });
        std::erase_if(expected, [](const model::Event& e) { return model::is_lost(e); });
        end = rest.state();
      } else {
        play(loader, play_of.epochs, ~u64{0}, got);
        end = loader.state();
      }
      for (std::size_t i = 0; i < std::max(got.size(), expected.size()); ++i) {
        if (i < got.size() && got[i].cause.starts_with("nothing was left")) got[i].cause = "nothing was left";
        if (i < got.size() && i < expected.size() && got[i] == expected[i]) continue;
        FAIL(which << "\n  event " << i << " of " << expected.size() << "\n  model  "
                   << (i < expected.size() ? text(expected[i]) : "-") << "\n  engine "
                   << (i < got.size() ? text(got[i]) : "-"));
      }
      if (end.replaced != acted)
        FAIL(which << ": the policy acted on " << end.replaced << " samples, the model's on " << acted);
      passes += end.position / model::size_of(*spec);
      batches += got.size();
      for (const model::Event& e : expected) {
        failing += e.failed;
        starved += e.cause == "nothing was left";
      }
    }
  }
  std::printf(
      "%llu of %llu pipelines, %llu of them placed directly, %llu on 2 to 4 ranks; %llu batches, %llu passes, %llu "
      "resumed, %llu "
      "errors thrown, %llu because nothing was left\n",
      static_cast<unsigned long long>(played), static_cast<unsigned long long>(count),
      static_cast<unsigned long long>(direct), static_cast<unsigned long long>(several),
      static_cast<unsigned long long>(batches), static_cast<unsigned long long>(passes),
      static_cast<unsigned long long>(resumed), static_cast<unsigned long long>(failing),
      static_cast<unsigned long long>(starved));
  if (count >= 1000) {
    CHECK(played * 100 >= count * 30);
    CHECK(direct * 100 >= played * 20);
    CHECK(several * 100 >= played * 30);
    CHECK(resumed * 100 >= played * 20);
    CHECK(passes > played);
    CHECK(failing * 20 >= played);
    CHECK(starved > 0);
  }
}
