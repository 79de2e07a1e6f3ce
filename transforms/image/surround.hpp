// SPDX-License-Identifier: Apache-2.0
// What random_crop and letterbox share: the colours with which they surround an image.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/image_op.hpp>

namespace penstock::image {

// @throws Error(invalid_argument) if a colour is not one that an image can have.
inline void check_surround(const std::string& stage, const std::vector<int>& fill, int label) {
  if (fill.empty() || fill.size() > 4)
    throw Error(Errc::invalid_argument, stage + ": fill must be 1 to 4 values, one for all channels or one each");
  std::vector<int> values = fill;
  values.push_back(label);
  for (const int value : values)
    if (value < 0 || value > 65535)
      throw Error(Errc::invalid_argument, stage + ": a fill of " + std::to_string(value) + " is no value of an image");
}

// Surrounds the image by `margin`, in these colours. @throws Error(unsupported) if there are not as many as channels.
inline void surround(ImageOp& op, Padding margin, const char* stage, const std::vector<int>& fill, int label,
                     std::int32_t channels) {
  if (fill.size() != 1 && fill.size() != static_cast<std::size_t>(channels) && !op.labels())
    throw Error(Errc::unsupported, std::string(stage) + " has " + std::to_string(fill.size()) +
                                       " values to fill an image of " + std::to_string(channels) +
                                       " channels with: one, or one each");
  for (std::size_t c = 0; c < margin.fill.size(); ++c)
    margin.fill[c] = static_cast<std::uint16_t>(fill[std::min(c, fill.size() - 1)]);
  margin.label = static_cast<std::uint16_t>(label);
  op.pad(margin);
}

}  // namespace penstock::image
