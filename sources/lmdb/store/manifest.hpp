// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/extend/job_facts.hpp>
#include <penstock/schema.hpp>

namespace penstock::lmdb {

/// Key of the manifest in a store of records. No data key may equal it.
inline constexpr std::string_view manifest_key{"\0penstock", 9};

/// A store's description of itself. docs/formats/lmdb.md describes its JSON.
struct Manifest {
  std::string records = "fields";  ///< "fields" or "raw"
  bool complete = false;
  std::uint64_t count = 0;  ///< number of records; valid once the store is complete
  std::string keys;         ///< "automatic" or "position"
  std::vector<JobFact> made_by;
  bool updating = false;  ///< whether an update has begun and not ended
  Schema schema;

  /// The name of the first fact in a cache's manifest.
  static constexpr std::string_view cache_fact = "cache";
  bool of_cache() const noexcept { return !made_by.empty() && made_by.front().name == cache_fact; }
};

std::string to_json(const Manifest& manifest);
/// @throws Error(corrupt | unsupported), which names no file.
Manifest parse_manifest(std::string_view json);

}  // namespace penstock::lmdb
