// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/extend/listing.hpp>

#include "sample_index.hpp"

namespace penstock::webdataset {

inline constexpr std::string_view shard_extension = ".tar";
inline constexpr std::size_t max_shards = 1'000'000;
/// The most bytes that the names of all shards have together.
inline constexpr std::size_t max_names_bytes = std::size_t{256} << 20;

/// Returns all texts of a pattern with {a,b} and {00..12}, in the order in which they are written.
/// @throws Error(invalid_argument), which names no file, if the braces are wrong, or there are more than a million
/// texts, or more than `max_names_bytes` in them.
std::vector<std::string> expand_braces(std::string_view pattern);

/// Returns the shards that `path`, a `WebDataset::path`, names. If `path` is a folder, adds the other files and folders
/// in it to `passed_over`. Shards that are named without wildcards need not exist.
/// @throws Error(not_found | io | corrupt | invalid_argument).
std::vector<std::string> list_shards(const std::string& path, SkippedEntries& passed_over);

/// @throws Error(invalid_argument) if two of the shards are the same file, even under different names.
void refuse_twice(const std::vector<std::string>& shards, const std::vector<ShardIndex>& indices,
                  const std::string& path);

}  // namespace penstock::webdataset
