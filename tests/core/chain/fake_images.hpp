// SPDX-License-Identifier: Apache-2.0
// An image format, a decoder and an executor of the tests' own, simple enough to be seen right: what the engine makes
// of image stages is tested without any codec. Resampling is not done.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <penstock/detail/image_stage_model.hpp>
#include <penstock/extend/image_decoder.hpp>
#include <penstock/extend/image_encoder.hpp>
#include <penstock/extend/image_stage.hpp>
#include <penstock/penstock.hpp>

namespace fake {

namespace ps = penstock;

/// "RAW", height, width, channels, pixels, sum of the pixels.
inline std::vector<std::uint8_t> encode(int height, int width, int channels, auto&& value) {
  std::vector<std::uint8_t> out{'R',
                                'A',
                                'W',
                                static_cast<std::uint8_t>(height),
                                static_cast<std::uint8_t>(width),
                                static_cast<std::uint8_t>(channels)};
  std::uint8_t sum = 0;
  for (int i = 0; i < height * width * channels; ++i) {
    out.push_back(static_cast<std::uint8_t>(value(i)));
    sum = static_cast<std::uint8_t>(sum + out.back());
  }
  out.push_back(sum);
  return out;
}

/// Reads the header in open(), as much as the box needs in decode(), and the sum only where `verify` asks.
class Decoding final : public ps::ImageDecoding {
 public:
  ps::ImageShape open(std::span<const std::byte> encoded) override {
    bytes_ = encoded;
    if (encoded.size() < 6 || std::memcmp(encoded.data(), "RAW", 3) != 0)
      throw ps::Error(ps::Errc::corrupt, "no RAW image").with_offset(0);
    shape_ = {at(3), at(4), at(5)};
    return shape_;
  }
  ps::Pixels decode(const ps::Box& box, bool verify, std::byte* into, ps::Scratch& scratch) override {
    const std::size_t row = static_cast<std::size_t>(shape_.width) * static_cast<std::size_t>(shape_.channels);
    const std::size_t all = row * static_cast<std::size_t>(shape_.height);
    const std::size_t needed = verify ? all + 1 : row * static_cast<std::size_t>(box.top + box.height);
    if (bytes_.size() < 6 + needed)
      throw ps::Error(ps::Errc::corrupt, "the image ends early").with_offset(bytes_.size());
    if (verify) {
      std::uint8_t sum = 0;
      for (std::size_t i = 0; i < all; ++i) sum = static_cast<std::uint8_t>(sum + std::to_integer<int>(bytes_[6 + i]));
      if (sum != at(6 + all)) throw ps::Error(ps::Errc::corrupt, "the sum differs").with_offset(6 + all);
    }
    const std::size_t out_row = static_cast<std::size_t>(box.width) * static_cast<std::size_t>(shape_.channels);
    std::byte* out = into != nullptr ? into : scratch.allocate(out_row * static_cast<std::size_t>(box.height));
    for (int y = 0; y < box.height; ++y)
      std::memcpy(out + static_cast<std::size_t>(y) * out_row,
                  bytes_.data() + 6 + static_cast<std::size_t>(box.top + y) * row +
                      static_cast<std::size_t>(box.left * shape_.channels),
                  out_row);
    return {reinterpret_cast<const std::uint8_t*>(out),
            static_cast<std::ptrdiff_t>(out_row),
            {box.height, box.width, shape_.channels}};
  }
  std::span<const std::byte> stored_jpeg(ps::Scratch&) override { return bytes_; }

 private:
  int at(std::size_t i) const { return std::to_integer<int>(bytes_[i]); }
  std::span<const std::byte> bytes_;
  ps::ImageShape shape_;
};

class Decoder final : public ps::ImageDecoder {
 public:
  std::string name() const override { return "decode_raw"; }
  std::string describe() const override { return ""; }
  std::int64_t channels() const override { return 3; }
  std::unique_ptr<ps::ImageDecoding> start() const override { return std::make_unique<Decoding>(); }
};

/// Makes images of it, piece by piece. `keeps`: takes what is stored.
class Encoder final : public ps::ImageEncoder {
 public:
  explicit Encoder(bool keeps = false) : keeps_(keeps) {}
  std::string name() const override { return "encode_raw"; }
  std::string describe() const override { return keeps_ ? "keep" : ""; }
  bool takes(ps::DType element, std::int32_t channels) const override {
    return element == ps::DType::u8 && (channels == 1 || channels == 3);
  }
  std::int32_t max_side() const override { return 200; }
  bool lossless() const override { return true; }
  std::string keeps() const override { return keeps_ ? "stored files are kept" : ""; }
  void encode(const ps::Pixels& pixels, ps::EncodedFile& out, ps::Scratch& scratch) const override {
    const ps::ImageShape& s = pixels.shape;
    const std::uint8_t head[] = {'R',
                                 'A',
                                 'W',
                                 static_cast<std::uint8_t>(s.height),
                                 static_cast<std::uint8_t>(s.width),
                                 static_cast<std::uint8_t>(s.channels)};
    out.append(std::as_bytes(std::span(head)));
    auto* const sum = reinterpret_cast<std::uint8_t*>(scratch.allocate(1));
    *sum = 0;
    for (int y = 0; y < s.height; ++y) {
      const std::span row(pixels.data + y * pixels.stride, static_cast<std::size_t>(s.width * s.channels));
      for (const std::uint8_t value : row) *sum = static_cast<std::uint8_t>(*sum + value);
      out.append(std::as_bytes(row));
    }
    out.append({reinterpret_cast<const std::byte*>(sum), 1});
  }
  std::span<const std::byte> take(ps::EncodedImage& image, ps::Scratch& scratch) const override {
    return keeps_ ? image.stored_jpeg(scratch) : std::span<const std::byte>();
  }

 private:
  bool keeps_;
};

class Executor final : public ps::ImageExecutor {
 public:
  void run(const ps::Pixels& pixels, const ps::ImageOp& op, std::byte* out, ps::Scratch&) const override {
    if (op.resamples()) throw ps::Error(ps::Errc::unsupported, "this executor does not resample");
    const ps::ImageShape s = op.shape();
    for (int y = 0; y < s.height; ++y) {
      for (int x = 0; x < s.width; ++x) {
        int from_y = op.flip_y ? s.height - 1 - y : y, from_x = op.flip_x ? s.width - 1 - x : x;
        if (op.transpose) std::swap(from_y, from_x);
        for (int c = 0; c < s.channels; ++c) {
          const std::uint8_t v = pixels.data[from_y * pixels.stride + from_x * s.channels + c];
          const int to =
              op.layout == ps::Layout::hwc ? (y * s.width + x) * s.channels + c : (c * s.height + y) * s.width + x;
          if (op.converted && op.dtype == ps::DType::f32)
            reinterpret_cast<float*>(out)[to] =
                static_cast<float>(v) * op.scale[static_cast<std::size_t>(c)] + op.bias[static_cast<std::size_t>(c)];
          else
            reinterpret_cast<std::uint8_t*>(out)[to] = v;
        }
      }
    }
  }
};

inline const Executor& executor() {
  static const Executor e;
  return e;
}
inline ps::Stage decode(std::string field) {
  return ps::decode_stage(std::move(field), std::make_shared<const Decoder>(), executor());
}
inline ps::Stage encode_stage(std::string field, bool keeps = false, const std::string& out = {}) {
  return ps::encode_stage(std::move(field), std::make_shared<const Encoder>(keeps), executor(), out);
}
template <ps::ImageStage S>
// NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved from; in a template the check does not see that
ps::Stage image_stage(ps::ImageFields fields, S stage) {
  return ps::detail::make_image_stage(
      std::move(fields), std::make_shared<const ps::detail::ImageStageOf<S>>(std::move(stage)), executor());
}

/// Keeps a random box of a fixed size.
struct RandomCrop {
  int height, width;
  struct Params {
    int top, left;
  };
  Params draw(const ps::ImageShape& s, ps::Rng& rng) const {
    if (s.height < height || s.width < width) throw ps::Error(ps::Errc::unsupported, "the image is too small");
    const auto top = rng.below(static_cast<std::uint64_t>(s.height - height + 1));
    return {static_cast<int>(top), static_cast<int>(rng.below(static_cast<std::uint64_t>(s.width - width + 1)))};
  }
  void compose(const Params& p, const ps::ImageShape&, ps::ImageOp& op) const {
    op.crop({p.top, p.left, height, width});
  }
  ps::Shape schema(const ps::Shape& in) const { return {height, width, in[2]}; }
  std::string name() const { return "random_crop"; }
};
/// Flips half of the images.
struct RandomFlip {
  struct Params {
    bool flip;
  };
  Params draw(const ps::ImageShape&, ps::Rng& rng) const { return {rng.chance(0.5)}; }
  void compose(const Params& p, const ps::ImageShape&, ps::ImageOp& op) const {
    if (p.flip) op.flip_horizontal();
  }
  std::string name() const { return "random_flip"; }
};
/// Turns square images by 0 to 3 quarters.
struct RandomTurn {
  struct Params {
    int quarters;
  };
  Params draw(const ps::ImageShape&, ps::Rng& rng) const { return {static_cast<int>(rng.below(4))}; }
  void compose(const Params& p, const ps::ImageShape&, ps::ImageOp& op) const { op.rot90(p.quarters); }
  std::string name() const { return "random_turn"; }
};

}  // namespace fake
