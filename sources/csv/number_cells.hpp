// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <penstock/dtype.hpp>

#include "cell_scanner.hpp"

namespace penstock::csv {

/// Goes through at most `count` cells and writes the number of each as `dtype`, one after another. Returns how many it
/// wrote. Stops before a cell that needs a closer look: a cell with quotes, a cell that is not a number, "inf", "nan",
/// a number out of range, or a whole number that a float would round. Does not stop before a number that stands for a
/// missing one, like -999.
std::size_t take_numbers(CellScanner& cells, std::size_t count, DType dtype, std::byte* to);

}  // namespace penstock::csv
