#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <penstock/error.hpp>

namespace penstock::detail::runtime {

/// What one run of chains has of blocks.
struct ChainRunBlocks {
  std::vector<std::span<const std::byte>> lent;  ///< to the reader, for the sample in work
  std::optional<Error> failure;                  ///< why they can't be
  std::uint64_t stretch = ~std::uint64_t{0};     ///< stretch of samples of blocks that its runner works on; ~0: none
};

}  // namespace penstock::detail::runtime
