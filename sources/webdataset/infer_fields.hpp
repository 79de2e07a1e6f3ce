#pragma once

#include <string>
#include <vector>

#include <penstock/sources/webdataset.hpp>

namespace penstock::webdataset {

/// The fields that a shard's first samples have, named as WebDatasetSink names what it writes. @throws
/// Error(invalid_argument) where nothing is in more than half of them; Error as TarScan.
std::vector<WebDatasetField> infer_fields(const std::string& shard);

}  // namespace penstock::webdataset
