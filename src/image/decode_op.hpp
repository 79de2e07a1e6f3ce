// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace penstock::detail {

/// For a decode after `batch`: who decodes one image of the batch, and the image's size. Plain data; all zeros mean
/// that there is no image.
struct DecodeOp {
  enum class By : std::uint32_t { nobody, runner, device };
  std::int32_t height = 0, width = 0, channels = 0;
  By by = By::nobody;
};

}  // namespace penstock::detail
