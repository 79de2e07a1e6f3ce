#pragma once

#include <cstddef>
#include <vector>

#include "data/row_layout.hpp"

namespace penstock::detail::runtime {

/// Where the row in work lies.
struct RowDestination {
  std::vector<std::byte*> fields;  ///< destination of each field
  std::vector<RaggedRow> varying;  ///< fields that are not dense, where `fields` are given
  RowOutlet* outlet = nullptr;     ///< where fields without a size of their own are appended to
};

}  // namespace penstock::detail::runtime
