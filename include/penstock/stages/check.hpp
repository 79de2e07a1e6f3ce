// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <penstock/detail/export.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Settings of `check`.
struct CheckOptions {
  /// Result option: decodes every stored image to its end, even if a crop needs only a part. So no warning is missed.
  bool verify = false;
  /// If true, neighbouring image stages fold into one operation. If false, each image stage runs by itself on whole
  /// images; with `scale = fit`, decoding, crops and the first resize stay together. The results have the same bits in
  /// both cases, but without folding the pipeline is slower.
  bool fold = true;
  /// Result option: limit in bytes for each field of a sample. Default: 256 MiB.
  std::uint64_t max_sample_bytes = 256ull << 20;
};
/// Sets how carefully samples are read.
PENSTOCK_API Stage check(CheckOptions options);

}  // namespace penstock
