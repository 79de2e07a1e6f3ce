#pragma once

#include <optional>
#include <string>

#include <penstock/schema.hpp>

#include "stages/stage_model.hpp"

namespace penstock::detail {

/// What a map on one field makes of a field.
struct FieldMapResult {
  std::string options;         ///< its result options in words
  std::optional<Field> field;  ///< none: it works in place
};

/// Of a stage named `label` over the field `in`, one of `all`. @throws Error(schema_mismatch | invalid_argument).
FieldMapResult result_of(const FieldMapItem& item, const Field& in, const Schema& all, const std::string& label);

}  // namespace penstock::detail
