// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <penstock/sources/lmdb.hpp>

namespace penstock::cli {

/// What the values of an LMDB from other software look like.
enum class ForeignValues : std::uint8_t {
  images,  ///< encoded images without a header; or there are no values at all
  datums,  ///< Caffe's Datum
  unknown,
};

/// Decides by the majority of 16 values, spread over the store at `path`, which `raw` has open. @throws
/// penstock::Error.
ForeignValues look_at_values(const LmdbSource& raw, const std::string& path);

}  // namespace penstock::cli
