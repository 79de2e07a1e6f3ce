// SPDX-License-Identifier: Apache-2.0
// Looks at a store's records.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stores/input_store.hpp"

namespace penstock::cli {

struct Findings {
  std::vector<std::vector<std::uint64_t>> bytes;  ///< sizes of the records' values, per field
  std::map<std::int64_t, std::uint64_t> labels;
  std::map<std::string, std::uint64_t> kinds;  ///< number of encoded images of each kind
  std::vector<std::uint64_t> heights, widths;  ///< sizes of images that can be decoded, from their headers
  std::map<int, std::uint64_t> orientations;   ///< Exif orientations of JPEGs that must be turned or mirrored
  std::uint64_t looked_at = 0;                 ///< number of records; without `LookOptions::all`, perhaps not all
  std::uint64_t unreadable = 0;
  std::string first_unreadable;
};

struct LookOptions {
  std::string image_field;
  bool all = false;    ///< looks at every record; by default at about 10,000 records, or fewer if they are large
  bool quiet = false;  ///< no progress
};

Findings look_at_records(const InputStore& store, const LookOptions& options);

/// Returns a record's key, or "?" if the key can't be read.
std::string readable_key(const InputStore& store, std::uint64_t index);

}  // namespace penstock::cli
