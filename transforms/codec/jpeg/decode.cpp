// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <penstock/error.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/image/stage.hpp>

#include "cuda/nvjpeg.hpp"
#include "orientation.hpp"
#include "reader.hpp"
#include "stored_image.hpp"

namespace penstock {

namespace {

class Decoding final : public ImageDecoding {
 public:
  explicit Decoding(const JpegOptions& options) : options_(options), stored_(options) {}

  ImageShape open(std::span<const std::byte> encoded) override {
    stored_.open(encoded);
    orientation_ = options_.apply_orientation ? jpeg::orientation(stored_.segments()) : 1;
    upright_ = upright(stored_.shape());
    return upright_.shape();
  }

  Pixels decode(const Box& box, bool verify, std::byte* into, Scratch& scratch) override {
    const ImageShape whole = upright_.shape();
    jpeg::check_box(box, whole);
    // Bytes that are left over between the last pixel and the end are a sign of damage. If all pixels are decoded,
    // checking these bytes costs nothing. So a decode of the whole image always checks them, and finds the same damage
    // with and without `verify`.
    const bool all = box == Box{0, 0, whole.height, whole.width};
    verify = verify || all;
    if (upright_.plain()) {
      jpeg::PixelDestination place;
      if (into != nullptr && all)
        place = {reinterpret_cast<std::uint8_t*>(into), std::ptrdiff_t{whole.width} * whole.channels};
      return stored_.decode(box, verify, place, scratch);
    }
    ImageOp op = upright_;
    op.crop(box);
    return turned(stored_.decode(op.box, verify, {}, scratch), op, all ? into : nullptr, scratch);
  }

  // The smallest size at which the box has at least `resized` pixels in each direction.
  Reduction reduction(const Box& box, Size resized) const override {
    for (const std::int32_t by : {8, 4, 2}) {
      if (box.height / by < resized.height || box.width / by < resized.width) continue;
      // Squares of stored pixels begin at the stored image's corner, which may be elsewhere in the upright image.
      const ImageShape whole = upright_.shape();
      const auto beyond = [by](std::int32_t side) { return (by - side % by) % by; };
      return {by, upright_.flip_y ? beyond(whole.height) : 0, upright_.flip_x ? beyond(whole.width) : 0};
    }
    return {};
  }

  Pixels decode_reduced(const Reduction& reduction, const Box& box, bool verify, Scratch& scratch) override {
    const auto reduced = [&](std::int32_t side) { return (side + reduction.by - 1) / reduction.by; };
    ImageShape stored = stored_.shape();
    stored.height = reduced(stored.height), stored.width = reduced(stored.width);
    ImageOp op = upright(stored);
    const ImageShape whole = op.shape();
    jpeg::check_box(box, whole);
    verify = verify || box == Box{0, 0, whole.height, whole.width};
    op.crop(box);
    const Pixels pixels = stored_.decode_reduced(reduction.by, op.box, verify, scratch);
    return op.plain() ? pixels : turned(pixels, op, nullptr, scratch);
  }

  int orientation() const override { return orientation_; }

  bool for_batches() const override {
    return options_.color == JpegOptions::rgb && upright_.plain() && stored_.suits_engines();
  }

  std::span<const std::byte> stored_jpeg(Scratch&) override {
    return upright_.plain() ? stored_.file() : std::span<const std::byte>();
  }

 private:
  ImageOp upright(const ImageShape& stored) const {
    ImageOp op(stored);
    op.orient(orientation_);
    return op;
  }

  // Sets pixels of the stored image upright, at `into` or in `scratch`.
  static Pixels turned(const Pixels& pixels, const ImageOp& op, std::byte* into, Scratch& scratch) {
    const ImageShape shape = op.shape();
    const std::ptrdiff_t stride = std::ptrdiff_t{shape.width} * shape.channels;
    if (into == nullptr) into = scratch.allocate(static_cast<std::size_t>(stride * shape.height));
    image_executor().run(pixels, op, into, scratch);
    return {reinterpret_cast<const std::uint8_t*>(into), stride, shape};
  }

  JpegOptions options_;
  jpeg::StoredImage stored_;
  int orientation_ = 1;
  ImageOp upright_;  // turns and flips that set the stored image upright; plain if there are none
};

class Decoder final : public ImageDecoder {
 public:
  explicit Decoder(const JpegOptions& options) : options_(options) {
    jpeg::check_limits(options, "decode_jpeg");
    if (!(options.host_share >= 0 && options.host_share <= 1))
      throw Error(Errc::invalid_argument, "decode_jpeg: host_share is 0 to 1");
  }
  std::string name() const override { return "decode_jpeg"; }
  std::string describe() const override {
    std::string text = options_.color == JpegOptions::rgb    ? "rgb"
                       : options_.color == JpegOptions::gray ? "gray"
                                                             : "as_stored";
    text += ", max_pixels " + std::to_string(options_.max_pixels);
    text += ", max_scans " + std::to_string(options_.max_scans);
    if (options_.accept_warnings) text += ", accept_warnings";
    if (options_.cmyk == JpegOptions::Cmyk::by_marker) text += ", cmyk by_marker";
    if (options_.cmyk == JpegOptions::Cmyk::refused) text += ", cmyk refused";
    if (options_.apply_orientation) text += ", apply_orientation";
    if (options_.scale != JpegOptions::Scale::full) text += ", scale " + to_string(options_.scale);
    if (options_.host_share != 0) text += ", host_share " + std::to_string(options_.host_share);
    return text;
  }
  std::int64_t channels() const override {
    return options_.color == JpegOptions::rgb ? 3 : options_.color == JpegOptions::gray ? 1 : dynamic;
  }
  std::string scaling() const override {
    if (options_.scale == JpegOptions::Scale::full) return "";
    if (reduces()) return "decoded at 1/2, 1/4 or 1/8 of the size where a resize needs no more pixels";
    return "decoded at 1/" + std::to_string(jpeg::denominator_of(options_.scale)) + " of the size";
  }
  bool reduces() const override { return options_.scale == JpegOptions::Scale::fit; }
  std::unique_ptr<ImageDecoding> start() const override { return std::make_unique<Decoding>(options_); }
  std::unique_ptr<BatchDecoding> start_batches(Device device) const override {
    // Looks for engines only if they would get images.
    if (device.kind != Device::Kind::gpu || options_.host_share == 1 || options_.color != JpegOptions::rgb ||
        options_.scale != JpegOptions::Scale::full)
      return nullptr;
    std::string why;
    auto batches = jpeg::nvjpeg_batches(device, why);
    if (batches == nullptr && options_.without_engine == JpegOptions::WithoutEngine::error)
      throw Error(Errc::unsupported, "JPEGs can't be decoded on " + to_string(device) + ": " + why +
                                         "; put decode_jpeg before batch, or say .without_engine = host, and the "
                                         "loader's threads decode");
    return batches;
  }
  double host_share() const override { return options_.host_share; }

 private:
  JpegOptions options_;
};

}  // namespace

std::string to_string(JpegOptions::Scale scale) {
  switch (scale) {
    case JpegOptions::Scale::full:
      return "full";
    case JpegOptions::Scale::half:
      return "half";
    case JpegOptions::Scale::quarter:
      return "quarter";
    case JpegOptions::Scale::eighth:
      return "eighth";
    case JpegOptions::Scale::fit:
      return "fit";
  }
  return "";
}

int jpeg_orientation(std::span<const std::byte> encoded) {
  JpegOptions options;
  options.apply_orientation = true;
  const jpeg::Reader reader(encoded, options);
  return jpeg::orientation(reader.segments());
}

std::shared_ptr<const ImageDecoder> jpeg_decoder(const JpegOptions& options) {
  return std::make_shared<const Decoder>(options);
}

Stage decode_jpeg(ImageFields fields, const JpegOptions& options) {
  return decode_stage(std::move(fields), jpeg_decoder(options), image_executor());
}

}  // namespace penstock
