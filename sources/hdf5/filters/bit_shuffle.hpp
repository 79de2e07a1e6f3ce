#pragma once

#include <cstddef>
#include <span>

namespace penstock::hdf5 {

/// Puts bits that were stored apart, all first ones of elements, then all second ones, …, beside each other. A multiple
/// of 8 elements; both are as large.
void unshuffle_bits(std::span<const std::byte> in, std::span<std::byte> out, std::size_t element) noexcept;

}  // namespace penstock::hdf5
