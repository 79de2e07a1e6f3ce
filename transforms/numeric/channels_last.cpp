// SPDX-License-Identifier: Apache-2.0
#include <penstock/transforms/numeric/channels_last.hpp>

#include <cstddef>
#include <cstring>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/stages/map.hpp>

namespace penstock {

namespace {

// Exchanges rows and columns of [channels, pixels]. A block of pixels stays in the cache while all its channels are
// written.
template <std::size_t Bytes>
void interleave(const std::byte* from, std::byte* to, std::size_t channels, std::size_t pixels) {
  constexpr std::size_t block = 1024;
  for (std::size_t begin = 0; begin < pixels; begin += block) {
    const std::size_t end = begin + block < pixels ? begin + block : pixels;
    for (std::size_t channel = 0; channel < channels; ++channel)
      for (std::size_t pixel = begin; pixel < end; ++pixel)
        std::memcpy(to + (pixel * channels + channel) * Bytes, from + (channel * pixels + pixel) * Bytes, Bytes);
  }
}

}  // namespace

TensorType ChannelsLast::result(const TensorType& in) const {
  if (in.shape.rank() != 3)
    throw Error(Errc::schema_mismatch, "the field is " + std::string(to_string(in.dtype)) + in.shape.to_string() +
                                           ", but images with the channels first are [C, H, W]");
  return {in.dtype, {in.shape[1], in.shape[2], in.shape[0]}};
}

void ChannelsLast::operator()(const TensorView& in, const TensorView& out) const {
  const auto channels = static_cast<std::size_t>(in.shape[0]),
             pixels = static_cast<std::size_t>(in.shape[1]) * static_cast<std::size_t>(in.shape[2]);
  switch (size_of(in.dtype)) {
    case 1:
      return interleave<1>(in.data, out.data, channels, pixels);
    case 2:
      return interleave<2>(in.data, out.data, channels, pixels);
    case 4:
      return interleave<4>(in.data, out.data, channels, pixels);
    default:
      return interleave<8>(in.data, out.data, channels, pixels);
  }
}

Stage channels_last(std::string field) {
  return map(std::move(field), ChannelsLast(), {.name = "channels_last", .keep_classes = true});
}

}  // namespace penstock
