// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <penstock/detail/export.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// What happens to a sample that fails (`Error::sample_scoped`).
enum class OnError : std::uint8_t {
  fail,     ///< the `next()` that would deliver the sample's batch throws the batch's first failure in order
  replace,  ///< its row is made of another record of the same order, drawn from (seed, place), in at most 8 tries
  mask,     ///< its row becomes zeros, with mask 0
  drop,     ///< it is left out like a filtered one; an epoch's number of batches is then known only at its end
};
/// Settings of `on_error`. All are result options.
struct ErrorPolicy {
  /// What happens to a sample that fails.
  OnError policy = OnError::fail;
  /// The run ends when it has more bad samples than this.
  std::uint64_t max_count = ~std::uint64_t{0};
  /// The run ends when this share of its samples so far is exceeded by bad ones. Applies from 1,000 samples on. Dropped
  /// samples count among all samples.
  double max_share = 1.0;
  /// Streams only: the run ends when more consecutive samples than this fail, because a stream that always fails never
  /// ends. A sample that does not fail restarts the count, even if a filter leaves it out. So do a resume and, without
  /// `Rank::steps_per_epoch`, the end of an epoch. Default: 1000.
  std::uint64_t max_in_row = 1000;
};
/// Sets what happens to bad samples. Without this stage, the policy is `fail`.
/// A bad sample counts when the batch in which it is, or would have been, is delivered. Samples count in order. So the
/// same sample ends the run at any number of threads, after all batches before it are delivered.
/// `Tail::drop` drops an incomplete last batch. Its bad samples count only if the pipeline has to make samples to know
/// how many there are (`filter`, `flat_map`, `bucket`, the policy `drop`, a stream). Other pipelines never make them.
/// Each rank of `for_rank` counts its own samples.
///
/// If all samples of an epoch are bad, except those that filters left out, the epoch ends with Error(quota_exceeded)
/// under the policies `mask` and `drop`; masked batches are delivered before. Under `replace`, the first sample for
/// which no stand-in is good ends the epoch. This rule does not apply to a rank without samples, to an epoch that the
/// caller leaves early, or to one that a resume begins in the middle.
PENSTOCK_API Stage on_error(ErrorPolicy policy);

}  // namespace penstock
