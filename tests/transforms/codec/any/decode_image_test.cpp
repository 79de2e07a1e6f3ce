// SPDX-License-Identifier: Apache-2.0
// Several formats in one data set: each sample as its own decoder makes it.
#include <cstring>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/transforms/decode_image.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/decode_png.hpp>
#include <penstock/transforms/encode_jpeg.hpp>
#include <penstock/transforms/image.hpp>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "transforms/codec/encoded.hpp"
#include "transforms/codec/png/png_files.hpp"

namespace ps = penstock;
using namespace penstock_test;

namespace {

bool is_png(const Bytes& file) { return file[0] == std::byte{0x89}; }

// Images of several sizes and kinds, by turns.
Encoded mixed() {
  Encoded source;
  for (int i = 0; i < 12; ++i) {
    const ps::ImageShape shape{40 + 7 * i, 90 - 3 * i, i % 4 == 0 ? 1 : 3};
    source.files.push_back(
        ps::encode_jpeg(photo(shape, static_cast<std::uint64_t>(i)).view(), {.restart_rows = i % 3}));
    const int color = i % 2 == 0 ? 2 : i % 3 == 0 ? 0 : 6;
    const PngKind kind{.color = color, .depth = 8, .interlaced = i % 5 == 0};
    source.files.push_back(PngFile(kind, {50 + i, 60 + i}, static_cast<std::uint64_t>(i)).bytes());
  }
  return source;
}

ps::Error error_of(const std::string& data, const ps::DecodeImageOptions& options = {}) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data.data());
  const Encoded source{{Bytes(bytes, bytes + data.size())}};
  try {
    (void)(ps::from(source) | ps::decode_image("image", options)).at(0);
  } catch (const ps::Error& error) {
    return error;
  }
  throw std::runtime_error("nothing was thrown");
}

}  // namespace

TEST_CASE("each image is decoded as its own decoder does, with the stages after it") {
  const Encoded source = mixed();
  const auto after = [](const ps::Pipeline& p) {
    return p | ps::random_resized_crop("image", {24, 20}) | ps::random_flip("image") | ps::normalize("image");
  };
  const ps::Pipeline any = after(ps::from(source) | ps::decode_image());
  const ps::Pipeline alone = any | ps::check({.fold = false});
  // A stage's draws follow its name and place, so that those of the three pipelines agree.
  const ps::Pipeline jpeg = after(ps::from(source) | ps::decode_jpeg()),
                     png = after(ps::from(source) | ps::decode_png());
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    const ps::OwnedSample sample = any.at(i);
    const ps::TensorView made = sample["image"];
    for (const ps::Pipeline& other : {is_png(source.files[i]) ? png : jpeg, alone}) {
      const ps::OwnedSample wanted_sample = other.at(i);
      const ps::TensorView wanted = wanted_sample["image"];
      REQUIRE(made.shape == wanted.shape);
      REQUIRE(std::memcmp(made.data, wanted.data, made.bytes()) == 0);
    }
  }
}

TEST_CASE("a loader makes batches of JPEG and PNG at any number of threads") {
  const ps::Pipeline p =
      ps::from(mixed()) | ps::shuffle() | ps::decode_image() | ps::resize("image", {16, 16}) | ps::batch(5);
  std::vector<Bytes> first;
  for (const unsigned threads : {1u, 4u}) {
    ps::Loader loader(p, {.threads = threads, .epochs = 2});
    std::size_t number = 0;
    for (int epoch = 0; epoch < 2; ++epoch)
      for (const ps::Batch& batch : loader.epoch()) {
        const ps::TensorView images = batch["image"];
        const Bytes bytes(images.data, images.data + images.bytes());
        if (threads == 1) {
          first.push_back(bytes);
        } else {
          REQUIRE(number < first.size());
          REQUIRE(first[number] == bytes);
        }
        ++number;
      }
    CHECK(number == 10);
  }
}

TEST_CASE("colours are those of both decoders") {
  const Encoded source = mixed();
  const auto schema = [&](ps::DecodeImageOptions::Color color) {
    return (ps::from(source) | ps::decode_image("image", {.color = color})).schema().to_string();
  };
  CHECK(schema(ps::DecodeImageOptions::rgb) == "{image: u8[?, ?, 3]}");
  CHECK(schema(ps::DecodeImageOptions::gray) == "{image: u8[?, ?, 1]}");
  CHECK(schema(ps::DecodeImageOptions::as_stored) == "{image: u8[?, ?, ?]}");
  const ps::Pipeline stored =
      ps::from(source) | ps::decode_image("image", {.color = ps::DecodeImageOptions::as_stored});
  CHECK(stored.at(0)["image"].shape[2] == 1);
  CHECK(stored.at(2)["image"].shape[2] == 3);
  CHECK(stored.at(3)["image"].shape[2] == 4);
  const ps::Pipeline gray = ps::from(source) | ps::decode_image("image", {.color = ps::DecodeImageOptions::gray});
  for (std::uint64_t i = 0; i < source.size(); ++i) CHECK(gray.at(i)["image"].shape[2] == 1);
}

TEST_CASE("each image becomes 16 bits where these are asked for") {
  Encoded source = mixed();
  source.files.push_back(PngFile({2, 16, false}, {30, 31}, 3).bytes());
  const ps::Pipeline wide = ps::from(source) | ps::decode_image("image", {.dtype = ps::DType::u16}),
                     narrow = ps::from(source) | ps::decode_image("image", {.high_byte = true});
  CHECK(wide.schema().to_string() == "{image: u16[?, ?, 3]}");
  const auto part = [](const ps::Pipeline& p) {
    return p | ps::random_crop("image", {24, 20}, {.padding = 2}) | ps::random_flip("image");
  };
  const ps::Pipeline cropped = part(wide), alone = cropped | ps::check({.fold = false});
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    const ps::OwnedSample a = wide.at(i), b = narrow.at(i);
    const ps::TensorView large = a["image"], small = b["image"];
    REQUIRE(large.shape == small.shape);
    const auto* values = reinterpret_cast<const std::uint16_t*>(large.data);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(small.data);
    int odd = 0;
    for (std::size_t k = 0; k < small.bytes(); ++k) {
      REQUIRE(values[k] / 256 == bytes[k]);
      odd += values[k] % 257 != 0;
    }
    CHECK((odd > 0) == (i + 1 == source.size()));
    const ps::OwnedSample c = cropped.at(i), d = alone.at(i);
    REQUIRE(std::memcmp(c["image"].data, d["image"].data, c["image"].bytes()) == 0);
  }
  CHECK_THROWS_AS(ps::any_image_decoder({.dtype = ps::DType::i16}), ps::Error);
}

TEST_CASE("data that begins like neither is an error with its first bytes") {
  const ps::Error gif = error_of("GIF89a and more");
  CHECK(gif.code() == ps::Errc::unsupported);
  CHECK(gif.sample_scoped());
  CHECK(gif.cause().find("0x47 0x49 0x46 0x38 0x39 0x61 0x20 0x61 (GIF)") != std::string::npos);
  CHECK(gif.stage() == "decode_image(image)");
  CHECK(gif.offset() == 0u);
  CHECK(error_of("II*").cause().find("begins with 0x49 0x49 0x2a,") != std::string::npos);
  CHECK(gif.cause().find("none of JPEG, PNG, WebP and TIFF") != std::string::npos);
  CHECK(error_of("RIFF1234WEBQ").cause().find("begins with 0x52 0x49 0x46 0x46 0x31 0x32 0x33 0x34,") !=
        std::string::npos);
  CHECK(error_of("RIFX").cause().find("begins with 0x52 0x49 0x46 0x58,") != std::string::npos);
  CHECK(error_of("BM123").cause().find("BMP") != std::string::npos);
  CHECK(error_of("\xff").cause().find("begins with 0xff,") != std::string::npos);
  CHECK(error_of("").code() == ps::Errc::corrupt);
  // What begins right and goes on wrong is for the decoder to say.
  CHECK(error_of("\xff\xd8 and nothing").code() == ps::Errc::corrupt);
  CHECK(error_of("\x89PNG\n\n damaged").code() == ps::Errc::corrupt);
}

TEST_CASE("limits hold for both kinds, and one bad image does no harm to the next") {
  const Encoded source = mixed();
  const ps::Pipeline few = ps::from(source) | ps::decode_image("image", {.max_pixels = 100});
  for (const unsigned i : {0u, 1u}) {
    try {
      (void)few.at(i);
      FAIL("it was decoded");
    } catch (const ps::Error& error) {
      CHECK(error.code() == ps::Errc::limit_exceeded);
    }
  }
  CHECK_THROWS_AS(ps::any_image_decoder({.max_pixels = 0}), ps::Error);
  CHECK_THROWS_AS(ps::any_image_decoder({.max_scans = 0}), ps::Error);
  const auto decoding = ps::any_image_decoder()->start();
  TestScratch scratch;
  CHECK_THROWS_AS(decoding->decode({0, 0, 1, 1}, false, nullptr, scratch), ps::Error);
  const Bytes garbage(20, std::byte{1});
  for (int round = 0; round < 3; ++round) {
    for (const Bytes& file : {source.files[0], source.files[1]}) {
      const ps::ImageShape shape = decoding->open(file);
      CHECK(decoding->decode({0, 0, shape.height, shape.width}, true, nullptr, scratch).shape == shape);
    }
    CHECK_THROWS_AS(decoding->open(garbage), ps::Error);
    CHECK_THROWS_AS(decoding->decode({0, 0, 1, 1}, false, nullptr, scratch), ps::Error);
  }
}

namespace {

// image: u8[?] and mask: u8[?], one with a palette where `palette`.
struct Masked {
  bool palette = true;
  Encoded images{}, masks{};
  explicit Masked(bool with_palette) : palette(with_palette) {
    for (int i = 0; i < 8; ++i) {
      images.files.push_back(PngFile({.color = 2}, {20, 24}, static_cast<std::uint64_t>(i)).bytes());
      masks.files.push_back(mask(static_cast<std::uint64_t>(i)).bytes());
    }
  }
  PngFile mask(std::uint64_t i) const { return {{.color = palette ? 3 : 0, .depth = 8}, {20, 24}, i}; }
  std::uint64_t size() const { return images.size(); }
  ps::Schema schema() const {
    return {{"image", ps::DType::u8, {ps::dynamic}}, {"mask", ps::DType::u8, {ps::dynamic}}};
  }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    out.view("image", images.files[i]);
    out.view("mask", masks.files[i]);
  }
};

std::string notes_of(const ps::Pipeline& pipeline) {
  ps::Loader loader(pipeline, {.threads = 2, .epochs = 1});
  for (const ps::Batch& batch : loader.epoch()) CHECK(batch.size() != 0);
  std::string notes;
  for (const std::string& note : loader.report().notes) notes += note + "\n";
  return notes;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

constexpr auto any_labels = ps::DecodeImageOptions::labels;
constexpr auto any_gray = ps::DecodeImageOptions::gray;

}  // namespace

TEST_CASE("labels are a PNG's numbers as they are, and no JPEG has any") {
  const Masked source(true);
  for (const ps::DType dtype : {ps::DType::u8, ps::DType::u16}) {
    const ps::Pipeline p = ps::from(source) | ps::decode_image("mask", {.color = any_labels, .dtype = dtype});
    CHECK(p.schema().at("mask") == ps::Field{"mask", dtype, {ps::dynamic, ps::dynamic, 1}});
    for (std::uint64_t i = 0; i < source.size(); ++i) {
      const ps::OwnedSample sample = p.at(i);
      const Image wanted = source.mask(i).expected(ps::PngOptions::labels, dtype);
      const ps::TensorView made = sample["mask"];
      REQUIRE(made.bytes() == wanted.pixels.size());
      REQUIRE(std::memcmp(made.data, wanted.pixels.data(), made.bytes()) == 0);
    }
  }
  const Encoded mixture = mixed();
  const ps::Pipeline p = ps::from(mixture) | ps::decode_image("image", {.color = any_labels});
  for (std::uint64_t i = 0; i < mixture.size(); ++i) {
    if (is_png(mixture.files[i])) continue;
    try {
      (void)p.at(i);
      FAIL("a JPEG has labels");
    } catch (const ps::Error& error) {
      CHECK(error.code() == ps::Errc::unsupported);
      CHECK(has(error.cause(), "the data is a JPEG, which keeps no label as it was: store masks as PNG"));
    }
  }
}

TEST_CASE("a palette that becomes grey is told by the report, and by the plan where it reaches a mask") {
  const auto cropped = [](const ps::Pipeline& p) { return p | ps::random_crop({"image", "mask"}, {16, 16}); };
  const ps::Pipeline images = ps::from(Masked(true)) | ps::decode_image("image");
  const ps::Pipeline gray = images | ps::decode_image("mask", {.color = any_gray});
  const std::string told =
      "decode_image(mask) + random_crop(image, mask): 8 images had a palette, whose numbers became "
      "the grey of their colours; where these numbers are labels, decode with `.color = labels`";
  CHECK(has(notes_of(cropped(gray) | ps::batch(4)), told));
  CHECK(has((cropped(gray) | ps::batch(4)).plan(),
            "        mask is used as a mask: the numbers of a PNG's palette become the grey of their colours, and grey "
            "values of fewer than 8 bits are scaled; `.color = labels` keeps both as they are\n"));
  // Behind another name, and a stage that ends the fold.
  const ps::Pipeline behind = gray | ps::rename("mask", "regions") |
                              ps::map("regions", [](ps::View<std::uint8_t, 3>) {}) |
                              ps::resize({"image", "regions"}, {16, 16});
  CHECK(has(behind.plan(), "is used as a mask: the numbers of a PNG's palette become"));
  // After batch, where all is done there, and where only the size is.
  const ps::Stage resized = ps::resize({"image", "mask"}, {16, 16});
  const auto packed = [](const ps::Pipeline& p) { return p | ps::ragged("image") | ps::ragged("mask") | ps::batch(4); };
  const ps::Pipeline all_after = packed(ps::from(Masked(true))) | ps::decode_image("image") |
                                 ps::decode_image("mask", {.color = any_gray}) | resized;
  CHECK(has(all_after.plan(), "is used as a mask: the numbers of a PNG's palette become"));
  CHECK(has(notes_of(all_after), "decode_image(image) + decode_image(mask): 8 images had a palette"));
  CHECK(has((packed(gray) | resized).plan(), "is used as a mask: the numbers of a PNG's palette become"));
  CHECK_FALSE(has((packed(gray) | ps::resize("image", {16, 16}) | ps::resize("mask", {16, 16})).plan(), "palette"));
  // Records that many samples share are decoded before the samples are.
  const ps::Pipeline twice = cropped(gray) | ps::on_error({.policy = ps::OnError::drop}) | ps::batch(4);
  CHECK(has(notes_of(twice), ": 8 images had a palette"));
  CHECK(has(notes_of(cropped(ps::from(Masked(true)) | ps::decode_png() |
                             ps::decode_png("mask", {.color = ps::PngOptions::gray})) |
                     ps::batch(4)),
            ": 8 images had a palette"));

  for (const ps::Pipeline& quiet : {images | ps::decode_image("mask", {.color = any_labels}),
                                    images | ps::decode_png("mask", {.color = ps::PngOptions::labels})}) {
    CHECK_FALSE(has(notes_of(cropped(quiet) | ps::batch(4)), "palette"));
    CHECK_FALSE(has(cropped(quiet).plan(), "palette"));
  }
  const ps::Pipeline grey_masks =
      ps::from(Masked(false)) | ps::decode_image("image") | ps::decode_image("mask", {.color = any_gray});
  CHECK_FALSE(has(notes_of(cropped(grey_masks) | ps::batch(4)), "palette"));
  // In pictures the colours of a palette are what is wanted.
  CHECK_FALSE(has((gray | ps::random_crop("image", {16, 16})).plan(), "palette"));
}

TEST_CASE("decode_image decodes JPEGs at the same scales as decode_jpeg, and PNGs in full") {
  const Encoded source = mixed();
  using Scale = ps::JpegOptions::Scale;
  for (const Scale scale : {Scale::half, Scale::quarter, Scale::eighth, Scale::fit}) {
    const auto image = ps::any_image_decoder({.scale = scale})->start(),
               jpeg = ps::jpeg_decoder({.scale = scale})->start(), png = ps::png_decoder()->start();
    for (const Bytes& file : source.files) {
      TestScratch scratch;
      ps::ImageDecoding& alone = is_png(file) ? *png : *jpeg;
      const ps::ImageShape shape = alone.open(file);
      REQUIRE(image->open(file) == shape);
      const ps::Box all{0, 0, shape.height, shape.width};
      CHECK(copied(image->decode(all, true, nullptr, scratch)) == copied(alone.decode(all, true, nullptr, scratch)));
    }
  }
  const auto shrunk = [&](const ps::Stage& decode) {
    Encoded one;
    one.files = {source.files[4]};
    return all_bytes(ps::from(one) | decode | ps::random_resized_crop("image", {6, 6}) | ps::batch(1));
  };
  REQUIRE_FALSE(is_png(source.files[4]));
  CHECK(shrunk(ps::decode_image("image", {.scale = Scale::fit})) ==
        shrunk(ps::decode_jpeg("image", {.scale = Scale::fit})));
  CHECK(shrunk(ps::decode_image("image", {.scale = Scale::fit})) != shrunk(ps::decode_image("image")));
  const ps::Pipeline packed = ps::from(source) | ps::ragged("image") | ps::batch(2);
  CHECK_THROWS_AS(packed | ps::decode_image("image", {.scale = Scale::fit}), ps::Error);
}

TEST_CASE("labels that are named as a picture are refused, and how each field is resampled is told") {
  const auto cause = [](const ps::Pipeline& p, const ps::Stage& stage) -> std::string {
    try {
      (void)(p | stage);
    } catch (const ps::Error& error) {
      CHECK(error.code() == ps::Errc::invalid_argument);
      CHECK(error.stage().starts_with("resize(") + error.stage().starts_with("random_flip(") == 1);
      return error.cause();
    }
    return "";
  };
  const ps::Pipeline images = ps::from(Masked(true)) | ps::decode_image("image");
  const ps::Pipeline png = images | ps::decode_png("mask", {.color = ps::PngOptions::labels}),
                     any = images | ps::decode_image("mask", {.color = any_labels}),
                     renamed = images | ps::rename("mask", "m") |
                               ps::decode_png("m", {.color = ps::PngOptions::labels}) | ps::rename("m", "mask"),
                     in_place = any | ps::map("mask", [](ps::View<std::uint8_t, 3>) {}),
                     resized = any | ps::resize({"image", "mask"}, {18, 18});
  for (const ps::Pipeline& p : {png, any, renamed, in_place, resized}) {
    CHECK(cause(p, ps::resize({"mask", "image"}, {16, 16})) ==
          "field \"mask\" was decoded as labels, which are never interpolated, but is named as a picture here: write "
          "resize({\"image\", \"mask\"}, ...), the picture first");
    CHECK(has(cause(p, ps::random_flip({"mask", "image"})), "write random_flip({\"image\", \"mask\"}, ...)"));
    CHECK(has(cause(p, ps::resize("mask", {16, 16})), ": write mask(\"mask\") for it"));
    CHECK(has(cause(p, ps::resize({"image", {"mask", ps::Filter::linear}}, {16, 16})), "write resize({"));
    CHECK_NOTHROW(p | ps::resize({"image", "mask"}, {16, 16}));
    CHECK_NOTHROW(p | ps::resize(ps::mask("mask"), {16, 16}));
    CHECK_NOTHROW(p | ps::random_flip("mask"));
  }
  // What a map makes of labels may be anything.
  const ps::Pipeline soft =
      any | ps::map("mask", [](ps::View<const std::uint8_t, 3> in, ps::View<std::uint8_t, 3> out) {
        std::memcpy(out.data(), in.data(), static_cast<std::size_t>(in.extent(0) * in.extent(1)));
      });
  CHECK_NOTHROW(soft | ps::resize({"mask", "image"}, {16, 16}));
  const std::string plan = (any | ps::resize({"image", "mask"}, {16, 16}) | ps::random_flip({"image", "mask"})).plan();
  CHECK(has(plan,
            "resize(image, mask) + random_flip(image, mask): one operation; only the region that is needed is "
            "decoded, damage elsewhere is found by a PNG's check sums, and in other images left to the "
            "source's checksum, if it has one; resampled by interpolation -> image"));
  CHECK(has(plan, "; resampled by nearest; draws are those of the first field -> mask"));
  CHECK(has((images | ps::resize({ps::mask("image")}, {16, 16}) | ps::resize("image", {12, 12})).plan(),
            "; resampled by interpolation, and by nearest -> image"));
  CHECK_FALSE(has((images | ps::random_flip("image")).plan(), "resampled"));
}
