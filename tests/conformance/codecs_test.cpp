// SPDX-License-Identifier: Apache-2.0
// The codecs' stages, held to the contract of a stage; damaged images among the inputs.
#include <cstring>
#include <utility>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/testing/image_encoder.hpp>
#include <penstock/testing/source.hpp>
#include <penstock/testing/transform.hpp>
#include <penstock/transforms/decode_image.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/decode_png.hpp>
#include <penstock/transforms/encode_jpeg.hpp>
#include <penstock/transforms/encode_png.hpp>
#include <penstock/transforms/seekable_jpeg.hpp>

#include "findings.hpp"
#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "transforms/codec/encoded.hpp"
#include "transforms/codec/png/png_files.hpp"

namespace ps = penstock;
using namespace penstock_test;
using ps::testing::check_stage;

namespace {

// The last file is cut short, the one before it is none.
ps::AnySource damaged_too(std::vector<Bytes> files) {
  Bytes cut(files.front().begin(), files.front().begin() + static_cast<std::ptrdiff_t>(files.front().size() / 2));
  files.push_back(Bytes(100, std::byte{7}));
  files.push_back(std::move(cut));
  return ps::share(Encoded{std::move(files)});
}

std::vector<Bytes> jpegs() {
  std::vector<Bytes> files;
  for (const ps::ImageShape shape : {ps::ImageShape{40, 56, 3}, {64, 33, 3}, {17, 90, 1}, {120, 121, 3}})
    for (const int restart_rows : {0, 1})
      files.push_back(ps::encode_jpeg(photo(shape, files.size()).view(), {.restart_rows = restart_rows}));
  return files;
}

}  // namespace

TEST_CASE("JPEG stages keep the contract of a stage") {
  const ps::AnySource inputs = damaged_too(jpegs());
  for (const ps::Stage& stage : {ps::decode_jpeg("image"), ps::seekable_jpeg("image")}) {
    const auto report = check_stage(stage, inputs, {.allow_bad_records = true});
    CHECK(report.text() == "");
    CHECK(report.passed());
    CHECK_FALSE(check_stage(stage, inputs).passed());  // the damaged ones are seen
  }
}

TEST_CASE("decode_png keeps the contract of a stage") {
  std::vector<Bytes> files;
  for (const PngKind& kind : png_kinds())
    if (kind.depth <= 8) files.push_back(PngFile(kind, {31, 22}, files.size()).bytes());
  const ps::AnySource inputs = damaged_too(std::move(files));
  const auto report = check_stage(ps::decode_png("image"), inputs, {.allow_bad_records = true});
  CHECK(report.text() == "");
  CHECK_FALSE(check_stage(ps::decode_png("image"), inputs).passed());
}

TEST_CASE("decode_image keeps the contract of a stage") {
  std::vector<Bytes> files = jpegs();
  for (const PngKind& kind : png_kinds())
    if (kind.depth == 8) files.push_back(PngFile(kind, {31, 22}, files.size()).bytes());
  const auto report = check_stage(ps::decode_image(), damaged_too(std::move(files)), {.allow_bad_records = true});
  CHECK(report.text() == "");
  CHECK(report.passed());
}

TEST_CASE("encode_jpeg keeps the contract of an encoder") {
  ps::testing::ImageEncoderOptions options;
  options.decoders = {ps::jpeg_decoder({.color = ps::JpegOptions::as_stored})};
  options.files = jpegs();
  options.files.emplace_back(100);
  for (const bool keeps : {false, true}) {
    for (const ps::EncodeJpegOptions& how :
         {ps::EncodeJpegOptions{}, {.quality = 30, .subsampling = 444}, {.progressive = true}, {.restart_rows = 1}}) {
      const auto report = check_image_encoder([&] { return ps::jpeg_encoder(how, keeps); }, options);
      CHECK(report.text() == "");
      CHECK(report.passed());
    }
  }
}

TEST_CASE("encode_png keeps the contract of an encoder") {
  ps::testing::ImageEncoderOptions options;
  for (const ps::DType element : {ps::DType::u8, ps::DType::u16})
    options.decoders.push_back(ps::png_decoder({.color = ps::PngOptions::as_stored, .dtype = element}));
  for (const auto effort : {ps::EncodePngOptions::fast, ps::EncodePngOptions::normal, ps::EncodePngOptions::small}) {
    const auto report = check_image_encoder([&] { return ps::png_encoder({.effort = effort}); }, options);
    CHECK(report.text() == "");
    CHECK(report.passed());
  }
  // A JPEG is no PNG.
  options.decoders = {ps::any_image_decoder({.color = ps::DecodeImageOptions::as_stored})};
  options.files = jpegs();
  CHECK(check_image_encoder([&] { return ps::png_encoder(); }, options).text() == "");
}

TEST_CASE("the stages that encode keep the contract of a stage") {
  struct Photos {
    std::uint64_t size() const { return 8; }
    ps::Schema schema() const { return {{"image", ps::DType::u8, {ps::dynamic, ps::dynamic, 3}}}; }
    void read(std::uint64_t i, ps::SampleBuilder& out) const {
      const Image image = photo({20 + static_cast<std::int32_t>(i), 30, 3}, i);
      std::memcpy(out.emplace(0, {image.shape.height, 30, 3}).data, image.pixels.data(), image.pixels.size());
    }
  };
  for (const ps::Stage& stage :
       {ps::encode_jpeg("image", {.keep_stored = true}), ps::encode_png("image", {.out = "png"})})
    CHECK(check_stage(stage, ps::share(Photos{})).text() == "");
}

namespace {

class StoredPhoto final : public ps::PromisedImage {
 public:
  StoredPhoto(const Bytes& file, const Bytes& stored) : file_(&file), stored_(&stored) {}
  ps::ImageShape shape() const override { return ps::jpeg_decoder()->start()->open(*file_); }
  ps::Pixels decode(const ps::Box& box, bool verify, std::byte* into, ps::Scratch& scratch) override {
    const auto decoding = ps::jpeg_decoder()->start();
    decoding->open(*file_);
    return decoding->decode(box, verify, into, scratch);
  }
  std::span<const std::byte> stored_jpeg(ps::Scratch&) override { return *stored_; }

 private:
  const Bytes *file_, *stored_;
};

// With `wrong`, what is stored is of another record.
struct StoredPhotos {
  std::vector<Bytes> files;
  bool wrong = false;
  std::uint64_t size() const { return files.size(); }
  ps::Schema schema() const { return {{"image", ps::DType::u8, {ps::dynamic, ps::dynamic, 3}}}; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    if (i >= size()) throw ps::Error(ps::Errc::not_found, "there are fewer");
    out.promise(0, StoredPhoto(files[i], files[(wrong ? i + 1 : i) % files.size()]));
  }
};

}  // namespace

TEST_CASE("JPEGs that a source promises are held to what their stored files are") {
  const auto check = [](bool wrong) {
    return ps::testing::check_source([&] { return StoredPhotos{jpegs(), wrong}; }, {.jpeg = ps::jpeg_decoder()});
  };
  CHECK(check(false).text() == "");
  CHECK(found_only(check(true), "a stored JPEG is decoded to the image's pixels"));
  // The files are kept as they are.
  const std::vector<Bytes> files = jpegs();
  const ps::Pipeline p = ps::from(StoredPhotos{files}) | ps::encode_jpeg("image", {.keep_stored = true});
  for (std::size_t i = 0; i < files.size(); ++i) {
    const ps::OwnedSample sample = p.at(i);
    CHECK(Bytes(sample["image"].data, sample["image"].data + sample["image"].bytes()) == files[i]);
  }
}
