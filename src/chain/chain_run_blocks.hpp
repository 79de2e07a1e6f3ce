// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <penstock/error.hpp>

namespace penstock::detail::runtime {

/// The blocks of one ChainRun.
struct ChainRunBlocks {
  std::vector<std::span<const std::byte>> lent;  ///< blocks that the reader may use for the current sample
  std::optional<Error> failure;                  ///< why blocks for the current sample are missing
  /// Number of the stretch of samples on which the runner works, see WorkStretches; ~0: none.
  std::uint64_t stretch = ~std::uint64_t{0};
};

}  // namespace penstock::detail::runtime
