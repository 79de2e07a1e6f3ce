#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace penstock::webdataset {

/// The file that marks shards "PATH-000000.tar", ... as unfinished.
std::string mark_of(const std::string& path);
/// "PATH-000042.tar".
std::string shard_name(const std::string& path, std::uint64_t number);

/// "PATH" of such a name; nothing for others.
std::optional<std::string> path_of(const std::string& shard);

/// @throws Error(invalid_argument) where one of these shards belongs to a store that is not finished.
void refuse_unfinished(const std::vector<std::string>& shards);

}  // namespace penstock::webdataset
