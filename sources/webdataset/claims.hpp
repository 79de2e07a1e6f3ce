// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "field_plan.hpp"
#include "sample_entries.hpp"
#include "sample_index.hpp"
#include "shard_bytes.hpp"

namespace penstock::webdataset {

/// Compares a member with what the shard's index file says of it: the shard has no other member of a sample after the
/// one before it, and the member has this place, size, key, and one of the field's extensions. Reads only the bytes
/// from `index.lead` on, to the member's data.
/// @throws Error(corrupt), which names the index file; what `shard.read` throws.
void require_as_claimed(const ShardBytes& shard, const ShardIndex& index, std::uint64_t sample, Entry member,
                        const PlannedField& field);

/// Compares the members after the last one that is read with the index file. No field reads them.
/// Reads the bytes from `index.end` to the shard's end. @throws the same.
void require_end_as_claimed(const ShardBytes& shard, const ShardIndex& index);

}  // namespace penstock::webdataset
