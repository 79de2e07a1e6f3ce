// Promised images that break one promise each, and what the suite says of them.
#include <cstddef>
#include <cstdint>
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
};

template <class How>
class Image final : public ps::PromisedImage {
 public:
  explicit Image(std::uint64_t record) : record_(record) {}
  ps::ImageShape shape() const override { return How::shape(record_); }
  ps::Pixels decode(const ps::Box& box, bool verify, std::byte* into, ps::Scratch& scratch) override {
    return How::decode(record_, box, verify, into, scratch);
  }

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

template <class How>
ps::testing::Report report_on() {
  return check_source([] { return Promising<How>{}; });
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
