// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <penstock/sources/webdataset.hpp>

#include "member_source.hpp"

namespace penstock::webdataset {

/// Returns the fields that more than half of a shard's first 100 samples have, with the names that WebDatasetSink uses.
/// Returns no fields if the shard has no samples.
/// @throws Error(invalid_argument) if there are samples, but no such field; what `refuse_members_apart` and
/// MemberSource throw.
std::vector<WebDatasetField> infer_fields(MemberSource& shard);

}  // namespace penstock::webdataset
