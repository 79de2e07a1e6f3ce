// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::webdataset {

struct ShardIndex;

/// How to repair a shard whose samples are in pieces.
inline constexpr std::string_view way_to_put_together =
    "members of one sample must follow one another; make the shard of a folder by \"tar --sort=name -cf SHARD.tar -C "
    "FOLDER .\", as names that a shell lists, like *.jpg *.cls, stay in its order";

/// Returns samples that share a key but are not next to each other, if one of them has a field that another lacks;
/// ascending.
std::vector<std::uint64_t> samples_apart(const ShardIndex& index);

/// Goes through the shard. @throws Error(unsupported), with two members of one key that have others between them; and
/// like TarScan. Returns if there are none.
void refuse_members_apart(const std::string& shard);

}  // namespace penstock::webdataset
