// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/state.hpp>

#include "data/state.hpp"
#include "loader/loader_impl.hpp"
#include "pipeline/pipeline_data.hpp"
#include "pipeline/pipeline_facts.hpp"

// Saves a loader's position as a state, and continues from a state.
namespace penstock {

State Loader::Impl::state() const {
  check_process();
  constexpr std::uint64_t most = ~std::uint32_t{0};
  if (cursor_.epoch > most) throw Error(Errc::limit_exceeded, "a state has room for epochs below 2^32");
  State s;
  s.fingerprint = epoch_facts_.fingerprint;
  s.seed = pipeline_.seed();
  s.epoch = static_cast<std::uint32_t>(cursor_.epoch);
  s.number = static_cast<std::uint32_t>(std::min(cursor_.number, most));
  s.position = cursor_.position;
  s.child = cursor_.child;
  s.window_batches = cursor_.window_batches;
  s.step = step_;
  s.samples = samples_;
  s.replaced = static_cast<std::uint32_t>(std::min(ledger_.acted(), most));
  s.check = detail::state_checksum(s);
  return s;
}

void Loader::Impl::resume(const State& s, const std::string& text) {
  check_process();
  detail::check_state(s);
  if (s.seed != pipeline_.seed())
    throw Error(Errc::state_mismatch, "the state was saved with seed " + std::to_string(s.seed) +
                                          ", this pipeline has " + std::to_string(pipeline_.seed()));
  if (s.fingerprint != epoch_facts_.fingerprint) refuse(s, text);
  const std::uint64_t rows = pipeline_.batch_size(),
                      number = epoch_facts_.reordered || epoch_facts_.endless ? s.number : s.position / rows;
  const bool begins_batch = epoch_facts_.reordered || (s.position % rows == 0 && s.child == 0);
  const bool fits = begins_batch && (epoch_facts_.endless     ? s.number < pipeline_.data().fixed_steps()
                                     : epoch_facts_.reordered ? s.position < pipeline_.size() || s.position == 0
                                                              : number <= epoch_facts_.steps);
  if (!fits || (s.window_batches != 0 && !pipeline_.data().bucket))
    throw Error(Errc::state_mismatch, "the state's position " + std::to_string(s.position) +
                                          " is not the beginning of a batch of this pipeline");
  cursor_ = {s.epoch, number, s.position, s.child, s.window_batches};
  outcome_.begin(number == 0 && s.window_batches == 0 && (epoch_facts_.endless || (s.position == 0 && s.child == 0)));
  if (!epoch_facts_.reordered && !epoch_facts_.endless && number == epoch_facts_.steps && epoch_facts_.steps != 0) {
    cursor_ = {s.epoch + std::uint64_t{1}, 0, 0, 0};
    outcome_.begin(true);
  }
  epoch_ = cursor_.epoch;
  step_ = s.step;
  samples_ = s.samples;
  ledger_.resume(s.replaced);
  in_epoch_ = ended_by_error_ = false;
  after_error_.reset();
  must_seek_ = true;
  ++beginnings_;
}

void Loader::Impl::refuse(const State& s, const std::string& text) const {
  const detail::PipelineFacts facts = detail::facts_of(pipeline_.data());
  const std::string differs = facts.what_differs(text), parts = facts.aspects_that_differ(s.fingerprint);
  if (const auto ranks = facts.ranks_of(s.fingerprint)) {
    const auto counted = [](std::uint64_t n) { return std::to_string(n) + (n == 1 ? " rank" : " ranks"); };
    throw Error(Errc::state_mismatch,
                "the state was saved on " + counted(*ranks) + ", and this loader is one of " +
                    counted(static_cast<std::uint64_t>(pipeline_.data().rank_value().world)) + "; " +
                    *pipeline_.data().mixing_stage() +
                    " sees the rows of one rank, so batches depend on the number of ranks: go on with as many ranks, "
                    "or begin anew");
  }
  std::string cause = "the state belongs to another pipeline";
  if (!differs.empty())
    cause += ": " + differs + "; go on with the pipeline that it was saved of, or begin anew";
  else
    cause += (parts.empty() ? ", in something that it does not name" : "; what differs is " + parts) +
             "; compare with what plan() says, and save with Loader::save to have it told in words";
  throw Error(Errc::state_mismatch, std::move(cause));
}

}  // namespace penstock
