// SPDX-License-Identifier: Apache-2.0
#include "image/encoders.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <penstock/error.hpp>

#include "data/file_pieces.hpp"
#include "data/scratch.hpp"

namespace penstock {

namespace detail {

namespace {

constexpr std::int32_t most_channels = 4;

// Returns the numbers of channels that the encoder takes, such as "1, 2 or 4"; empty if it takes no images of
// `element`.
std::string channels_taken(const ImageEncoder& encoder, DType element) {
  std::vector<std::string> numbers;
  for (std::int32_t channels = 1; channels <= most_channels; ++channels)
    if (encoder.takes(element, channels)) numbers.push_back(std::to_string(channels));
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    text += (i == 0 ? "" : i + 1 < numbers.size() ? ", " : " or ") + numbers[i];
  return text;
}

}  // namespace

std::string images_taken(const ImageEncoder& encoder) {
  const std::string narrow = channels_taken(encoder, DType::u8), wide = channels_taken(encoder, DType::u16);
  const auto images = [](std::string_view dtypes, const std::string& channels) {
    return std::string(dtypes) + " images of " + channels + (channels == "1" ? " channel" : " channels");
  };
  if (narrow == wide) return images("u8 and u16", narrow);
  if (wide.empty()) return images("u8", narrow);
  if (narrow.empty()) return images("u16", wide);
  return images("u8", narrow) + " and " + images("u16", wide);
}

bool takes_some(const ImageEncoder& encoder, DType element, std::int64_t channels) {
  for (std::int32_t some = 1; some <= most_channels; ++some)
    if ((channels == dynamic || channels == some) && encoder.takes(element, some)) return true;
  return false;
}

void require_taken(const ImageEncoder& encoder, const ImageShape& shape) {
  const auto text = [&] {
    return std::string(to_string(shape.element)) + Shape{shape.height, shape.width, shape.channels}.to_string();
  };
  if (!takes_some(encoder, shape.element, shape.channels))
    throw Error(Errc::unsupported, "the image is " + text() + ", but " + encoder.name() + " takes " +
                                       images_taken(encoder) + "; map it to another number of channels before");
  if (shape.height < 1 || shape.width < 1 || std::max(shape.height, shape.width) > encoder.max_side())
    throw Error(Errc::unsupported, "the image is " + text() + ", but " + encoder.name() + " takes sides of 1 to " +
                                       std::to_string(encoder.max_side()) + " pixels; crop or resize it before");
}

}  // namespace detail

std::vector<std::byte> encoded_bytes(const ImageEncoder& encoder, const Pixels& pixels) {
  try {
    if (pixels.data == nullptr) throw Error(Errc::invalid_argument, "there are no pixels to encode");
    detail::require_taken(encoder, pixels.shape);
  } catch (const Error& error) {
    throw Error(Errc::invalid_argument, encoder.name() + ": " + error.cause());
  }
  detail::ScratchArena scratch;
  detail::FilePieces file(scratch, ~std::uint64_t{0});
  encoder.encode(pixels, file, scratch);
  std::vector<std::byte> bytes(file.size());
  file.copy_to(bytes.data());
  return bytes;
}

}  // namespace penstock
