// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "library/library.hpp"

namespace penstock::hdf5 {

/// Returns the value of elements that were never written, as an element of `type` with `bytes` bytes. Empty: zeros,
/// also if the file specifies nothing, because an element may be far larger than its file. Call under the lock.
std::vector<std::byte> fill_of(hid_t creation, hid_t type, std::size_t bytes);

/// Repeats that element over all of `out`.
void repeat_over(std::span<std::byte> out, std::span<const std::byte> element) noexcept;

}  // namespace penstock::hdf5
