// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <penstock/error.hpp>

namespace penstock::detail::runtime {

/// The blocks of one run of chains.
struct ChainRunBlocks {
  std::vector<std::span<const std::byte>> lent;  ///< lent to the reader for the current sample
  std::optional<Error> failure;                  ///< why they can't be lent
  std::uint64_t stretch = ~std::uint64_t{0};     ///< the stretch of samples, sharing blocks, that its runner works on;
                                                 ///< ~0: none
};

}  // namespace penstock::detail::runtime
