// SPDX-License-Identifier: Apache-2.0
// 4. Overlap of our loader's copies with steps. Copies take a quarter of a step, as long as a step, and four times as
// long.
#include <string>
#include <vector>

#include <fmt/format.h>

#include "../overlapping.hpp"

namespace penstock::gpu_bench {

namespace {

struct Case {
  Load::Sort sort;
  double copy_to_compute;
  Load::Numbers numbers = Load::Numbers::zeros;
  // Cases with random numbers are only printed: the GPU's clock depends on the heat of the minute before, not on the
  // loader.
  bool judged() const { return numbers == Load::Numbers::zeros; }
  std::string name() const {
    return fmt::format("{}{}, copy/step {:g}", sort == Load::Sort::gemm ? "GEMM" : "memory",
                       judged() ? "" : " of random numbers", copy_to_compute);
  }
};

void measure_case(Results& results, const Settings& settings, const Case& c) {
  const std::string name = c.name();
  const BatchSize size = overlap_batch(settings);
  const std::uint64_t steps = overlap_steps(settings);
  const CudaStream stream;
  const Memory wrong(Kind::device, 8);
  Load load(c.sort, c.numbers);
  load.take(static_cast<double>(size.bytes()) / results.peak_pinned / c.copy_to_compute, stream);
  Loader loader(stamped_batches(size, steps), {.device = gpu(0)});
  Overlap ours;
  std::vector<double> by_hand, against_hand, starved;
  for (int round = 0; round < settings.rounds(); ++round) {
    const auto loader_s = [&] {
      const LoaderTime time = time_loader(loader, stream, size, &load, wrong.as<unsigned long long>());
      starved.push_back(time.starved);
      return time.step_s;
    };
    const auto by_hand_s = [&] { return time_plain({}, size, steps, load); };
    // The loader runs first and last, because the GPU gets hotter meanwhile.
    measure_round(ours, settings, size, load, stream, [&] {
      const double first = loader_s(), hand = (by_hand_s() + by_hand_s()) / 2, last = loader_s();
      by_hand.push_back(hand);
      return (first + last) / 2;
    });
    against_hand.push_back(ours.rounds.back().together / by_hand.back());
  }

  auto& raw = results.raw()["overlap"][name];
  raw = ours.raw();
  raw["by_hand_s"] = by_hand;
  raw["starved"] = starved;
  const auto tell = [&](const std::string& what, double seconds, double against, double ratio, bool judged) {
    results.add({.name = what + ", " + name,
                 .ours = 1e3 * seconds,
                 .against = 1e3 * against,
                 .ratio = ratio,
                 .unit = "ms",
                 .gate = judged && c.judged() ? Gate::at_most : Gate::none,
                 .bound = judged && c.judged() ? max_against_longer : 0});
  };
  using R = const OverlapRound&;
  tell("a step beside endless copies / alone", ours.median(&OverlapRound::free_compute),
       ours.median(&OverlapRound::compute), ours.median([](R r) { return r.free_compute / r.compute(); }), false);
  tell("a copy beside endless steps / alone", ours.median(&OverlapRound::free_copies),
       ours.median(&OverlapRound::copies), ours.median([](R r) { return r.free_copies / r.copies; }), false);
  tell("step / longer of step and copy", ours.together_s(), ours.median(&OverlapRound::longer),
       ours.median([](R r) { return r.together / r.longer(); }), true);
  tell("step / best possible", ours.together_s(), ours.median(&OverlapRound::best_possible),
       ours.median([](R r) { return r.together / r.best_possible(); }), false);
  if (c.copy_to_compute == 1) {
    results.add({.name = "eta, of times beside each other, " + name,
                 .ours = ours.median(&OverlapRound::free_eta),
                 .against = 1});
    results.add({.name = "eta, " + name,
                 .ours = ours.median(&OverlapRound::eta),
                 .against = 1,
                 .gate = Gate::at_least,
                 .bound = min_eta});
  }
  if (c.copy_to_compute > 1)
    results.add({.name = "H2D while overlapped, " + name,
                 .ours = static_cast<double>(size.bytes()) / ours.together_s() / 1e9,
                 .against = results.peak_pinned / 1e9,
                 .unit = "GB/s",
                 .gate = Gate::at_least,
                 .bound = min_rate});
  // This does not depend on the GPU's clock. If copies take a quarter of a step, every batch must be there before it is
  // wanted.
  const bool longer_steps = c.copy_to_compute < 1;
  results.add({.name = "time in which the consumer's stream starved, " + name,
               .ours = 100 * median_of(starved),
               .against = 100,
               .unit = "%",
               .gate = longer_steps ? Gate::at_most : Gate::none,
               .bound = longer_steps ? max_step_starved : 0});
  tell("against a loop by hand", ours.together_s(), median_of(by_hand), median_of(against_hand), true);
  tell_wrong_rows(results, name, wrong);
}

}  // namespace

void overlap(Results& results, const Settings& settings) {
  results.begin(4, "overlap of copies and steps");
  for (const Case& c : {Case{Load::Sort::gemm, 0.25}, Case{Load::Sort::gemm, 1}, Case{Load::Sort::gemm, 4},
                        Case{Load::Sort::memory, 1}, Case{Load::Sort::gemm, 0.25, Load::Numbers::random}})
    measure_case(results, settings, c);
  overlap_of_file(results, settings);
}

}  // namespace penstock::gpu_bench
