#pragma once

#include <cstdint>

#include <penstock/detail/export.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// What happens to a sample that fails (`Error::sample_scoped`).
enum class OnError : std::uint8_t {
  fail,     ///< the first failure in order is thrown by the `next()` that would deliver its batch
  replace,  ///< its row is made of another record of the same order, drawn from (seed, place): at most 8 tries
  mask,     ///< its row becomes zeros, with mask 0
  drop,     ///< it is left out like a filtered one; an epoch's number of batches is then known only after it
};
/// Settings of `on_error`.
struct ErrorPolicy {
  OnError policy = OnError::fail;               ///< result option
  std::uint64_t max_count = ~std::uint64_t{0};  ///< result option: more bad samples than this in a run end it
  double max_share = 1.0;  ///< result option: … or this share of the samples delivered so far (dropped ones count as
                           ///< delivered), once there are 1,000 of them
  /// Result option, of a stream's samples: more that fail one after the other than this end the run, as a stream that
  /// fails for ever has no end. One that does not fail, filtered or not, ends the row; so do an epoch's end (not with
  /// `Rank::steps_per_epoch`) and a resume. Other sources have an end, and need no such bound. Default: 1000.
  std::uint64_t max_in_row = 1000;
};
/// Says what happens to bad samples. Counted in order, with the batch in which they stand or would have stood, so the
/// same sample ends the run at any thread count, and what comes before it is delivered first. An incomplete last batch
/// that is dropped counts where it had to be read to know that it is (filters and the like). Each rank of `for_rank`
/// counts its own samples. An epoch that has nothing but bad samples, beside what filters left out, is an error,
/// whether they are dropped or masked: Error(quota_exceeded), after their batches. With `replace` the sample for which
/// no record is good ends it. A rank without samples has none that are bad; an epoch left early, or that a state begins
/// in its middle, is not judged. Default without this stage: `fail`.
PENSTOCK_API Stage on_error(ErrorPolicy policy);

}  // namespace penstock
