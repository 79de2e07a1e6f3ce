// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/float_mode.hpp>
#include <penstock/pipeline.hpp>

#include "chain/chain.hpp"
#include "chain/source_work.hpp"
#include "pipeline/pipeline_data.hpp"

namespace penstock {

namespace detail::runtime {

namespace {

// Makes one sample without a loader. @throws Error(not_found) if a filter leaves the sample out, or the child does not
// exist.
OwnedSample run_once(const PipelineData& data, const Place& place, std::uint64_t index) {
  const FloatMode standard;
  data.open();
  const Chain chain(std::make_shared<const PipelineData>(data));
  const Schema& after = data.sample();  // without what map_batches adds
  const Schema schema(std::vector<Field>(after.begin(), after.end() - static_cast<std::ptrdiff_t>(data.added())));
  ChainRun run(chain, ~std::size_t{0}, open_reader(*data.source));
  ChainRun* at_work = &run;
  bool kept = false;
  try {
    if (chain.children_begin() == 0) {
      kept = place.child == 0 && chain.run(run, place, index, {});
    } else {
      run.stand_in = std::make_unique<ChainRun>(chain, ~std::size_t{0}, nullptr);
      at_work = run.stand_in.get();
      std::swap(run.reader, at_work->reader);
      const Place parent{place.epoch, place.position, 0, place.attempt};
      if (chain.open(*at_work, parent, index) && place.child < chain.count(*at_work, parent, index)) {
        run.parent = std::exchange(at_work, &run);
        run.child = place.child;
        kept = chain.run(run, place, index, {});
      }
    }
    for (std::size_t slot = 0; kept && slot < schema.size(); ++slot) run.value(slot);
  } catch (...) {
    throw chain.describe_failure(*at_work, index);
  }
  if (!kept)
    throw Error(Errc::not_found, "no such sample: position " + std::to_string(place.position) + ", child " +
                                     std::to_string(place.child) +
                                     " is left out by a filter, or there are fewer children")
        .with_index(index);
  OwnedSample out(schema);
  SampleBuilder builder = out.builder();
  for (std::size_t slot = 0; slot < schema.size(); ++slot)
    builder.view(slot, run.cells[slot].data, run.cells[slot].shape);
  out.keep();
  return out;
}

}  // namespace

}  // namespace detail::runtime

OwnedSample Pipeline::at(std::uint64_t position, std::uint64_t epoch, std::uint32_t child) const {
  std::uint64_t index = 0;
  fill(epoch, position, {&index, 1});
  return detail::runtime::run_once(*data_, Place{epoch, position, child, 0}, index);
}

}  // namespace penstock
