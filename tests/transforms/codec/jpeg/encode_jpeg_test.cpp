// SPDX-License-Identifier: Apache-2.0
// The stage encode_jpeg: what it makes, and of which images it keeps the stored file.
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/penstock.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/encode_jpeg.hpp>
#include <penstock/transforms/image.hpp>
#include <penstock/transforms/seekable_jpeg.hpp>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "support/thrown.hpp"
#include "transforms/codec/encoded.hpp"
#include "transforms/codec/jpeg/jpeg_files.hpp"
#include "transforms/codec/jpeg/plain_jpeg.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

Bytes field_of(const OwnedSample& sample, std::string_view field = "image") {
  return Bytes(sample[field].data, sample[field].data + sample[field].bytes());
}

const ImageShape color{45, 70, 3}, grey{45, 70, 1};

// What the header tells of its size made this.
Bytes with_size(Bytes bytes, unsigned height, unsigned width) {
  const std::size_t at = after_marker(bytes, 0xc0) + 3;
  const unsigned values[] = {height >> 8, height & 255, width >> 8, width & 255};
  for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<std::byte>(values[i]);
  return bytes;
}

}  // namespace

TEST_CASE("the stage encode_jpeg makes what the function makes") {
  const auto jpegs = std::vector<Bytes>{encode_jpeg(photo(color).view()), encode_jpeg(photo({64, 33, 3}, 1).view()),
                                        encode_jpeg(photo(grey, 2).view())};
  const Pipeline p = from(Encoded{jpegs}) | decode_jpeg("image", {.color = JpegOptions::as_stored});
  struct Case {
    EncodeJpegStageOptions stage;
    EncodeJpegOptions function;
  };
  const std::vector<Case> cases{{{}, {}},
                                {{.quality = 40}, {.quality = 40}},
                                {{.subsampling = 444}, {.subsampling = 444}},
                                {{.progressive = true}, {.progressive = true}},
                                {{.restart_rows = 2}, {.restart_rows = 2}},
                                {{.keep_stored = true, .out = "image"}, {}}};
  for (const Case& one : cases) {
    for (std::size_t i = 0; i < jpegs.size(); ++i) {
      const Image image = plain_decode(jpegs[i], i == 2);
      if (!one.stage.keep_stored)
        CHECK(field_of((p | encode_jpeg("image", one.stage)).at(i)) == encode_jpeg(image.view(), one.function));
      // What was done to it is in the file, whatever is kept.
      const Box box{5, 6, 20, 17};
      CHECK(field_of((p | crop("image", box) | encode_jpeg("image", one.stage)).at(i)) ==
            encode_jpeg(image.view(box), one.function));
    }
  }
  CHECK((p | encode_jpeg()).schema().to_string() == "{image: u8[?]}");
  CHECK((p | encode_jpeg("image", {.out = "jpeg"})).schema().to_string() == "{image: u8[?, ?, ?], jpeg: u8[?]}");
  const std::string plan =
      (p | encode_jpeg("image", {.quality = 80, .progressive = true, .restart_rows = 1, .keep_stored = true})).plan();
  INFO(plan);
  CHECK(plan.find("quality 80, subsampling 420, progressive, restart_rows 1, keep_stored; stored JPEGs are kept where "
                  "nothing was done to the image -> image: u8[?]\n") != std::string::npos);
}

TEST_CASE("decode_jpeg's file is kept exactly where default options make the same pixels of it") {
  struct Case {
    std::string name;
    Bytes file;
    JpegOptions options;
    bool kept;
  };
  const Bytes colors = encode_jpeg(photo(color, 1, 20).view()), greys = encode_jpeg(photo(grey, 1, 20).view());
  const Bytes progressive = encode_jpeg(photo(color, 2, 20).view(), {.progressive = true});
  const Bytes scans = plain_encode(photo(color, 3, 20), {.one_scan_each = true});
  const Bytes of_rgb = plain_encode(photo(color, 4, 20), {.luma = {1, 1}, .colors = PlainJpeg::rgb, .jfif = false});
  const Bytes inks = plain_encode(photo({45, 70, 4}, 5, 20), {.colors = PlainJpeg::inks, .jfif = false, .adobe = true});
  const Bytes ycck = plain_encode(photo({45, 70, 4}, 5, 20), {.colors = PlainJpeg::cmyk, .jfif = false, .adobe = true});
  const auto turned = [&](int orientation) { return with_inserted(colors, 2, exif_segment(orientation, false)); };
  Bytes tail = colors;
  tail.resize(tail.size() + 1000, std::byte{9});
  constexpr auto as_stored = JpegOptions::as_stored;
  const std::vector<Case> cases{
      {"colours as rgb", colors, {}, true},
      {"colours as stored", colors, {.color = as_stored}, true},
      {"colours as grey", colors, {.color = JpegOptions::gray}, false},
      {"grey as rgb", greys, {}, true},
      {"grey as stored", greys, {.color = as_stored}, true},
      {"grey as grey", greys, {.color = JpegOptions::gray}, true},
      {"progressive", progressive, {}, true},
      {"several scans", scans, {}, true},
      {"RGB", of_rgb, {}, true},
      {"RGB as grey", of_rgb, {.color = JpegOptions::gray}, false},
      {"by libjpeg", colors, {.decoder = JpegOptions::Decoder::libjpeg}, true},
      {"with bytes behind it", tail, {}, true},
      {"seekable", seekable_jpeg(colors), {}, true},
      {"inks", inks, {}, false},
      {"inks by the marker", inks, {.cmyk = JpegOptions::Cmyk::by_marker}, false},
      {"YCCK", ycck, {}, false},
      {"guessed", colors, {.accept_warnings = true}, false},
      {"turned, as it lies", turned(6), {}, true},
      {"turned upright", turned(6), {.apply_orientation = true}, false},
      {"mirrored", turned(2), {.apply_orientation = true}, false},
      {"upright already", turned(1), {.apply_orientation = true}, true},
      {"no orientation", colors, {.apply_orientation = true}, true},
      {"fewer pixels allowed", colors, {.max_pixels = 45 * 70}, true},
      {"more pixels allowed", colors, {.max_pixels = std::uint64_t{1} << 30}, true},
      {"more pixels allowed, in scans", progressive, {.max_pixels = std::uint64_t{1} << 30}, false},
      {"fewer scans allowed", progressive, {.max_scans = 30}, true},
      {"more scans allowed", progressive, {.max_scans = 65}, false},
      {"more scans allowed, not in one", scans, {.max_scans = 65}, false},
      {"more scans allowed, of one", colors, {.max_scans = 65}, true},
  };
  for (const Case& one : cases) {
    CAPTURE(one.name);
    const Pipeline decode = from(Encoded{{one.file}}) | decode_jpeg("image", one.options);
    const OwnedSample image = decode.at(0);
    for (const bool verify : {false, true}) {
      for (const bool fold : {false, true}) {
        const CheckOptions checks{.verify = verify, .fold = fold};
        const Bytes file = field_of((decode | encode_jpeg("image", {.keep_stored = true}) | check(checks)).at(0));
        CHECK((file == one.file) == one.kept);
        if (!one.kept) CHECK(file == field_of((decode | encode_jpeg()).at(0)));
        const OwnedSample both =
            (decode | encode_jpeg("image", {.keep_stored = true, .out = "jpeg"}) | check(checks)).at(0);
        CHECK(field_of(both, "jpeg") == file);
        CHECK(field_of(both) == field_of(image));
      }
    }
    // What is kept has the image's pixels, three times those of a grey one.
    if (!one.kept) continue;
    const Image again = decoded(one.file, {});
    const std::size_t times = static_cast<std::size_t>(3 / image["image"].shape[2]);
    REQUIRE(again.pixels.size() == image["image"].bytes() * times);
    const auto* const pixels = reinterpret_cast<const std::uint8_t*>(image["image"].data);
    bool same = true;
    for (std::size_t i = 0; i < again.pixels.size(); ++i) same = same && again.pixels[i] == pixels[i / times];
    CHECK(same);
  }
}

TEST_CASE("a file of more pixels than default options allow is not handed on") {
  const Bytes jpeg = encode_jpeg(photo({16, 16, 1}).view());
  Bytes large = with_size(jpeg, 20'000, 20'000);
  large.resize(1'000'000);  // as many as so many pixels take at least
  TestScratch scratch;
  const auto decoding = jpeg_decoder({.color = JpegOptions::gray, .max_pixels = std::uint64_t{1} << 30})->start();
  CHECK(decoding->open(large) == ImageShape{20'000, 20'000, 1});
  CHECK(decoding->stored_jpeg(scratch).empty());
  Bytes less = with_size(jpeg, 10'000, 10'000);
  less.resize(1'000'000);
  decoding->open(less);
  CHECK(decoding->stored_jpeg(scratch).data() == less.data());
  CHECK(decoding->stored_jpeg(scratch).size() == less.size());
}

TEST_CASE("a kept file may be damaged behind its header, unless it is verified") {
  Bytes jpeg = encode_jpeg(photo(color).view());
  const Bytes whole = jpeg;
  jpeg.resize(jpeg.size() * 2 / 3);
  Bytes header(whole.begin(), whole.begin() + 30);
  const Pipeline p = from(Encoded{{jpeg, header, whole}}) | decode_jpeg(),
                 kept = p | encode_jpeg("image", {.keep_stored = true});
  CHECK(field_of(kept.at(0)) == jpeg);
  CHECK(field_of(kept.at(2)) == whole);
  const Error of_header = error_of([&] { (void)kept.at(1); });
  CHECK(of_header.code() == Errc::corrupt);
  CHECK(of_header.stage() == "decode_jpeg(image)");
  for (const bool fold : {true, false}) {
    const CheckOptions verify{.verify = true, .fold = fold};
    const Error found = error_of([&] { (void)(kept | check(verify)).at(0); });
    const Error of_pixels = error_of([&] { (void)(p | check(verify)).at(0); });
    CHECK(std::string(found.what()) == of_pixels.what());
    CHECK(field_of((kept | check(verify)).at(2)) == whole);
  }
  // One that nobody could decode is an error where pixels are encoded.
  CHECK(code_of([&] { (void)(p | encode_jpeg()).at(0); }) == Errc::corrupt);
}

TEST_CASE("what is no image for a JPEG is refused, or one bad sample") {
  struct Sides {
    std::int64_t height, width, channels;
    bool fixed;
    std::uint64_t size() const { return 1; }
    Schema schema() const {
      return {{"image", DType::u8, fixed ? Shape{height, width, channels} : Shape{dynamic, dynamic, dynamic}}};
    }
    void read(std::uint64_t, SampleBuilder& out) const {
      const TensorView image = out.emplace(0, {height, width, channels});
      std::memset(image.data, 7, image.bytes());
    }
  };
  for (const auto& dims :
       std::vector<std::array<std::int64_t, 3>>{{65501, 1, 1}, {1, 65501, 3}, {4, 4, 2}, {4, 4, 4}}) {
    const std::int64_t height = dims[0], width = dims[1], channels = dims[2];
    CAPTURE(height, width, channels);
    const Error known = error_of([&] { (void)(from(Sides{height, width, channels, true}) | encode_jpeg()); });
    CHECK(known.code() == Errc::schema_mismatch);
    CHECK(known.stage() == "encode_jpeg(image)");
    const Pipeline p = from(Sides{height, width, channels, false}) | encode_jpeg();
    const Error found = error_of([&] { (void)p.at(0); });
    CHECK(found.code() == Errc::unsupported);
    CHECK(found.stage() == "encode_jpeg(image)");
    CHECK(found.sample_scoped());
  }
  CHECK(field_of((from(Sides{65500, 1, 1, false}) | encode_jpeg()).at(0)).size() > 100);
  const auto refused = [](const EncodeJpegStageOptions& options) {
    return code_of([&] { encode_jpeg("image", options); }) == Errc::invalid_argument;
  };
  CHECK(refused({.quality = 0}));
  CHECK(refused({.quality = 101}));
  CHECK(refused({.subsampling = 411}));
  CHECK(refused({.restart_rows = -1}));
  CHECK(code_of([] { jpeg_encoder({.quality = 0}); }) == Errc::invalid_argument);
}

TEST_CASE("JPEGs are kept and made by any number of threads alike") {
  Encoded source;
  for (int i = 0; i < 40; ++i)
    source.files.push_back(
        encode_jpeg(photo({60 + i % 7, 50 + i % 5, i % 6 == 0 ? 1 : 3}, static_cast<std::uint64_t>(i)).view()));
  const Pipeline p = from(source) | decode_jpeg() | random_flip("image") |
                     encode_jpeg("image", {.keep_stored = true, .out = "kept"}) |
                     encode_jpeg("image", {.quality = 70}) | ragged("image") | ragged("kept");
  const auto rows = [&](unsigned threads, const CheckOptions& checks) {
    std::vector<Bytes> all;
    Loader loader(p | check(checks) | batch(8), {.threads = threads, .epochs = 2});
    for (int epoch = 0; epoch < 2; ++epoch)
      for (const Batch& made : loader.epoch())
        for (const char* field : {"image", "kept"}) {
          const RaggedRows of_field = made.ragged(field);
          for (std::size_t i = 0; i < of_field.size(); ++i)
            all.emplace_back(of_field[i].data, of_field[i].data + of_field[i].bytes());
        }
    return all;
  };
  const std::vector<Bytes> expected = rows(1, {});
  REQUIRE(expected.size() == 160);
  std::size_t kept = 0;
  for (const Bytes& file : expected)
    for (const Bytes& stored : source.files) kept += file == stored ? 1 : 0;
  CHECK(kept > 20);
  CHECK(kept < 60);
  for (const unsigned threads : {2u, 5u})
    for (const bool fold : {true, false})
      for (const bool verify : {true, false}) CHECK(rows(threads, {.verify = verify, .fold = fold}) == expected);
}
