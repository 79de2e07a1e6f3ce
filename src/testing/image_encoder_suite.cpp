// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/rng.hpp>
#include <penstock/testing/image_encoder.hpp>

#include "at_once.hpp"
#include "findings.hpp"
#include "guarded_memory.hpp"
#include "guarded_scratch.hpp"
#include "stored_jpeg_checks.hpp"

namespace penstock::testing {

namespace {

using FileBytes = std::vector<std::byte>;

constexpr std::string_view same_bytes = "the same pixels make the same bytes";
constexpr std::string_view on_any_thread = "an encoder makes the same on any thread";
constexpr std::string_view in_memory = "nothing is written outside of memory that was given for it";

// Takes `most` pieces of a file, and throws at the next piece. -1: takes all pieces.
class PiecesOfFile final : public EncodedFile {
 public:
  explicit PiecesOfFile(int most = -1) : left_(most) {}
  void append(std::span<const std::byte> more) override {
    if (left_ == 0) throw Error(Errc::limit_exceeded, "the file may not be longer");
    --left_;
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  FileBytes bytes;

 private:
  int left_;
};

class NoScratch final : public Scratch {
 public:
  std::byte* allocate(std::size_t) override { throw Error(Errc::out_of_memory, "there is none"); }
};

// Pixels between guard bytes, with `gap` bytes between rows. The pixels begin `offset` bytes after an address that is
// aligned for any type.
class PixelMemory {
 public:
  PixelMemory(const ImageShape& shape, std::size_t gap, std::size_t offset, std::byte content)
      : shape_(shape),
        row_(static_cast<std::size_t>(shape.width) * shape.pixel_bytes()),
        stride_(row_ + gap),
        offset_(offset),
        memory_(offset + stride_ * static_cast<std::size_t>(shape.height), content) {
    Rng noise(static_cast<std::uint64_t>(shape.width), 3, Place{});
    for (std::int32_t y = 0; y < shape.height; ++y)
      for (std::size_t i = 0; i < row_; ++i)
        at(y)[i] = static_cast<std::byte>(static_cast<std::size_t>(y) * 3 + i * 5 / 4 + noise() % 16);
    before_.assign(memory_.bytes().begin(), memory_.bytes().end());
  }
  Pixels pixels() const {
    return {reinterpret_cast<const std::uint8_t*>(memory_.data() + offset_), static_cast<std::ptrdiff_t>(stride_),
            shape_};
  }
  bool untouched() const { return memory_.intact() && std::ranges::equal(memory_.bytes(), before_); }

 private:
  std::byte* at(std::int32_t y) { return memory_.data() + offset_ + static_cast<std::size_t>(y) * stride_; }
  ImageShape shape_;
  std::size_t row_, stride_, offset_;
  GuardedMemory memory_;
  FileBytes before_;
};

// An image without a stored JPEG.
class NothingStored final : public EncodedImage {
 public:
  explicit NothingStored(const Pixels& pixels) : pixels_(pixels) {}
  Pixels decode(const Box& box, bool, std::byte*, Scratch&) override {
    return {
        pixels_.data + box.top * pixels_.stride + box.left * static_cast<std::ptrdiff_t>(pixels_.shape.pixel_bytes()),
        pixels_.stride,
        {box.height, box.width, pixels_.shape.channels, pixels_.shape.element}};
  }

 private:
  Pixels pixels_;
};

class ImageEncoderSuite {
 public:
  ImageEncoderSuite(const std::function<std::shared_ptr<const ImageEncoder>()>& make,
                    const ImageEncoderOptions& options)
      : make_(make), options_(options), encoder_(make()) {}

  Report run() {
    if (!describe()) return findings_.report();
    for (const ImageShape& shape : options_.images)
      if (encoder_->takes(shape.element, shape.channels) && std::max(shape.height, shape.width) <= encoder_->max_side())
        shapes_.push_back(shape);
    findings_.check(!shapes_.empty(), "an encoder takes some images",
                    [] { return "it takes none of those it is tried on"; });
    for (const ImageShape& shape : shapes_) files_.push_back(encode(*encoder_, shape, 0, 0, std::byte{0x11}));
    encode_again();
    for (std::size_t i = 0; i < shapes_.size(); ++i)
      if (files_[i]) {
        decode(i);
        fail(i);
        take_nothing(i);
      }
    for (const FileBytes& file : options_.files) take(file);
    return findings_.report();
  }

 private:
  static std::string name(const ImageShape& shape) { return "an image of " + text_of(shape); }

  bool describe() {
    return findings_.runs("name, describe and what an encoder takes throw nothing", "one of them", [&] {
      const std::string said = encoder_->name();
      findings_.check(!said.empty() && said.find('\n') == std::string::npos && said == encoder_->name(),
                      "a name is one line, and always the same", [&] { return "it is \"" + said + "\""; });
      const auto alike = make_();
      bool same = alike->name() == said && alike->describe() == encoder_->describe() &&
                  alike->keeps() == encoder_->keeps() && alike->max_side() == encoder_->max_side() &&
                  alike->lossless() == encoder_->lossless();
      for (const DType element : {DType::u8, DType::u16})
        for (std::int32_t channels = 1; channels <= 4; ++channels)
          same = same && alike->takes(element, channels) == encoder_->takes(element, channels);
      findings_.check(same, "an encoder made alike says the same of itself",
                      [] { return "its name, options or what it takes differ, and with them the fingerprint"; });
    });
  }

  // Returns the encoded file. If encoding fails, adds a finding and returns nothing.
  std::optional<FileBytes> encode(const ImageEncoder& encoder, const ImageShape& shape, std::size_t gap,
                                  std::size_t offset, std::byte content) {
    const PixelMemory memory(shape, gap, offset, content);
    GuardedScratch scratch(content);
    PiecesOfFile file;
    if (!findings_.runs("an encoder takes every image that it says it takes", name(shape),
                        [&] { encoder.encode(memory.pixels(), file, scratch); }))
      return std::nullopt;
    findings_.check(memory.untouched(), "pixels are left as they are",
                    [&] { return name(shape) + ": they, or what stands around them, changed"; });
    findings_.check(scratch.intact(), in_memory, [&] { return name(shape) + ": beside its scratch"; });
    findings_.check(!file.bytes.empty(), "an encoder makes a file", [&] { return name(shape) + ": it is empty"; });
    return std::move(file.bytes);
  }

  void compare(std::size_t i, const std::optional<FileBytes>& now, std::string_view contract, const std::string& when) {
    findings_.check(files_[i] == now, contract, [&] { return name(shapes_[i]) + ", " + when + ": they differ"; });
  }

  void encode_again() {
    const auto alike = make_();
    for (std::size_t i = shapes_.size(); i-- > 0;) {
      compare(i, encode(*encoder_, shapes_[i], 0, 0, std::byte{0xee}), same_bytes, "encoded again, after others");
      compare(i, encode(*encoder_, shapes_[i], 37, 0, std::byte{0x77}), same_bytes, "with bytes between its rows");
      compare(i, encode(*encoder_, shapes_[i], 1, 1, std::byte{0xee}), same_bytes, "at an odd address");
      compare(i, encode(*alike, shapes_[i], 0, 0, std::byte{0x11}), same_bytes, "by an encoder made alike");
    }
    at_once(std::max(options_.threads, 1u), [&](unsigned thread) {
      for (std::size_t n = 0; n < shapes_.size(); ++n) {
        const std::size_t i = (n + thread) % shapes_.size();
        compare(i, encode(*encoder_, shapes_[i], 0, 0, std::byte{0x22}), on_any_thread, "while others are encoded");
      }
    });
  }

  const ImageDecoder* decoder_of(const ImageShape& shape) const {
    for (const auto& decoder : options_.decoders)
      if (decoder->dtype() == shape.element &&
          (decoder->channels() == dynamic || decoder->channels() == shape.channels))
        return decoder.get();
    return nullptr;
  }

  void decode(std::size_t i) {
    const ImageDecoder* const decoder = decoder_of(shapes_[i]);
    if (decoder == nullptr) return;
    const PixelMemory memory(shapes_[i], 0, 0, std::byte{});
    findings_.runs("what is encoded can be decoded", name(shapes_[i]), [&] {
      const auto decoding = decoder->start();
      GuardedScratch scratch;
      const ImageShape shape = decoding->open(*files_[i]);
      if (!findings_.check(shape == shapes_[i], "what is encoded is decoded to an image of its shape",
                           [&] { return name(shapes_[i]) + " becomes one of " + text_of(shape); }))
        return;
      const Pixels pixels = decoding->decode({0, 0, shape.height, shape.width}, true, nullptr, scratch);
      findings_.check(!encoder_->lossless() || same_pixels(memory.pixels(), pixels),
                      "a lossless encoder gives the pixels back", [&] { return name(shape) + ": they differ"; });
    });
  }

  // Encodes with a file that throws, and with scratch that throws. Checks that their errors come through. An encoder
  // that needs no scratch may succeed with the latter.
  void fail(std::size_t i) {
    const PixelMemory memory(shapes_[i], 0, 0, std::byte{0x11});
    constexpr std::string_view contract = "an error of the file, or of memory, comes through";
    const auto thrown = [&](EncodedFile& file, Scratch& scratch) {
      std::optional<Errc> code;
      findings_.runs(contract, name(shapes_[i]) + ": another error", [&] {
        try {
          encoder_->encode(memory.pixels(), file, scratch);
        } catch (const Error& error) {
          code = error.code();
        }
      });
      return code;
    };
    GuardedScratch scratch, enough;
    PiecesOfFile none(0), all;
    findings_.check(thrown(none, scratch) == Errc::limit_exceeded, contract,
                    [&] { return name(shapes_[i]) + ": a file that takes no byte was not the end"; });
    NoScratch nothing;
    const std::optional<Errc> code = thrown(all, nothing);
    findings_.check(code == std::nullopt || code == Errc::out_of_memory, contract,
                    [&] { return name(shapes_[i]) + ": memory that could not be had became another error"; });
    findings_.check(scratch.intact(), in_memory, [&] { return name(shapes_[i]) + ": beside its scratch"; });
    compare(i, encode(*encoder_, shapes_[i], 0, 0, std::byte{0x33}), same_bytes, "after one that failed");
  }

  void take_nothing(std::size_t i) {
    const PixelMemory memory(shapes_[i], 0, 0, std::byte{});
    NothingStored image(memory.pixels());
    GuardedScratch scratch;
    findings_.runs("take throws nothing where nothing is stored", name(shapes_[i]), [&] {
      findings_.check(encoder_->take(image, scratch).empty(), "nothing is taken where nothing is stored",
                      [&] { return name(shapes_[i]) + ": something was"; });
    });
  }

  void take(const FileBytes& file) {
    if (options_.decoders.empty()) return;
    const std::string who = "a file of " + std::to_string(file.size()) + " bytes";
    const ImageDecoder& decoder = *options_.decoders.front();
    const auto decoding = decoder.start(), taken_by = decoder.start();
    GuardedScratch scratch, before, after, memory;
    Pixels whole;
    ImageShape shape;
    try {
      shape = decoding->open(file);
      whole = decoding->decode({0, 0, shape.height, shape.width}, true, nullptr, scratch);
      shape = decoding->open(file);
    } catch (const Error&) {
      return;
    }
    constexpr std::string_view contract = "what is taken is decoded to the image's pixels";
    findings_.runs(contract, who, [&] {
      const std::span<const std::byte> taken = encoder_->take(*decoding, before);
      const FileBytes kept(taken.begin(), taken.end());
      static_cast<void>(decoding->decode({0, 0, shape.height, shape.width}, true, nullptr, memory));
      findings_.check(std::ranges::equal(encoder_->take(*decoding, after), kept), "what is taken is always the same",
                      [&] { return who + ": after decoding it is another file"; });
      findings_.check(before.intact() && after.intact(), in_memory, [&] { return who + ": beside its scratch"; });
      if (kept.empty()) return;
      GuardedScratch room;
      const ImageShape again = taken_by->open(kept);
      const Pixels pixels = taken_by->decode({0, 0, again.height, again.width}, true, nullptr, room);
      findings_.check(again == shape && same_pixels(whole, pixels), contract,
                      [&] { return who + ": what is taken has other pixels"; });
    });
  }

  const std::function<std::shared_ptr<const ImageEncoder>()>& make_;
  const ImageEncoderOptions& options_;
  const std::shared_ptr<const ImageEncoder> encoder_;
  Findings findings_;
  std::vector<ImageShape> shapes_;
  std::vector<std::optional<FileBytes>> files_;
};

}  // namespace

Report check_image_encoder(const std::function<std::shared_ptr<const ImageEncoder>()>& make,
                           const ImageEncoderOptions& options) {
  return ImageEncoderSuite(make, options).run();
}

}  // namespace penstock::testing
