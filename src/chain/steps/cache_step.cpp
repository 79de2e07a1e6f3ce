// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "chain/chain.hpp"
#include "chain/chain_run.hpp"
#include "chain/steps/steps.hpp"

namespace penstock::detail::runtime {

namespace {

// The steps before a cache run only for records that the cache does not have.
class CacheStep final : public Step {
 public:
  CacheStep(const BoundCache& cache, const SourceModel& source, const Schema& of)
      : Step(cache.label, 0), source_(source) {
    schema = of;
  }

  bool run(ChainRun& run, const StepCall& call) const override {
    if (std::exchange(run.recalls, false)) {
      if (recall(run, call.index)) return true;
      // The cached sample is damaged, so it is made again.
      run.chain().run_steps(run, 0, call.number, {}, call.index, {});
      run.at = &label;
      run.begin(*this, call.rows);
    }
    run.counters.totals.made.add(1);
    for (std::size_t slot = 0; slot < fields; ++slot) run.value(slot);
    run.at = &label;
    Sample sample(run);
    run.reader->offer(call.index, sample);
    // Samples from the cache have only pixels and no promises. Clears the promises here, so that results don't depend
    // on whether a sample came from the cache.
    for (Cell& cell : run.cells) cell.promise = nullptr;
    return true;
  }
  std::string describe(const CheckOptions&) const override {
    return label + ": what stands before it is run for records that it does not have";
  }
  std::vector<std::string> notes() const override { return source_.cache_notes(); }
  bool makes(const Schema&, std::size_t) const override { return true; }
  bool starts_anew(const ChainRun& run) const override { return run.recalls; }
  bool counts(std::size_t, bool first) const override { return first; }

 private:
  bool recall(ChainRun& run, std::uint64_t index) const {
    SampleBuilder out(run);
    if (!run.reader->recall(index, out)) return false;
    for (std::size_t slot = 0; slot < fields; ++slot)
      if (!run.given(slot)) run.missing(slot);
    check_sizes(run);
    return true;
  }

  const SourceModel& source_;
};

}  // namespace

std::unique_ptr<Step> make_cache_step(const BoundCache& cache, const SourceModel& source, const Schema& schema) {
  return std::make_unique<CacheStep>(cache, source, schema);
}

}  // namespace penstock::detail::runtime
