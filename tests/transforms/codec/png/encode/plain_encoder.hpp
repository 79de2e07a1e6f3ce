// SPDX-License-Identifier: Apache-2.0
// An encoder of PNGs by the specification's formulas, libpng's encoder, and what an encoder made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/png/filters.hpp"
#include "support/test_images.hpp"

namespace penstock_test {

using Row = std::vector<std::uint8_t>;

// A filtered row. `above` is the row above.
Row filtered(penstock::png::Filter filter, std::size_t pixel, const Row& row, const Row& above);
// The first filter of those with the least sum of absolute values.
penstock::png::Filter least_filter(std::size_t pixel, const Row& row, const Row& above);

// All rows of an image, each after a byte that names its filter: the least one, or none.
std::vector<std::uint8_t> filtered_rows(const Image& image, bool plain);

// The bytes of a file that libpng makes with its own settings.
std::size_t bytes_by_libpng(const Image& image);

// The inflated rows of a file, and the lengths of the chunks that they were in. Checks the order of chunks.
std::vector<std::uint8_t> inflated_rows(std::span<const std::byte> file, std::vector<std::size_t>* chunks = nullptr);

}  // namespace penstock_test
