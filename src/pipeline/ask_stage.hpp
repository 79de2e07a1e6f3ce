// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <penstock/error.hpp>

namespace penstock::detail {

/// Calls an image stage for one sample. The caller's arguments are right, and the stage may succeed on the next image.
/// So an Errc::invalid_argument, which means a mistake in the program, becomes Errc::unsupported.
void ask_stage(const auto& stage) {
  try {
    stage();
  } catch (const Error& error) {
    if (error.code() != Errc::invalid_argument) throw;
    throw Error(Errc::unsupported, error.cause());
  }
}

}  // namespace penstock::detail
