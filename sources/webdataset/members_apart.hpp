// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::webdataset {

struct ShardIndex;

/// Says how to remake a shard in which the members of a sample are not next to each other.
inline constexpr std::string_view way_to_put_together =
    "members of one sample must follow one another; make the shard of a folder by \"tar --sort=name -cf SHARD.tar -C "
    "FOLDER .\", as names that a shell lists, like *.jpg *.cls, stay in its order";

/// Returns, in ascending order, the samples for which another sample of the shard has the same key but other fields.
/// The two are likely parts of one sample, with other samples between them.
std::vector<std::uint64_t> samples_apart(const ShardIndex& index);

/// Looks for two members of one key, with different extensions, that have members of other keys between them. @throws
/// Error(unsupported), which names two such members, if there are any; what TarScan throws.
void refuse_members_apart(const std::string& shard);

}  // namespace penstock::webdataset
