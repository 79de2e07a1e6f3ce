// What a look at a store's records finds.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stores/input_store.hpp"

namespace penstock::cli {

struct Findings {
  std::vector<std::vector<std::uint64_t>> bytes;  ///< of each field
  std::map<std::int64_t, std::uint64_t> labels;
  std::map<std::string, std::uint64_t> kinds;  ///< of encoded images
  std::vector<std::uint64_t> heights, widths;  ///< of images that can be decoded, from their headers
  std::map<int, std::uint64_t> orientations;   ///< of JPEGs that are to be turned or mirrored, as Exif numbers them
  std::uint64_t looked_at = 0;                 ///< records; fewer than there are where only a sample was
  std::uint64_t unreadable = 0;
  std::string first_unreadable;
};

struct LookOptions {
  std::string image_field;
  bool all = false;    ///< at every record, not at some 10,000 of more, spread evenly
  bool quiet = false;  ///< no progress
};

Findings look_at_records(const InputStore& store, const LookOptions& options);

/// A record's key, or "?" where it can't be read.
std::string readable_key(const InputStore& store, std::uint64_t index);

}  // namespace penstock::cli
