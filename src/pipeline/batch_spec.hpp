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
  std::uint64_t enough_bytes =
      0;  ///< a batch ends after the sample with which it reaches this size; 0 means no such limit
};

/// The largest number of samples in a bucket window. A cursor has 16 bits for the number of batches that are
/// made of a window.
inline constexpr std::uint64_t max_bucket_window = 65'535;
/// Specifies the field by whose length samples are sorted in a window, so that a batch has samples of similar length.
struct BucketSpec {
  std::string field;
  BucketOptions options;
};

}  // namespace penstock::detail
