// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <penstock/sources/lmdb.hpp>

namespace penstock::cli {

/// What the values of an LMDB from other software look like.
enum class ForeignValues : std::uint8_t {
  images,  ///< encoded images without a header; also if the store has no values
  datums,  ///< Caffe's Datum
  unknown,
};

/// Looks at up to 16 values, spread evenly over the store, and decides by the majority of them. `raw` is the opened
/// store, `path` its path. @throws penstock::Error.
ForeignValues look_at_values(const LmdbSource& raw, const std::string& path);

}  // namespace penstock::cli
