// SPDX-License-Identifier: Apache-2.0
// Encoders that break one promise each, and what the suite says of them.
#include <atomic>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include <penstock/testing/image_encoder.hpp>

#include "core/chain/fake_images.hpp"
#include "findings.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

namespace ps = penstock;
using namespace penstock_test;
using ps::testing::check_image_encoder;

namespace {

std::vector<std::byte> file_of(int height, int width, int seed) {
  const auto file = fake::encode(height, width, 3, [&](int k) { return k * seed; });
  const auto bytes = std::as_bytes(std::span(file));
  return {bytes.begin(), bytes.end()};
}

ps::testing::ImageEncoderOptions options() {
  ps::testing::ImageEncoderOptions options;
  options.images = {{1, 1, 3}, {64, 48, 3}, {1, 50, 3}, {40, 1, 3}, {300, 2, 3}, {5, 5, 1}};
  options.decoders = {std::make_shared<const fake::Decoder>()};
  options.files = {file_of(9, 8, 3), file_of(12, 10, 7), {}};
  return options;
}

template <class E>
ps::testing::Report report_on() {
  return check_image_encoder([] { return std::make_shared<const E>(); }, options());
}

// What a wrong one gets wrong is a function of it.
class Right : public ps::ImageEncoder {
 public:
  std::string name() const override { return "encode_raw"; }
  std::string describe() const override { return ""; }
  bool takes(ps::DType element, std::int32_t channels) const override { return right_.takes(element, channels); }
  std::int32_t max_side() const override { return right_.max_side(); }
  bool lossless() const override { return true; }
  void encode(const ps::Pixels& pixels, ps::EncodedFile& out, ps::Scratch& scratch) const override {
    right_.encode(pixels, out, scratch);
  }
  std::span<const std::byte> take(ps::EncodedImage& image, ps::Scratch& scratch) const override {
    return right_.take(image, scratch);
  }

 protected:
  fake::Encoder right_{true};
};

}  // namespace

TEST_CASE("an encoder that keeps its promises passes") {
  const auto report = report_on<Right>();
  CHECK(report.text() == "");
  CHECK(report.checks() > 200);
  CHECK(check_image_encoder([] { return std::make_shared<const fake::Encoder>(); }).text() == "");
}

TEST_CASE("an encoder that takes other pixels for its image's is found") {
  struct NextRow : Right {  // as if rows followed each other
    void encode(const ps::Pixels& pixels, ps::EncodedFile& out, ps::Scratch& scratch) const override {
      ps::Pixels wrong = pixels;
      wrong.stride = std::ptrdiff_t{pixels.shape.width} * 3;
      Right::encode(wrong, out, scratch);
    }
  };
  CHECK(found_only(report_on<NextRow>(), "the same pixels make the same bytes"));
  struct Rounded : Right {  // and says it loses nothing
    void encode(const ps::Pixels& pixels, ps::EncodedFile& out, ps::Scratch& scratch) const override {
      const auto row = static_cast<std::size_t>(pixels.shape.width * 3);
      auto* const copy =
          reinterpret_cast<std::uint8_t*>(scratch.allocate(row * static_cast<std::size_t>(pixels.shape.height)));
      for (std::int32_t y = 0; y < pixels.shape.height; ++y)
        for (std::size_t i = 0; i < row; ++i)
          copy[static_cast<std::size_t>(y) * row + i] =
              static_cast<std::uint8_t>(pixels.data[y * pixels.stride + static_cast<std::ptrdiff_t>(i)] | 1);
      Right::encode({copy, static_cast<std::ptrdiff_t>(row), pixels.shape}, out, scratch);
    }
  };
  CHECK(found_only(report_on<Rounded>(), "a lossless encoder gives the pixels back"));
  struct Narrower : Right {
    void encode(const ps::Pixels& pixels, ps::EncodedFile& out, ps::Scratch& scratch) const override {
      ps::Pixels part = pixels;
      if (part.shape.width > 1) --part.shape.width;
      Right::encode(part, out, scratch);
    }
  };
  CHECK(found_only(report_on<Narrower>(), "what is encoded is decoded to an image of its shape"));
  struct Cut : Right {
    void encode(const ps::Pixels& pixels, ps::EncodedFile& out, ps::Scratch& scratch) const override {
      struct Short final : ps::EncodedFile {
        explicit Short(ps::EncodedFile& file) : to(file) {}
        void append(std::span<const std::byte> more) override {
          to.append(more.first(more.size() > 6 ? more.size() / 2 : more.size()));
        }
        ps::EncodedFile& to;
      } half(out);
      Right::encode(pixels, half, scratch);
    }
  };
  CHECK(found(report_on<Cut>(), "what is encoded can be decoded"));
}

TEST_CASE("an encoder whose files differ from time to time, or from thread to thread, is found") {
  struct Counts : Right {
    void encode(const ps::Pixels& pixels, ps::EncodedFile& out, ps::Scratch& scratch) const override {
      Right::encode(pixels, out, scratch);
      const auto number = static_cast<std::byte>(++*made);
      out.append({&number, 1});
    }
    std::shared_ptr<std::atomic<int>> made = std::make_shared<std::atomic<int>>(0);
  };
  CHECK(found(report_on<Counts>(), "the same pixels make the same bytes"));
  struct OfThreads : Right {
    void encode(const ps::Pixels& pixels, ps::EncodedFile& out, ps::Scratch& scratch) const override {
      static const std::thread::id first = std::this_thread::get_id();
      Right::encode(pixels, out, scratch);
      if (std::this_thread::get_id() != first) out.append(std::as_bytes(std::span("x")));
    }
  };
  CHECK(found_only(report_on<OfThreads>(), "an encoder makes the same on any thread"));
}

TEST_CASE("an encoder that writes where it may not is found") {
  struct Changes : Right {
    void encode(const ps::Pixels& pixels, ps::EncodedFile& out, ps::Scratch& scratch) const override {
      Right::encode(pixels, out, scratch);
      const_cast<std::uint8_t&>(*pixels.data) ^= 1;
    }
  };
  CHECK(found(report_on<Changes>(), "pixels are left as they are"));
  struct Beyond : Right {
    void encode(const ps::Pixels& pixels, ps::EncodedFile& out, ps::Scratch& scratch) const override {
      scratch.allocate(10)[10] = std::byte{1};
      Right::encode(pixels, out, scratch);
    }
  };
  CHECK(found_only(report_on<Beyond>(), "nothing is written outside of memory that was given for it"));
}

TEST_CASE("an encoder that keeps errors to itself, or does not recover from one, is found") {
  struct Swallows : Right {
    void encode(const ps::Pixels& pixels, ps::EncodedFile& out, ps::Scratch& scratch) const override try {
      Right::encode(pixels, out, scratch);
    } catch (const ps::Error&) {
    }
  };
  CHECK(found_only(report_on<Swallows>(), "an error of the file, or of memory, comes through"));
  struct Renames : Right {
    void encode(const ps::Pixels& pixels, ps::EncodedFile& out, ps::Scratch& scratch) const override try {
      Right::encode(pixels, out, scratch);
    } catch (const ps::Error& error) {
      throw std::runtime_error(error.what());
    }
  };
  CHECK(found_only(report_on<Renames>(), "an error of the file, or of memory, comes through"));
  struct Remembers : Right {
    void encode(const ps::Pixels& pixels, ps::EncodedFile& out, ps::Scratch& scratch) const override {
      if (*failed) out.append(std::as_bytes(std::span("again")));
      *failed = true;
      Right::encode(pixels, out, scratch);
      *failed = false;
    }
    std::shared_ptr<std::atomic<bool>> failed = std::make_shared<std::atomic<bool>>(false);
  };
  CHECK(found(report_on<Remembers>(), "the same pixels make the same bytes"));
  struct Refuses : Right {
    bool takes(ps::DType, std::int32_t) const override { return true; }
    void encode(const ps::Pixels& pixels, ps::EncodedFile& out, ps::Scratch& scratch) const override {
      if (pixels.shape.channels != 3) throw ps::Error(ps::Errc::unsupported, "three channels only");
      Right::encode(pixels, out, scratch);
    }
  };
  CHECK(found(report_on<Refuses>(), "an encoder takes every image that it says it takes"));
}

TEST_CASE("what an encoder takes and should not is found") {
  struct Damages : Right {
    std::span<const std::byte> take(ps::EncodedImage& image, ps::Scratch& scratch) const override {
      const auto file = image.stored_jpeg(scratch);
      if (file.empty()) return {};
      std::byte* const copy = scratch.allocate(file.size());
      std::memcpy(copy, file.data(), file.size());
      copy[7] ^= std::byte{1};
      return {copy, file.size()};
    }
  };
  CHECK(found_only(report_on<Damages>(), "what is taken is decoded to the image's pixels"));
  struct Invents : Right {
    std::span<const std::byte> take(ps::EncodedImage&, ps::Scratch&) const override {
      static const std::vector<std::byte> always = file_of(9, 8, 3);
      return always;
    }
  };
  CHECK(found(report_on<Invents>(), "nothing is taken where nothing is stored"));
  CHECK(found(report_on<Invents>(), "what is taken is decoded to the image's pixels"));
  struct Once : Right {
    std::span<const std::byte> take(ps::EncodedImage& image, ps::Scratch& scratch) const override {
      return ++*asked % 2 == 1 ? image.stored_jpeg(scratch) : std::span<const std::byte>();
    }
    std::shared_ptr<std::atomic<int>> asked = std::make_shared<std::atomic<int>>(0);
  };
  CHECK(found_only(report_on<Once>(), "what is taken is always the same"));
}

TEST_CASE("what an encoder says of itself and gets wrong is found") {
  struct Nameless : Right {
    std::string name() const override { return ""; }
  };
  CHECK(found(report_on<Nameless>(), "a name is one line, and always the same"));
  struct Options : Right {
    std::string describe() const override { return std::to_string(reinterpret_cast<std::uintptr_t>(this)); }
  };
  CHECK(found_only(report_on<Options>(), "an encoder made alike says the same of itself"));
  struct Picky : Right {
    bool takes(ps::DType, std::int32_t) const override { return false; }
  };
  CHECK(found(report_on<Picky>(), "an encoder takes some images"));
  struct Unknown : Right {
    std::string describe() const override { throw std::runtime_error("unknown"); }
  };
  CHECK(found_only(report_on<Unknown>(), "name, describe and what an encoder takes throw nothing"));
  struct Empty : Right {
    void encode(const ps::Pixels&, ps::EncodedFile&, ps::Scratch&) const override {}
  };
  CHECK(found(report_on<Empty>(), "an encoder makes a file"));
}

}  // namespace PENSTOCK_TEST_FILE
