#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "library/library.hpp"

namespace penstock::hdf5 {

/// What stands where nothing was written, an element of `type`, of `bytes` bytes. Empty: zeros, also where the file
/// says nothing: an element may be far larger than the file that says so. Under the lock.
std::vector<std::byte> fill_of(hid_t creation, hid_t type, std::size_t bytes);

/// Writes that element over all of `out`.
void repeat_over(std::span<std::byte> out, std::span<const std::byte> element) noexcept;

}  // namespace penstock::hdf5
