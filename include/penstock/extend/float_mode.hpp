// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <penstock/detail/export.hpp>

namespace penstock {

/// Sets the standard floating-point mode for the calling thread while this object lives: round to nearest, and keep
/// denormal numbers. Stages and readers always run in this mode. A source that computes with floats when it opens sets
/// the mode itself, because it opens on a thread of the program. The program may have set another mode.
/// Destroy the object on the thread that made it.
class PENSTOCK_API FloatMode {
 public:
  FloatMode() noexcept;
  FloatMode(const FloatMode&) = delete;
  FloatMode& operator=(const FloatMode&) = delete;
  ~FloatMode();

 private:
  const std::uint64_t before_;
};

}  // namespace penstock
