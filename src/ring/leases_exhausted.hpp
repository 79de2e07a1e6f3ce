#pragma once

#include <penstock/error.hpp>

namespace penstock::detail::runtime {

/// The caller holds every batch of the ring: it can let go of one and go on.
struct LeasesExhausted : Error {
  using Error::Error;
};

}  // namespace penstock::detail::runtime
