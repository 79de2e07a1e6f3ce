// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include <penstock/schema.hpp>

namespace penstock::detail {

/// Like `schema.find(name)`, but looks at the slot `likely` first. This is fast if a caller looks up all fields of one
/// schema in another schema whose fields are mostly in the same order.
inline std::optional<std::size_t> find_field(const Schema& schema, std::string_view name, std::size_t likely) noexcept {
  if (likely < schema.size() && schema[likely].name == name) return likely;
  return schema.find(name);
}

}  // namespace penstock::detail
