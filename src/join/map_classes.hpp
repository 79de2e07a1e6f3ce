// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include <penstock/detail/source_model.hpp>

namespace penstock::detail {

/// Returns the source with the classes of its fields numbered as in `schema`, which has the same fields. Returns
/// `source` itself if no field's classes change.
/// @throws Error(schema_mismatch) of `stage`, like `penstock::map_classes`.
std::shared_ptr<const SourceModel> with_classes_of(std::shared_ptr<const SourceModel> source, const Schema& schema,
                                                   const std::string& stage);

}  // namespace penstock::detail
