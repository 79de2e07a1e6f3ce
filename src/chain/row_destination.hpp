// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "data/row_layout.hpp"

namespace penstock::detail::runtime {

/// Where the values of the current sample are written.
struct RowDestination {
  std::vector<std::byte*> fields;  ///< destination of each field
  std::vector<RaggedRow> varying;  ///< for each field that is not dense: address and shape of its value
  RowOutlet* outlet = nullptr;     ///< memory to which values are appended if their rows differ in size
};

}  // namespace penstock::detail::runtime
