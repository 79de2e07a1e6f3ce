// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "library/library.hpp"

namespace penstock::hdf5 {

/// Returns the value of elements that were never written, as an element of `type` with `bytes` bytes. If the
/// file specifies no value, returns an empty vector instead of zeros, because an element may be far larger than its
/// file. Call under the lock.
std::vector<std::byte> fill_of(hid_t creation, hid_t type, std::size_t bytes);

/// Fills `out` with copies of `element`; with zeros if `element` is empty.
void repeat_over(std::span<std::byte> out, std::span<const std::byte> element) noexcept;

}  // namespace penstock::hdf5
