// SPDX-License-Identifier: Apache-2.0
// decode_jpeg and the image stages in the engine: the same bits folded or not, checked to the end or not.
#include <cstring>
#include <memory>

#include <penstock/error.hpp>
#include <penstock/penstock.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/encode_jpeg.hpp>
#include <penstock/transforms/image.hpp>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "transforms/codec/encoded.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

// image: u8[?], JPEGs of different sizes and kinds.
class Photos {
 public:
  explicit Photos(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto step = static_cast<std::int32_t>(i);
      const ImageShape shape{70 + step * 7 % 90, 75 + step * 11 % 80, i % 5 == 4 ? 1 : 3};
      const int subsampling[] = {420, 422, 444};
      files_->push_back(
          encode_jpeg(photo(shape, i).view(), {.subsampling = subsampling[i % 3], .progressive = i % 4 == 3}));
    }
  }
  std::uint64_t size() const { return files_->size(); }
  Schema schema() const { return {{"image", DType::u8, {dynamic}}}; }
  void read(std::uint64_t i, SampleBuilder& out) const { out.view("image", (*files_)[i]); }
  std::vector<std::byte>& bytes(std::uint64_t i) { return (*files_)[i]; }

 private:
  std::shared_ptr<std::vector<std::vector<std::byte>>> files_ = std::make_shared<std::vector<std::vector<std::byte>>>();
};

}  // namespace

TEST_CASE("a chain on JPEGs gives the same bits folded or not, verified or not") {
  const Photos photos(40);
  const auto chains = {
      from(photos) | decode_jpeg() | random_resized_crop("image", {48, 40}) | random_flip("image"),
      from(photos) | decode_jpeg() | resize_short("image", 60) | center_crop("image", {50, 52}) | normalize("image"),
      from(photos) | decode_jpeg() | random_crop("image", {64, 64}) | random_rot90("image") |
          random_flip_vertical("image"),
      from(photos) | decode_jpeg() | random_flip("image") | resize("image", {90, 30}) | rot90("image") |
          random_resized_crop("image", {20, 33}) | crop("image", {1, 2, 16, 30}) |
          convert("image", {.dtype = DType::f16, .scale = {0.5}})};
  for (const Pipeline& chain : chains) {
    INFO(chain.plan());
    const std::vector<std::byte> folded = all_bytes(chain | batch(8));
    REQUIRE(folded.size() > 40 * 1000);
    for (const bool verify : {false, true})
      CHECK(all_bytes(chain | check({.verify = verify, .fold = false}) | batch(8)) == folded);
    CHECK(all_bytes(chain | check({.verify = true}) | batch(8)) == folded);
  }
}

TEST_CASE("a converted image takes no further image stage") {
  const Pipeline planes = from(Photos(2)) | decode_jpeg() | resize("image", {8, 8}) | normalize("image");
  CHECK_THROWS_AS(planes | random_flip("image"), Error);
}

TEST_CASE("a damaged JPEG in a chain says where and why") {
  Photos photos(3);
  photos.bytes(1).resize(photos.bytes(1).size() / 2);
  const Pipeline chain = from(photos) | decode_jpeg() | resize("image", {8, 8}) | batch(3);
  try {
    all_bytes(chain);
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(error.code() == Errc::corrupt);
    CHECK(error.stage() == "decode_jpeg(image)");
    CHECK(error.index() == std::uint64_t{1});
    CHECK(error.offset() == std::uint64_t{photos.bytes(1).size()});
  }
}

TEST_CASE("every result option changes the fingerprint") {
  const Pipeline start = from(Photos(2));
  const Pipeline rgb = start | decode_jpeg();
  const auto fingerprint = [](const Pipeline& pipeline) { return (pipeline | batch(1)).fingerprint(); };
  const auto differ = [&](const Stage& a, const Stage& b) {
    return fingerprint(rgb | a | resize("image", {8, 8})) != fingerprint(rgb | b | resize("image", {8, 8}));
  };
  CHECK(fingerprint(start | decode_jpeg() | resize("image", {8, 8})) !=
        fingerprint(start | decode_jpeg("image", {.accept_warnings = true}) | resize("image", {8, 8})));
  CHECK(differ(crop("image", {0, 0, 4, 4}), crop("image", {0, 1, 4, 4})));
  CHECK(differ(random_resized_crop("image", {9, 9}), random_resized_crop("image", {9, 9}, {.scale = {0.1, 1}})));
  CHECK(differ(random_resized_crop("image", {9, 9}), random_resized_crop("image", {9, 9}, {.ratio = {0.75, 1.3}})));
  CHECK(differ(random_flip("image"), random_flip("image", {.p = 0.25})));
  CHECK(differ(rot90("image", 1), rot90("image", 3)));
  CHECK(differ(resize_short("image", 20), resize_short("image", 21)));
  CHECK(fingerprint(rgb | resize("image", {8, 8}) | normalize("image")) !=
        fingerprint(rgb | resize("image", {8, 8}) | normalize("image", {.mean = {0.5}})));
}
