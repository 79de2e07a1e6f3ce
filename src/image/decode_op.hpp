#pragma once

#include <cstdint>

namespace penstock::detail {

/// Who decodes one image of a batch after `batch`, and how large it is. Plain; all zeros: there is no image.
struct DecodeOp {
  enum class By : std::uint32_t { nobody, runner, device };
  std::int32_t height = 0, width = 0, channels = 0;
  By by = By::nobody;
};

}  // namespace penstock::detail
