// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <penstock/detail/export.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Lets each row of a field keep its own size; read the field with `batch.ragged(field)`. Stands anywhere before
/// `batch`.
/// @throws Error(schema_mismatch) if there is no such field, or it is a scalar.
PENSTOCK_API Stage ragged(std::string field);

/// Settings of `pad`. All are result options.
struct PadOptions {
  /// Elements in the first dimension of every row. A longer row is a bad sample; a `map` before this stage can cut it.
  /// Default (0): the length of the batch's longest row; with `for_rank`, of the longest row in this rank's part.
  std::int64_t to = 0;
  /// Value of the elements that are added. The field's dtype must represent the value exactly.
  double value = 0;
};
/// Pads the rows of a field to one length in their first dimension. Only this dimension may vary. In the batch, the
/// field is [N, to, ...], and `batch.lengths(field)` has the rows' lengths before padding. Stands anywhere before
/// `batch`.
/// @throws Error(schema_mismatch) if there is no such field, it is a scalar, or another dimension varies.
/// @throws Error(invalid_argument) if the dtype can't represent `value`.
PENSTOCK_API Stage pad(std::string field, PadOptions options = {});

/// Settings of `bucket`.
struct BucketOptions {
  /// Result option: number of consecutive samples that are sorted by length together, at most 65,535. If batches end
  /// only by their number of rows, `window` must be a multiple of that number. Default (0): 16 times the `rows` of
  /// `batch`, or less because of the maximum.
  std::uint64_t window = 0;
};
/// Puts samples of similar length into one batch, so that little is padded. The length of a sample is the first
/// dimension of `field`, or the value of an integer scalar.
/// Sorts each `window` consecutive samples by length. Samples that are left out, by a filter or the policy `drop`, do
/// not count. Samples of equal length stay in order. Cuts the sorted samples into batches. The order of the batches is
/// drawn from the seed, the epoch and the window's first position. An incomplete last batch of an epoch has the epoch's
/// last samples in order. Stands anywhere before `batch`.
///
/// The samples of a window wait in memory. They take `window` rows in addition to the memory of a loader without this
/// stage. A resume in the middle of a window makes all samples of the window again.
/// @throws Error(schema_mismatch) if there is no such field, or it has no length.
/// @throws Error(invalid_argument) if `window` is above 65,535.
/// @throws Error(invalid_argument) when `batch` joins the pipeline, if batches end only by their number of rows, and
/// this number is above 65,535 or does not divide `window`.
PENSTOCK_API Stage bucket(std::string field, BucketOptions options = {});

}  // namespace penstock
