// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <penstock/extend/jpeg_stream_decoder.hpp>

#include "kept_scratch.hpp"
#include "stored_image.hpp"

namespace penstock {

struct JpegStreamDecoder::Impl {
  explicit Impl(const JpegOptions& options) : image(options) {}
  jpeg::StoredImage image;
  jpeg::KeptScratch scratch;
};

JpegStreamDecoder::JpegStreamDecoder(const JpegOptions& options) {
  jpeg::check_limits(options, "JpegStreamDecoder");
  if (options.apply_orientation)
    throw Error(Errc::invalid_argument, "JpegStreamDecoder: apply_orientation is for whole files; turn it off");
  if (options.scale == JpegOptions::Scale::fit)
    throw Error(Errc::invalid_argument, "JpegStreamDecoder: scale = fit is for stages; choose a fixed size");
  impl_ = std::make_unique<Impl>(options);
}

JpegStreamDecoder::~JpegStreamDecoder() = default;
JpegStreamDecoder::JpegStreamDecoder(JpegStreamDecoder&&) noexcept = default;
JpegStreamDecoder& JpegStreamDecoder::operator=(JpegStreamDecoder&&) noexcept = default;

ImageShape JpegStreamDecoder::open(std::span<const std::byte> encoded, const JpegContainer& container) {
  return impl_->image.open(encoded, container);
}

void JpegStreamDecoder::decode(const Box& box, std::byte* into, std::ptrdiff_t stride, bool verify) {
  impl_->scratch.reset();
  decode(box, into, stride, verify, impl_->scratch);
}

void JpegStreamDecoder::decode(const Box& box, std::byte* into, std::ptrdiff_t stride, bool verify, Scratch& scratch) {
  jpeg::StoredImage& image = impl_->image;
  if (!image.is_open())
    throw Error(Errc::invalid_argument, "JpegStreamDecoder: nothing is open to decode; call open() first");
  const ImageShape shape = image.shape();
  jpeg::check_box(box, shape);
  if (into == nullptr) throw Error(Errc::invalid_argument, "JpegStreamDecoder: `into` is null: pixels need a place");
  if (stride < std::ptrdiff_t{box.width} * shape.channels)
    throw Error(Errc::invalid_argument,
                "JpegStreamDecoder: the stride of " + std::to_string(stride) + " bytes is less than a row of the box");
  image.decode(box, verify, {reinterpret_cast<std::uint8_t*>(into), stride}, scratch);
}

}  // namespace penstock
