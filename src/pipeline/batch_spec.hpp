// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <penstock/stages/batch.hpp>
#include <penstock/stages/collate.hpp>

namespace penstock::detail {

/// How samples are cut into batches.
struct BatchSpec {
  std::uint64_t rows;
  BatchOptions options;
  std::uint64_t enough_bytes = 0;  ///< a batch ends after the sample with which it has this size; 0: no such limit
};

/// Limit of a bucket window, because the batches made of a window are counted in 16 bits.
inline constexpr std::uint64_t max_bucket_window = 65'535;
/// Specifies which samples come together in a batch.
struct BucketSpec {
  std::string field;
  BucketOptions options;
};

}  // namespace penstock::detail
