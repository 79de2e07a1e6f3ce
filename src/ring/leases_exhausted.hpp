// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <penstock/error.hpp>

namespace penstock::detail::runtime {

/// Thrown if the caller holds every batch of the ring. The caller can release a batch and try again.
struct LeasesExhausted : Error {
  using Error::Error;
};

}  // namespace penstock::detail::runtime
