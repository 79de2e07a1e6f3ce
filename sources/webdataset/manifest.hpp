// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/sources/webdataset.hpp>

namespace penstock::webdataset {

/// The shards that a text file names, one in each line.
struct Manifest {
  std::string name;                 ///< the file, or its URL without secrets
  std::vector<std::string> shards;  ///< paths or URLs
  std::vector<std::size_t> lines;   ///< the line of each
  bool on_servers = false;

  /// Adds the line to an Error about one of the shards.
  void add_line(Error& error) const;
};

/// Whether a `WebDataset::path` ends in ".txt", and is no folder.
bool names_manifest(const std::string& path);

/// Takes a manifest's text. `path`: its path or URL. @throws Error(invalid_argument), which names the manifest and the
/// line.
Manifest parse_manifest(const std::string& path, std::string_view text);

/// Reads the manifest that `options.path` names, over `options.client` if it is on a server.
/// @throws Error(not_found | io | invalid_argument | limit_exceeded); Error(unsupported) if it is on a server, and
/// Penstock was built without the component `remote`.
Manifest read_manifest(WebDataset& options);

/// Returns the URLs that a URL with braces names. @throws what `expand_braces` throws, without secrets.
std::vector<std::string> expand_url(const std::string& pattern);

}  // namespace penstock::webdataset
