// SPDX-License-Identifier: Apache-2.0
#include "chain/step.hpp"

#include <penstock/error.hpp>

#include "chain/chain_run.hpp"
#include "data/find_field.hpp"

namespace penstock::detail::runtime {

bool Step::declares_anew(const Schema& before, std::size_t slot) const {
  const Field& field = schema[slot];
  const auto found = find_field(before, field.name, slot);
  if (!found) return true;
  const Field& old = before[*found];
  return old.dtype != field.dtype || !(old.shape == field.shape) || old.collate != field.collate;
}

void Step::check_values(const ChainRun& run) const {
  for (std::size_t slot = 0; slot < run.cells.size(); ++slot) {
    const Cell& cell = run.cells[slot];
    if (!run.given(slot)) run.missing(slot);
    if (!schema[slot].shape.admits(cell.shape))
      run.refuse(slot, "value of shape " + cell.shape.to_string(), schema[slot].dtype, cell.shape.rank());
  }
  check_sizes(run);
}

void Step::check_sizes(const ChainRun& run) const {
  for (const std::size_t slot : varying) {
    if (!run.given(slot)) continue;
    run.require_size(slot, run.cells[slot].shape.elements() * size_of(schema[slot].dtype));
  }
}

// A callable may draw even if its stage did not declare draws. So draws are looked for after each call.
void refuse_draws(const StepCall& call, Context& context) {
  if (call.cached_by == nullptr || !context.rng().drawn()) return;
  throw Error(Errc::invalid_argument, "it draws at random, and from " + *call.cached_by +
                                          ", which stands after it, every epoch would get the same draw; put it "
                                          "after the cache, or set allows.random");
}

}  // namespace penstock::detail::runtime
