// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/transforms/decode_image.hpp>
#include <penstock/transforms/image/stage.hpp>

#include "formats.hpp"

namespace penstock {

namespace {

using codecs::Decoders;
using codecs::Format;

class Decoding final : public ImageDecoding {
 public:
  Decoding(const DecodeImageOptions& options, Decoders decoders) : options_(options), decoders_(std::move(decoders)) {}

  ImageShape open(std::span<const std::byte> encoded) override {
    opened_ = nullptr;
    ImageDecoding& decoding = choose(encoded);
    ImageShape shape = decoding.open(encoded);
    opened_ = &decoding;
    widens_ = shape.element != options_.dtype;
    shape.element = options_.dtype;
    whole_ = shape;
    return shape;
  }

  Pixels decode(const Box& box, bool verify, std::byte* into, Scratch& scratch) override {
    if (opened_ == nullptr) throw Error(Errc::invalid_argument, "no image was opened");
    if (!widens_) return opened_->decode(box, verify, into, scratch);
    const Pixels narrow = opened_->decode(box, verify, nullptr, scratch);
    ImageShape shape = narrow.shape;
    shape.element = options_.dtype;
    const auto values = static_cast<std::size_t>(shape.width) * static_cast<std::size_t>(shape.channels);
    const std::size_t row = values * sizeof(std::uint16_t);
    std::byte* const out =
        into != nullptr && shape == whole_ ? into : scratch.allocate(row * static_cast<std::size_t>(shape.height));
    for (std::int32_t y = 0; y < shape.height; ++y) {
      const std::uint8_t* const from = narrow.data + y * narrow.stride;
      std::byte* const to = out + static_cast<std::size_t>(y) * row;
      for (std::size_t i = 0; i < values; ++i) {
        const auto value = static_cast<std::uint16_t>(from[i] * 257);
        std::memcpy(to + i * sizeof value, &value, sizeof value);
      }
    }
    return {reinterpret_cast<const std::uint8_t*>(out), static_cast<std::ptrdiff_t>(row), shape};
  }

  std::span<const std::byte> stored_jpeg(Scratch& scratch) override {
    return opened_ != nullptr && !widens_ ? opened_->stored_jpeg(scratch) : std::span<const std::byte>();
  }

  Reduction reduction(const Box& box, Size resized) const override {
    return opened_ != nullptr && !widens_ ? opened_->reduction(box, resized) : Reduction();
  }
  Pixels decode_reduced(const Reduction& reduction, const Box& box, bool verify, Scratch& scratch) override {
    if (opened_ == nullptr) throw Error(Errc::invalid_argument, "no image was opened");
    return opened_->decode_reduced(reduction, box, verify, scratch);
  }

  int orientation() const override { return opened_ != nullptr ? opened_->orientation() : 1; }
  const char* remark() const override { return opened_ != nullptr ? opened_->remark() : nullptr; }

 private:
  ImageDecoding& choose(std::span<const std::byte> encoded) {
    const Format format = codecs::format_of({reinterpret_cast<const char*>(encoded.data()), encoded.size()});
    const auto i = static_cast<std::size_t>(format);
    if (decoders_[i] == nullptr) throw Error(Errc::unsupported, codecs::why_not(format, options_)).with_offset(0);
    if (decodings_[i] == nullptr) decodings_[i] = decoders_[i]->start();
    return *decodings_[i];
  }

  DecodeImageOptions options_;
  Decoders decoders_;
  std::array<std::unique_ptr<ImageDecoding>, codecs::formats> decodings_;
  ImageDecoding* opened_ = nullptr;
  bool widens_ = false;  // the opened image has values of 8 bits, which become 16 bits
  ImageShape whole_;
};

class Decoder final : public ImageDecoder {
 public:
  explicit Decoder(const DecodeImageOptions& options) : options_(options) {
    if (options.max_pixels < 1 || options.max_scans < 1)
      throw Error(Errc::invalid_argument, "decode_image: max_pixels and max_scans must be at least 1");
    if (options.dtype != DType::u8 && options.dtype != DType::u16)
      throw Error(Errc::invalid_argument,
                  "decode_image to " + std::string(to_string(options.dtype)) + ": u8 and u16 are possible");
    decoders_ = codecs::decoders_for(options);
  }
  std::string name() const override { return "decode_image"; }
  std::string describe() const override {
    std::string text = options_.color == DecodeImageOptions::rgb      ? "rgb"
                       : options_.color == DecodeImageOptions::gray   ? "gray"
                       : options_.color == DecodeImageOptions::labels ? "labels"
                                                                      : "as_stored";
    text += ", max_pixels " + std::to_string(options_.max_pixels);
    text += ", max_scans " + std::to_string(options_.max_scans);
    if (options_.accept_warnings) text += ", accept_warnings";
    if (options_.cmyk == JpegOptions::Cmyk::by_marker) text += ", cmyk by_marker";
    if (options_.cmyk == JpegOptions::Cmyk::refused) text += ", cmyk refused";
    if (options_.apply_orientation) text += ", apply_orientation";
    if (options_.page) text += ", page " + std::to_string(*options_.page);
    if (options_.dtype == DType::u16) text += ", u16";
    if (options_.high_byte) text += ", high_byte";
    if (options_.scale != JpegOptions::Scale::full) text += ", scale " + to_string(options_.scale);
    return text;
  }
  std::int64_t channels() const override { return of(Format::png)->channels(); }
  DType dtype() const override { return options_.dtype; }
  bool labels() const override { return of(Format::png)->labels(); }
  std::string labels_become() const override { return of(Format::png)->labels_become(); }
  std::string damage_elsewhere() const override {
    return "damage elsewhere is found by a PNG's check sums, and in other images left to the source's checksum, if it "
           "has one";
  }
  std::string scaling() const override {
    const std::string of_jpegs = has_jpegs() ? of(Format::jpeg)->scaling() : "";
    return of_jpegs.empty() ? "" : "JPEGs are " + of_jpegs;
  }
  bool reduces() const override { return has_jpegs() && of(Format::jpeg)->reduces(); }
  std::unique_ptr<ImageDecoding> start() const override { return std::make_unique<Decoding>(options_, decoders_); }

 private:
  const std::shared_ptr<const ImageDecoder>& of(Format format) const {
    return decoders_[static_cast<std::size_t>(format)];
  }
  bool has_jpegs() const { return of(Format::jpeg) != nullptr; }

  DecodeImageOptions options_;
  Decoders decoders_;
};

}  // namespace

std::shared_ptr<const ImageDecoder> any_image_decoder(const DecodeImageOptions& options) {
  return std::make_shared<const Decoder>(options);
}

Stage decode_image(ImageFields fields, const DecodeImageOptions& options) {
  return decode_stage(std::move(fields), any_image_decoder(options), image_executor());
}

}  // namespace penstock
