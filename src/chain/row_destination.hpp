// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "data/row_layout.hpp"

namespace penstock::detail::runtime {

/// Where the values of the current row go.
struct RowDestination {
  std::vector<std::byte*> fields;  ///< destination of each field
  std::vector<RaggedRow> varying;  ///< fields that are not dense, if `fields` is not empty
  RowOutlet* outlet = nullptr;     ///< memory to which fields without a size of their own are appended
};

}  // namespace penstock::detail::runtime
