// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <penstock/detail/export.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// What happens to a sample that fails (`Error::sample_scoped`).
enum class OnError : std::uint8_t {
  fail,     ///< the `next()` that would deliver the sample's batch throws the batch's first failure in order
  replace,  ///< its row is made of another record, drawn by (seed, place) from the same order; at most 8 records are
            ///< tried
  mask,     ///< its row becomes zeros, with mask 0
  drop,     ///< it is left out, as by a filter; an epoch's number of batches is then known only at the epoch's end
};
/// Settings of `on_error`. All are result options.
struct ErrorPolicy {
  /// What happens to a sample that fails.
  OnError policy = OnError::fail;
  /// The run ends when it has more bad samples than this. Default: no limit.
  std::uint64_t max_count = ~std::uint64_t{0};
  /// The run ends when the bad samples are more than this share of all samples so far. Applies from 1,000 samples on.
  /// Bad samples that were dropped count as samples; samples that filters left out do not. Default: no limit.
  double max_share = 1.0;
  /// Streams only: the run ends when more consecutive samples than this fail, because a stream that always fails never
  /// ends. A sample that does not fail restarts the count, even if a filter leaves it out. A resume restarts the count
  /// too, and so does the end of an epoch. Default: 1000.
  std::uint64_t max_in_row = 1000;
};
/// Sets what happens to bad samples. Without this stage, the policy is `fail`.
/// A bad sample is counted when the batch that it is in, or would have been in, is delivered. Samples are counted in
/// order. So the same sample ends the run at any number of threads, after all batches before it were delivered.
/// `Tail::drop` drops an incomplete last batch. With `filter`, `flat_map`, `bucket`, the policy `drop` or a stream, the
/// samples of this batch are made, and its bad samples are counted. Other pipelines never make the samples of this
/// batch. Each rank of `for_rank` counts its own samples.
///
/// If every sample of an epoch is bad, the epoch ends with Error(quota_exceeded) under the policies `mask` and `drop`.
/// Samples that filters leave out do not count here. Under `mask`, the epoch's batches are delivered before the error.
/// Under `replace`, an epoch ends at the first sample for which all records that were tried are bad, with the error of
/// the sample's own record. The rule for `mask` and `drop` does not apply to a rank without samples. It also does not
/// apply to an epoch that the caller leaves early, or that a resume begins in the middle.
PENSTOCK_API Stage on_error(ErrorPolicy policy);

}  // namespace penstock
