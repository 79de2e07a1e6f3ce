// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace penstock::hdf5 {

/// Puts elements back together whose bits are stored apart: the first bits of all elements, then all second bits, ….
/// `element`: bytes per element. REQUIRES: the number of elements is a multiple of 8; `in` and `out` have the same
/// size.
void unshuffle_bits(std::span<const std::byte> in, std::span<std::byte> out, std::size_t element) noexcept;

}  // namespace penstock::hdf5
