// SPDX-License-Identifier: Apache-2.0
// Promised images that break one promise each, and what the suite says of them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <penstock/penstock.hpp>
#include <penstock/testing/source.hpp>

#include "findings.hpp"
#include "support/catch.hpp"

namespace ps = penstock;
using namespace penstock_test;
using ps::testing::check_source;

namespace {

// Pixels of record i, which is a byte for each of 9 x 8 x 3 values. What a wrong one gets wrong is a function of it.
struct Right {
  static ps::ImageShape shape(std::uint64_t) { return {9, 8, 3}; }
  static std::uint8_t value(std::uint64_t i, std::int32_t y, std::int32_t x, std::int32_t c) {
    return static_cast<std::uint8_t>(i * 31 + static_cast<std::uint64_t>((y * 8 + x) * 3 + c));
  }
  static ps::Pixels decode(std::uint64_t i, const ps::Box& box, bool, std::byte* into, ps::Scratch& scratch) {
    const std::size_t row = static_cast<std::size_t>(box.width) * 3;
    std::byte* const out = into != nullptr ? into : scratch.allocate(row * static_cast<std::size_t>(box.height));
    auto* to = reinterpret_cast<std::uint8_t*>(out);
    for (std::int32_t y = 0; y < box.height; ++y)
      for (std::int32_t x = 0; x < box.width; ++x)
        for (std::int32_t c = 0; c < 3; ++c) *to++ = value(i, box.top + y, box.left + x, c);
    return {reinterpret_cast<const std::uint8_t*>(out), static_cast<std::ptrdiff_t>(row), {box.height, box.width, 3}};
  }
  static std::span<const std::byte> stored(std::uint64_t, ps::Scratch&) { return {}; }
};

template <class How>
class Image final : public ps::PromisedImage {
 public:
  explicit Image(std::uint64_t record) : record_(record) {}
  ps::ImageShape shape() const override { return How::shape(record_); }
  ps::Pixels decode(const ps::Box& box, bool verify, std::byte* into, ps::Scratch& scratch) override {
    return How::decode(record_, box, verify, into, scratch);
  }
  std::span<const std::byte> stored_jpeg(ps::Scratch& scratch) override { return How::stored(record_, scratch); }

 private:
  std::uint64_t record_;
};

template <class How>
struct Promising {
  std::uint64_t size() const { return 10; }
  ps::Schema schema() const { return {{"image", ps::DType::u8, {9, 8, 3}}, {"n", ps::DType::i64, {}}}; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    if (i >= 10) throw ps::Error(ps::Errc::not_found, "there are 10 records");
    out.promise("image", Image<How>(i));
    out.scalar<std::int64_t>("n", 1);
  }
  std::string name() const { return "promising"; }
};

// The tests' own format begins as a JPEG does, and is one to the decoder that the suite is given.
class Decoder final : public ps::ImageDecoder {
 public:
  std::string name() const override { return "decode"; }
  std::string describe() const override { return ""; }
  std::int64_t channels() const override { return 3; }
  std::unique_ptr<ps::ImageDecoding> start() const override { return std::make_unique<Decoding>(); }

 private:
  class Decoding final : public ps::ImageDecoding {
   public:
    ps::ImageShape open(std::span<const std::byte> encoded) override {
      file_ = encoded;
      if (file_.size() != 9 * 8 * 3 + 2) throw ps::Error(ps::Errc::corrupt, "cut off");
      return {9, 8, 3};
    }
    ps::Pixels decode(const ps::Box&, bool, std::byte*, ps::Scratch&) override {
      return {reinterpret_cast<const std::uint8_t*>(file_.data()) + 2, 24, {9, 8, 3}};
    }

   private:
    std::span<const std::byte> file_;
  };
};

// A file of record i's pixels.
struct Stored : Right {
  static std::span<std::byte> file(std::uint64_t i, ps::Scratch& scratch) {
    const std::size_t size = 9 * 8 * 3 + 2;
    std::byte* const bytes = scratch.allocate(size);
    bytes[0] = std::byte{0xff}, bytes[1] = std::byte{0xd8};
    Right::decode(i, {0, 0, 9, 8}, false, bytes + 2, scratch);
    return {bytes, size};
  }
  static std::span<const std::byte> stored(std::uint64_t i, ps::Scratch& scratch) { return file(i, scratch); }
};

template <class How>
ps::testing::Report report_on() {
  return check_source([] { return Promising<How>{}; }, {.jpeg = std::make_shared<const Decoder>()});
}

}  // namespace

TEST_CASE("a source that promises images, and keeps that, passes") {
  const auto report = report_on<Right>();
  CHECK(report.text() == "");
  CHECK(report.checks() > 500);
}

TEST_CASE("a part of a promised image is that part of the whole") {
  struct Shifted : Right {
    static ps::Pixels decode(std::uint64_t i, ps::Box box, bool verify, std::byte* into, ps::Scratch& scratch) {
      if (box.left > 3) --box.left;
      return Right::decode(i, box, verify, into, scratch);
    }
  };
  CHECK(found_only(report_on<Shifted>(), "a box of a promised image is a crop of the whole"));
  struct Verified : Right {
    static ps::Pixels decode(std::uint64_t i, const ps::Box& box, bool verify, std::byte* into, ps::Scratch& scratch) {
      return Right::decode(verify ? i + 1 : i, box, verify, into, scratch);
    }
  };
  CHECK(found_only(report_on<Verified>(), "a box of a promised image is a crop of the whole"));
  struct Larger : Right {
    static ps::Pixels decode(std::uint64_t i, ps::Box box, bool verify, std::byte* into, ps::Scratch& scratch) {
      if (box.width == 1) box.width = 2, box.left = 0;
      return Right::decode(i, box, verify, into, scratch);
    }
  };
  CHECK(found_only(report_on<Larger>(), "a promised image is decoded to the box that was asked for"));
}

TEST_CASE("what can be decoded whole can be decoded in parts") {
  struct Whole : Right {
    static ps::Pixels decode(std::uint64_t i, const ps::Box& box, bool verify, std::byte* into, ps::Scratch& scratch) {
      if (box.height != 9) throw ps::Error(ps::Errc::unsupported, "only all of it");
      return Right::decode(i, box, verify, into, scratch);
    }
  };
  CHECK(found_only(report_on<Whole>(), "what can be decoded whole can be decoded in parts"));
}

TEST_CASE("a promised image is written to its own memory alone") {
  struct Beyond : Right {
    static ps::Pixels decode(std::uint64_t i, const ps::Box& box, bool verify, std::byte* into, ps::Scratch& scratch) {
      const ps::Pixels pixels = Right::decode(i, box, verify, into, scratch);
      if (into != nullptr) into[std::size_t{9} * 8 * 3] = std::byte{1};
      return pixels;
    }
  };
  CHECK(found(report_on<Beyond>(), "nothing is written outside of a value's memory"));
}

TEST_CASE("a stored JPEG is the image's own") {
  CHECK(report_on<Stored>().text() == "");
  constexpr std::string_view decoded = "a stored JPEG is decoded to the image's pixels";
  struct Another : Stored {
    static std::span<const std::byte> stored(std::uint64_t i, ps::Scratch& scratch) { return file(i + 1, scratch); }
  };
  CHECK(found_only(report_on<Another>(), decoded));
  CHECK(check_source([] { return Promising<Another>{}; }).text() == "");  // nobody could decode it
  struct Short : Stored {
    static std::span<const std::byte> stored(std::uint64_t i, ps::Scratch& scratch) {
      return file(i, scratch).first(100);
    }
  };
  CHECK(found_only(report_on<Short>(), decoded));
  struct Foreign : Stored {
    static std::span<const std::byte> stored(std::uint64_t i, ps::Scratch& scratch) {
      const auto bytes = file(i, scratch);
      bytes[0] = std::byte{'R'};
      return bytes;
    }
  };
  CHECK(found_only(report_on<Foreign>(), "a stored JPEG is a JPEG"));
  struct Undefined : Stored {
    static std::span<const std::byte> stored(std::uint64_t, ps::Scratch& scratch) {
      static unsigned char calls = 0;
      std::byte* const bytes = scratch.allocate(10);
      std::fill_n(bytes, 10, std::byte(++calls));
      return {bytes, 10};
    }
  };
  CHECK(found(report_on<Undefined>(), "a stored JPEG is always the same"));
  struct Throws : Stored {
    static std::span<const std::byte> stored(std::uint64_t, ps::Scratch&) {
      throw ps::Error(ps::Errc::corrupt, "no tables");
    }
  };
  CHECK(found_only(report_on<Throws>(), "an image that can be decoded has a stored JPEG, or none"));
  struct Beyond : Stored {
    static std::span<const std::byte> stored(std::uint64_t i, ps::Scratch& scratch) {
      const auto bytes = file(i, scratch);
      bytes.data()[bytes.size()] = std::byte{1};
      return bytes;
    }
  };
  CHECK(found_only(report_on<Beyond>(), "nothing is written outside of a value's memory"));
}

TEST_CASE("a promised image that is damaged is a bad record") {
  struct Damaged : Right {
    static ps::Pixels decode(std::uint64_t i, const ps::Box& box, bool verify, std::byte* into, ps::Scratch& scratch) {
      if (i == 4) throw ps::Error(ps::Errc::corrupt, "the image ends early");
      return Right::decode(i, box, verify, into, scratch);
    }
  };
  CHECK(found_only(report_on<Damaged>(), "every record can be read"));
  CHECK(check_source([] { return Promising<Damaged>{}; }, {.allow_bad_records = true}).text() == "");
}
