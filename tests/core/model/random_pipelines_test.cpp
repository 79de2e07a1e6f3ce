// SPDX-License-Identifier: Apache-2.0
// Thousands of random pipelines through the engine and through the model; every batch's bytes, indices and mask and
// every error must agree. PENSTOCK_SEED starts elsewhere; a failure prints the seed of its pipeline.
#include "support/catch.hpp"

#include <cstdio>
#include <set>

#include "core/help.hpp"
#include "core/model/random_run.hpp"
#include "core/model/random_spec.hpp"

using namespace help;
using namespace random_run;

TEST_CASE("random pipelines bring what the model says") {
  const Watchdog dog(600s, "a random pipeline");
  const auto [base, count] = seeds(20260000, 5000);
  std::map<model::Kind, u64> histogram;
  std::array<u64, 4> policies{};
  std::array<u64, 3> tails{};
  std::array<u64, 4> joins{};
  u64 in_parts = 0, selected = 0;
  u64 blocked = 0, ragged = 0, padded = 0, longest = 0, buckets = 0, by_tokens = 0, by_bytes = 0;
  u64 streams = 0, reordered = 0, faulty = 0, failures = 0, acted_on = 0, resumed = 0, on_devices = 0, after_batch = 0,
      cached = 0, batches = 0, refused = 0, tuned = 0, mapped = 0, swapped = 0, failing_maps = 0;
  std::map<std::string, u64> trials;
  for (u64 seed = base; seed < base + count; ++seed) {
    const auto drawn = std::make_shared<model::Spec>(model::random_spec(seed));
    model::add_maps(*drawn, seed);
    const std::shared_ptr<const model::Spec> spec = drawn;
    for (const model::Kind kind : [&] {
           std::set<model::Kind> kinds;
           for (const model::Stage& s : spec->stages) kinds.insert(s.kind);
           return kinds;
         }())
      ++histogram[kind];
    const u64 epochs = 1 + mix(seed) % 3;
    u64 acted = 0;
    std::vector<model::Event> expected = model::run(*spec, epochs, acted);
    const bool has_faults = !spec->faults.empty() ||
                            std::ranges::any_of(spec->stages, [](const model::Stage& s) { return !s.faults.empty(); });
    faulty += has_faults;
    streams += spec->stream;
    reordered += model::reordered(*spec);
    const auto any = [&](auto f) {
      return std::ranges::any_of(spec->collates, [f](const auto& c) { return f(c.second); });
    };
    ragged += any([](const model::Collate& c) { return !c.pads; });
    padded += any([](const model::Collate& c) { return c.pads && c.to != 0; });
    longest += any([](const model::Collate& c) { return c.pads && c.to == 0; });
    buckets += !spec->bucket.empty();
    blocked += spec->per_block != 0;
    in_parts += spec->in_parts != 0;
    selected += spec->selected;
    ++joins[static_cast<std::size_t>(spec->join)];
    by_tokens += spec->max_tokens != 0;
    by_bytes += spec->max_bytes != 0;
    ++policies[static_cast<std::size_t>(spec->policy)];
    ++tails[static_cast<std::size_t>(spec->tail)];
    acted_on += acted;
    batches += expected.size();

    const ps::Pipeline p = build(spec, mix(seed + 1) % 2 == 0, mix(seed + 2) % 4 != 0);
    const auto options = [&](u64 salt) {
      ps::LoaderOptions o = some_options(seed, salt);
      if (mix(seed + salt + 4) % 2 == 0)
        o.max_block_bytes = (2 + mix(seed + salt + 5) % 5) * spec->per_block * spec->width * 4;
      o.max_reorder_bytes = mix(seed + salt + 2) % 3 == 0 ? mix(seed + salt + 3) % 20'000 : 0;
      return o;
    };
    std::vector<model::Event> got;
    if (model::never_comes(*spec)) {
      // A bad sample may have ended the model's epochs.
      if (!std::ranges::all_of(expected, &model::Event::failed) || !random_run::never_comes(p))
        FAIL("PENSTOCK_SEED=" << seed << "\n  " << model::describe(*spec) << "\n  a loader takes it");
      ++refused;
      continue;
    }
    ps::Loader loader(p, options(10));
    on_devices += options(10).device != ps::host();
    after_batch += p.plan().find("\nafter ") != std::string::npos;
    cached += p.plan().find("\nstage   cache") != std::string::npos;
    REQUIRE(p.size() == model::size_of(*spec));
    u64 final_acted = 0;
    if (mix(seed + 3) % 9 < 5) {
      // Broken off at a random step and gone on with by another loader, with other threads and another depth.
      ++resumed;
      play(loader, epochs, mix(seed + 4) % (expected.size() + 1), got);
      ps::Loader rest(p, options(20));
      rest.resume(loader.state());
      // A state saved after an error names the batch that failed: it fails again.
      if (!got.empty() && got.back().failed) got.pop_back();
      play(rest, epochs, ~std::size_t{0}, got);
      // An epoch that a state begins in its middle is not judged.
      std::erase_if(got, [](const model::Event& e) { return model::is_lost(e); });
      std::erase_if(expected, [](const model::Event& e) { return model::is_lost(e); });
      final_acted = rest.state().replaced;
    } else {
      play(loader, epochs, ~std::size_t{0}, got);
      final_acted = loader.state().replaced;
    }
    if (const auto tuning = loader.report().tuning) {
      ++tuned;
      for (const ps::TuneTrial& step : tuning->trials) ++trials[step.setting];
    }
    for (std::size_t i = 0; i < std::max(got.size(), expected.size()); ++i) {
      if (i < got.size() && i < expected.size() && got[i] == expected[i]) continue;
      FAIL("PENSTOCK_SEED=" << seed << "\n  " << model::describe(*spec) << "\n  event " << i << "\n  model  "
                            << (i < expected.size() ? text(expected[i]) : "-") << "\n  engine "
                            << (i < got.size() ? text(got[i]) : "-"));
    }
    // Rows that functions on batches mask are counted too; the model does not count them.
    const bool maps_fail = std::ranges::any_of(spec->maps, [](const auto& map) { return map.fails_at != ~u64{0}; });
    mapped += !spec->maps.empty();
    swapped += spec->swaps;
    failing_maps += maps_fail;
    if (final_acted != acted && !maps_fail)
      FAIL("PENSTOCK_SEED=" << seed << "\n  " << model::describe(*spec) << "\n  the policy acted on " << final_acted
                            << " samples, the model's on " << acted);
    for (const model::Event& e : expected) failures += e.failed;
  }
  std::printf(
      "%llu pipelines, %llu batches, %llu with planted faults, %llu errors thrown, %llu samples acted on, %llu "
      "resumed\n",
      static_cast<unsigned long long>(count), static_cast<unsigned long long>(batches),
      static_cast<unsigned long long>(faulty), static_cast<unsigned long long>(failures),
      static_cast<unsigned long long>(acted_on), static_cast<unsigned long long>(resumed));
  for (std::size_t k = 0; k < static_cast<std::size_t>(model::Kind::count); ++k) {
    const double share =
        100.0 * static_cast<double>(histogram[static_cast<model::Kind>(k)]) / static_cast<double>(count);
    std::printf("  %5.1f %%  %s\n", share, model::name_of(static_cast<model::Kind>(k)));
    if (count >= 1000) CHECK(share >= 2);
  }
  const auto percent = [count](u64 n) { return 100.0 * static_cast<double>(n) / static_cast<double>(count); };
  std::printf(
      "  reordered %.1f %%, of streams %.1f %%\n  policies fail %.1f %%, replace %.1f %%, mask %.1f %%, drop %.1f %%\n"
      "  tails keep %.1f %%, drop %.1f %%, pad %.1f %%\n",
      percent(reordered), percent(streams), percent(policies[0]), percent(policies[1]), percent(policies[2]),
      percent(policies[3]), percent(tails[0]), percent(tails[1]), percent(tails[2]));
  std::printf("  tuned %.1f %%, trials:", percent(tuned));
  for (const auto& [setting, times] : trials) {
    std::printf(" %llu of %s", static_cast<unsigned long long>(times), setting.c_str());
    if (count >= 1000) CHECK(times * 250 >= count);
  }
  std::printf("\n");
  if (count >= 1000) CHECK(trials.size() == 4);
  std::printf("  on devices %.1f %%, with stages after batch %.1f %%, with a cache %.1f %%\n", percent(on_devices),
              percent(after_batch), percent(cached));
  std::printf(
      "  of blocks %.1f %%, of sources joined by concat %.1f %%, interleave %.1f %%, zip %.1f %%\n  ragged %.1f %%, "
      "padded %.1f %%, padded to the longest %.1f %%\n  buckets %.1f %%, "
      "bounded by tokens %.1f %%, "
      "by bytes %.1f %%\n",
      percent(blocked), percent(joins[1]), percent(joins[2]), percent(joins[3]), percent(ragged), percent(padded),
      percent(longest), percent(buckets), percent(by_tokens), percent(by_bytes));
  std::printf("  stages in parts %.1f %%, of these with a select %.1f %%\n", percent(in_parts), percent(selected));
  std::printf("  with functions on batches %.1f %%, that throw %.1f %%, that swap labels %.1f %%\n", percent(mapped),
              percent(failing_maps), percent(swapped));
  if (count >= 1000) {
    CHECK(percent(in_parts) >= 8);
    CHECK(percent(selected) >= 3);
    for (const u64 n : {mapped, swapped, failing_maps}) CHECK(percent(n) >= 4);
    for (const u64 n : {blocked, joins[1], joins[2], joins[3], ragged, padded, longest, buckets, by_tokens, by_bytes})
      CHECK(percent(n) >= 2);
    CHECK(reordered * 100 >= count * 40);
    CHECK(on_devices * 100 >= count * 10);
    CHECK(after_batch * 100 >= count * 3);
    CHECK(cached * 100 >= count * 12);
    CHECK(streams * 100 >= count * 8);
    CHECK(faulty * 100 >= count * 48);
    CHECK(resumed * 100 >= count * 45);
    CHECK(failures > 0);
    CHECK(refused > 0);
    CHECK(acted_on > 0);
  }
}
