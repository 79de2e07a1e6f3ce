#pragma once

#include <cstdint>
#include <string>

#include <penstock/detail/export.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// What becomes of the last, incomplete batch of an epoch.
enum class Tail : std::uint8_t {
  keep,  ///< it comes with fewer rows
  drop,  ///< it does not come
  pad,   ///< it comes whole: rows of zeros after the real ones, with mask 0 and index ~0
};

struct BatchOptions {
  Tail tail = Tail::keep;         ///< result option
  std::uint64_t most_bytes = 0;   ///< result option: a batch ends before the sample that would make it larger, with
                                  ///< padding, without the space that aligns ragged rows; 0 = not bounded
  std::string tokens = {};        ///< result option: the field that `most_tokens` counts
  std::uint64_t most_tokens = 0;  ///< result option: … before the first dimensions of this field would sum up to more;
                                  ///< of a padded field: rows times the longest one; 0 = not bounded
};
/// Puts at most `rows` consecutive samples together (of all ranks, where a `shard` shares them): exactly as many, but
/// for an epoch's last batch, where nothing else bounds it. A sample that is over such a bound alone is a bad sample.
/// Fields whose shape varies must say what becomes of that (`ragged`, `pad`) or be left out (`drop_fields`). Ends
/// the per-sample part of a pipeline. A batch that is bounded by bytes or tokens is complete with any number of rows,
/// so `tail` is `keep` then.
PENSTOCK_API Stage batch(std::uint64_t rows, BatchOptions options = {});

/// What happens to a sample that fails (`Error::sample_scoped`).
enum class OnError : std::uint8_t {
  fail,     ///< the first failure in order is thrown by the `next()` that would deliver its batch
  replace,  ///< its place is filled by another record of the same order, drawn from (seed, place): at most 8 tries
  mask,     ///< its row becomes zeros, with mask 0
  drop,     ///< it is left out like a filtered one; an epoch's number of batches is then known only after it
};
struct ErrorPolicy {
  OnError policy = OnError::fail;               ///< result option
  std::uint64_t max_count = ~std::uint64_t{0};  ///< result option: more bad samples than this in a run end it
  double max_share = 1.0;  ///< result option: … or this share of the samples delivered so far (dropped ones count as
                           ///< delivered), once there are 1,000 of them
};
/// Says what happens to bad samples. Counted in order, with the batch in which they stand or would have stood, so the
/// same sample ends the run at any thread count, and what comes before it is delivered first. An incomplete last batch
/// that is dropped counts where it had to be read to know that it is (filters and the like). Each rank of a `shard`
/// counts its own samples. Default without this stage: `fail`.
PENSTOCK_API Stage on_error(ErrorPolicy policy);

struct CheckOptions {
  bool verify = false;  ///< result option: every stored image is decoded to its end and every
                        ///< warning read, also where a crop needs less
  bool fold = true;     ///< false runs each image stage alone on whole images; the same bits, slowly
  std::uint64_t max_sample_bytes = 256ull << 20;  ///< result option: no field of any sample may become larger
};
/// Sets how carefully samples are read.
PENSTOCK_API Stage check(CheckOptions options);

}  // namespace penstock
