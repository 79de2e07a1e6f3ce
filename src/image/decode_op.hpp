// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace penstock::detail {

/// Specifies what decodes one image of a batch after `batch`, and its size. Plain; all zeros mean no image.
struct DecodeOp {
  enum class By : std::uint32_t { nobody, runner, device };
  std::int32_t height = 0, width = 0, channels = 0;
  By by = By::nobody;
};

}  // namespace penstock::detail
