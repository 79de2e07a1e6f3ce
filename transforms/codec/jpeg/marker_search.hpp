// Looks for markers in Huffman-coded data, one version per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace penstock::jpeg {

// The first FF from `at` on that no 0 follows; the number of bytes where there is none. A search that stops at every FF
// would stop at those that are data, too, one in two hundred bytes.
std::size_t find_marker(std::span<const std::uint8_t> bytes, std::size_t at);

}  // namespace penstock::jpeg
