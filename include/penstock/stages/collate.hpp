#pragma once

#include <cstdint>
#include <string>

#include <penstock/detail/export.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Rows of this field keep the sizes they have: `batch.ragged(field)`. For any shape but a scalar's. Stands before
/// `batch`, anywhere. @throws Error(schema_mismatch) when there is no such field, or it is a scalar.
PENSTOCK_API Stage ragged(std::string field);

/// Settings of `pad`.
struct PadOptions {
  std::int64_t to = 0;  ///< result option: elements of the first dimension that every row gets; a longer row is a bad
                        ///< sample (cut it with a map). 0 = as many as the longest row of the batch has
                        ///< (with `for_rank`: the longest of this rank's part)
  double value = 0;     ///< result option: of elements that are added; one the field's dtype has exactly
};
/// Rows of this field are made equally long in their first dimension, the only one that may vary: the batch is
/// [N, to, ...], and `batch.lengths(field)` says how long the rows were. Stands before `batch`, anywhere.
/// @throws Error(schema_mismatch) when there is no such field, it is a scalar, or another dimension varies;
/// Error(invalid_argument) when the dtype can't hold `value`.
PENSTOCK_API Stage pad(std::string field, PadOptions options = {});

/// Settings of `bucket`.
struct BucketOptions {
  std::uint64_t window = 0;  ///< result option: samples that are looked at together, at most 65,535; a multiple of the
                             ///< batch's rows, where these are all that bounds it. 0 = 16 batches
};
/// Puts samples of like length together, so that little is padded: of each `window` consecutive samples (what filters
/// leave of them) those are neighbours whose `field` is of like length, and the batches made of them come in an order
/// drawn from (seed, epoch, the window's number). Length is the size of the first dimension; of an integer scalar its
/// value. Samples of one length stay in order. The last, incomplete batch of an epoch is made of the last samples
/// in order. Stands before `batch`, anywhere.
///
/// A window's samples wait in memory (`window` rows beyond what a loader has otherwise); a resume in the middle of one
/// makes all of it once more.
/// @throws Error(schema_mismatch) when there is no such field, or it has no length; Error(invalid_argument).
PENSTOCK_API Stage bucket(std::string field, BucketOptions options = {});

}  // namespace penstock
