// SPDX-License-Identifier: Apache-2.0
// Looks for markers in Huffman-coded data. There is one version per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace penstock::jpeg {

// Returns the offset of the first FF from `at` on that is not followed by a 0. Returns the number of bytes if there is
// no such FF. A search for any FF would also stop at FFs in the data, about once per two hundred bytes.
std::size_t find_marker(std::span<const std::uint8_t> bytes, std::size_t at);

}  // namespace penstock::jpeg
