// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <penstock/extend/listing.hpp>

#include "sample_index.hpp"

namespace penstock::webdataset {

inline constexpr std::string_view shard_extension = ".tar";

/// Returns the texts of a pattern with {a,b} and {00..12}, in the order written. @throws Error(invalid_argument |
/// limit_exceeded), without a file.
std::vector<std::string> expand_braces(std::string_view pattern);

/// Returns the shards that WebDataset::path names; adds other files in a folder to `passed_over`. Checks existence only
/// for wildcards and folders. @throws Error(not_found | io | invalid_argument).
std::vector<std::string> list_shards(const std::string& path, PassedOver& passed_over);

/// @throws Error(invalid_argument) if two of the shards are the same file, whatever their names.
void refuse_twice(const std::vector<std::string>& shards, const std::vector<ShardIndex>& indices,
                  const std::string& path);

}  // namespace penstock::webdataset
