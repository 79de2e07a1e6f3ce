// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <penstock/sources/webdataset.hpp>

namespace penstock::webdataset {

/// Returns the fields of a shard's first samples, with the names that WebDatasetSink uses.
/// @throws Error(invalid_argument) if no field is in more than half of these samples; what `refuse_members_apart` and
/// TarScan throw.
std::vector<WebDatasetField> infer_fields(const std::string& shard);

}  // namespace penstock::webdataset
