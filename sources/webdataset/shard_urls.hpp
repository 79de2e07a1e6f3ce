// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <penstock/sources/webdataset.hpp>

#include "shard_ranges.hpp"

namespace penstock::webdataset {

/// Whether `WebDataset::path` is a URL.
bool names_url(const std::string& path) noexcept;
/// Returns the name of a file in a URL as it is on a disk: `%20` is a space.
std::string plain_name(const std::string& name);
/// Returns the URL of the index file beside a shard. Returns nothing if the URL's path does not end in ".tar".
std::optional<std::string> index_url(const std::string& shard);
/// Returns a URL without user, password and query.
std::string url_without_secrets(const std::string& url);
/// Returns a URL in one form of those that name the same file. Without the component `remote`, as it is.
std::string url_to_compare(const std::string& url);
/// Reads a whole file on a server, the one at `options.path`. @throws Error(limit_exceeded) above `max_bytes`;
/// Error(unsupported) if Penstock was built without the component `remote`; Error(io | not_found | invalid_argument).
std::string read_url(WebDataset& options, std::uint64_t max_bytes);
/// Reads a small whole file on a server. Returns nothing if it does not exist. @throws the same. REQUIRES:
/// `options.client`.
std::optional<std::string> find_url(const WebDataset& options, const std::string& url);
/// Checks the shards that a list on a server names. @throws Error(invalid_argument) if one is on another server than
/// the list, and the client would send it a token or headers.
void require_same_server(WebDataset& options, const std::vector<std::string>& urls);
/// Opens the shards at these URLs, and their index files. Sets `options.client`. Adds to `notes` where the client
/// keeps what it fetches, or why it does not. @throws the same.
std::unique_ptr<ShardRanges> open_urls(WebDataset& options, const std::vector<std::string>& urls,
                                       std::vector<std::string>& notes);

}  // namespace penstock::webdataset
