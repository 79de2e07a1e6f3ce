// SPDX-License-Identifier: Apache-2.0
#include "library/fill_value.hpp"

#include <algorithm>
#include <cstring>

namespace penstock::hdf5 {

std::vector<std::byte> fill_of(hid_t creation, hid_t type, std::size_t bytes) {
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  if (H5Pfill_value_defined(creation, &defined) < 0 || defined != H5D_FILL_VALUE_USER_DEFINED) return {};
  std::vector<std::byte> fill(bytes);
  if (H5Pget_fill_value(creation, type, fill.data()) < 0) return {};
  return fill;
}

void repeat_over(std::span<std::byte> out, std::span<const std::byte> element) noexcept {
  if (element.empty() || out.empty()) {
    std::ranges::fill(out, std::byte{0});
    return;
  }
  // Copies what is already written, in pieces that fit into a cache.
  constexpr std::size_t most_at_once = std::size_t{16} << 10;
  std::size_t there = std::min(element.size(), out.size());
  std::memcpy(out.data(), element.data(), there);
  for (std::size_t piece = there; there < out.size(); there += piece) {
    piece = std::min(piece < most_at_once ? there : piece, out.size() - there);
    std::memcpy(out.data() + there, out.data(), piece);
  }
}

}  // namespace penstock::hdf5
