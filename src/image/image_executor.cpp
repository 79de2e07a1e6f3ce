// SPDX-License-Identifier: Apache-2.0
#include <penstock/error.hpp>
#include <penstock/extend/image_executor.hpp>

namespace penstock {

std::span<const std::byte> ImageExecutor::resample_tables(const ImageOp& op, Scratch&) const {
  if (op.source.element != DType::u8)
    throw Error(Errc::unsupported, "images of 16 bits are not resampled after batch; put the stage before it");
  throw Error(
      Errc::unsupported,
      "the executor of this image stage does not say how it resamples, so nothing can be resampled after batch; "
      "put the stage before it, or override ImageExecutor::resample_tables");
}

}  // namespace penstock
