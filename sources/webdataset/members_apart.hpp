// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::webdataset {

class MemberSource;
struct ShardIndex;

/// Says how to remake a shard in which the members of a sample are not next to each other.
inline constexpr std::string_view way_to_put_together =
    "members of one sample must follow one another; make the shard of a folder by \"tar --sort=name -cf SHARD.tar -C "
    "FOLDER .\", as names that a shell lists, like *.jpg *.cls, stay in its order";

/// Compares each sample of the shard with the first sample that has the same key. If the two have different fields,
/// they are likely parts of one sample, with other samples between them. Returns all samples of such pairs, in
/// ascending order.
std::vector<std::uint64_t> samples_apart(const ShardIndex& index);

/// Looks for a member that directly follows a member of another key, although its own key occurred before. Its
/// extension must differ from that of its key's first member. @throws Error(unsupported) if it finds one. The error
/// names both members of the key. @throws what MemberSource throws.
void refuse_members_apart(MemberSource& members);

}  // namespace penstock::webdataset
