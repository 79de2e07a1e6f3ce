// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/transforms/decode_image.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/decode_png.hpp>
#include <penstock/transforms/image/stage.hpp>

namespace penstock {

namespace {

JpegOptions jpeg_options(const DecodeImageOptions& options) {
  JpegOptions jpeg;
  jpeg.color = options.color == DecodeImageOptions::rgb    ? JpegOptions::rgb
               : options.color == DecodeImageOptions::gray ? JpegOptions::gray
                                                           : JpegOptions::as_stored;
  jpeg.max_pixels = options.max_pixels;
  jpeg.max_scans = options.max_scans;
  jpeg.accept_warnings = options.accept_warnings;
  jpeg.cmyk = options.cmyk;
  jpeg.apply_orientation = options.apply_orientation;
  jpeg.scale = options.scale;
  return jpeg;
}

PngOptions png_options(const DecodeImageOptions& options) {
  PngOptions png;
  png.color = options.color == DecodeImageOptions::rgb      ? PngOptions::rgb
              : options.color == DecodeImageOptions::gray   ? PngOptions::gray
              : options.color == DecodeImageOptions::labels ? PngOptions::labels
                                                            : PngOptions::as_stored;
  png.max_pixels = options.max_pixels;
  png.dtype = options.dtype;
  png.high_byte = options.high_byte;
  return png;
}

// Returns the first bytes as text, for instance "0x47 0x49 0x46 0x38".
std::string first_bytes(std::string_view data) {
  constexpr char digits[] = "0123456789abcdef";
  constexpr std::size_t most = 8;
  std::string text;
  for (const char c : data.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    text += text.empty() ? "0x" : " 0x";
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

// Returns the name of the format that the data seems to have, in brackets, for error messages. Returns an empty text if
// the format is not known.
std::string_view other_format(std::string_view data) {
  using namespace std::string_view_literals;
  if (data.starts_with("GIF8")) return " (GIF)";
  if (data.starts_with("BM")) return " (BMP)";
  if (data.starts_with("II*\0"sv) || data.starts_with("MM\0*"sv)) return " (TIFF)";
  if (data.starts_with("RIFF") && data.substr(std::min<std::size_t>(8, data.size())).starts_with("WEBP"))
    return " (WebP)";
  return "";
}

class Decoding final : public ImageDecoding {
 public:
  // `jpeg` is null if JPEGs are refused.
  Decoding(std::shared_ptr<const ImageDecoder> jpeg, std::shared_ptr<const ImageDecoder> png, DType dtype)
      : jpeg_(std::move(jpeg)), png_(std::move(png)), dtype_(dtype) {}

  ImageShape open(std::span<const std::byte> encoded) override {
    opened_ = nullptr;
    ImageDecoding& decoding = choose(encoded);
    ImageShape shape = decoding.open(encoded);
    opened_ = &decoding;
    widens_ = shape.element != dtype_;
    shape.element = dtype_;
    whole_ = shape;
    return shape;
  }

  Pixels decode(const Box& box, bool verify, std::byte* into, Scratch& scratch) override {
    if (opened_ == nullptr) throw Error(Errc::invalid_argument, "no image was opened");
    if (!widens_) return opened_->decode(box, verify, into, scratch);
    const Pixels narrow = opened_->decode(box, verify, nullptr, scratch);
    ImageShape shape = narrow.shape;
    shape.element = dtype_;
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

  const char* remark() const override { return opened_ != nullptr ? opened_->remark() : nullptr; }

 private:
  // Compares only the beginning of a signature. The decoder checks all of it, and its error for a damaged signature
  // says more than "unknown".
  ImageDecoding& choose(std::span<const std::byte> encoded) {
    const std::string_view data(reinterpret_cast<const char*>(encoded.data()), encoded.size());
    if (data.starts_with("\xff\xd8")) {
      if (jpeg_ == nullptr)
        throw Error(Errc::unsupported,
                    "the data is a JPEG, which keeps no label as it was: store masks as PNG, or decode this one as "
                    "`gray` if it is a picture");
      return started(jpeg_decoding_, *jpeg_);
    }
    if (data.starts_with("\x89PNG")) return started(png_decoding_, *png_);
    if (data.empty()) throw Error(Errc::corrupt, "there are no bytes to decode").with_offset(0);
    throw Error(Errc::unsupported,
                "the data begins with " + first_bytes(data) + std::string(other_format(data)) +
                    ", which is neither JPEG nor PNG; make PNGs of such files, which keep 8 and 16 bits")
        .with_offset(0);
  }
  static ImageDecoding& started(std::unique_ptr<ImageDecoding>& decoding, const ImageDecoder& decoder) {
    if (decoding == nullptr) decoding = decoder.start();
    return *decoding;
  }

  std::shared_ptr<const ImageDecoder> jpeg_, png_;
  std::unique_ptr<ImageDecoding> jpeg_decoding_, png_decoding_;
  ImageDecoding* opened_ = nullptr;
  DType dtype_;
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
    if (options.color != DecodeImageOptions::labels) jpeg_ = jpeg_decoder(jpeg_options(options));
    png_ = png_decoder(png_options(options));
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
    if (options_.dtype == DType::u16) text += ", u16";
    if (options_.high_byte) text += ", high_byte";
    if (options_.scale != JpegOptions::Scale::full) text += ", scale " + to_string(options_.scale);
    return text;
  }
  std::int64_t channels() const override { return png_->channels(); }
  DType dtype() const override { return options_.dtype; }
  bool labels() const override { return png_->labels(); }
  std::string labels_become() const override { return png_->labels_become(); }
  std::string damage_elsewhere() const override {
    return "damage elsewhere is found by a PNG's check sums, and in a JPEG left to the source's checksum, if it has "
           "one";
  }
  std::string scaling() const override {
    const std::string of_jpegs = jpeg_ != nullptr ? jpeg_->scaling() : "";
    return of_jpegs.empty() ? "" : "JPEGs are " + of_jpegs;
  }
  bool reduces() const override { return jpeg_ != nullptr && jpeg_->reduces(); }
  std::unique_ptr<ImageDecoding> start() const override {
    return std::make_unique<Decoding>(jpeg_, png_, options_.dtype);
  }

 private:
  DecodeImageOptions options_;
  std::shared_ptr<const ImageDecoder> jpeg_, png_;
};

}  // namespace

std::shared_ptr<const ImageDecoder> any_image_decoder(const DecodeImageOptions& options) {
  return std::make_shared<const Decoder>(options);
}

Stage decode_image(std::string field, const DecodeImageOptions& options) {
  return decode_stage(std::move(field), any_image_decoder(options), image_executor());
}

}  // namespace penstock
