#pragma once

#include <memory>
#include <string>

#include <penstock/detail/source_model.hpp>

namespace penstock::detail {

/// The source with its fields' classes numbered as in `schema`, which has the same fields; itself where nothing
/// differs. @throws Error(schema_mismatch) of `stage`, as `penstock::map_classes`.
std::shared_ptr<const SourceModel> with_classes_of(std::shared_ptr<const SourceModel> source, const Schema& schema,
                                                   const std::string& stage);

}  // namespace penstock::detail
