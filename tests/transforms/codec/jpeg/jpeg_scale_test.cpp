// SPDX-License-Identifier: Apache-2.0
// JPEGs that are decoded at a part of their size.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/jpeg_stream_decoder.hpp>
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
using Scale = JpegOptions::Scale;

namespace {

constexpr std::array scales{std::pair{Scale::half, 2}, std::pair{Scale::quarter, 4}, std::pair{Scale::eighth, 8}};

Size reduced(Size size, std::int32_t by) { return {(size.height + by - 1) / by, (size.width + by - 1) / by}; }

Image by_libjpeg(const Bytes& bytes, Size size, std::int32_t by, bool gray = false) {
  const Size small = reduced(size, by);
  return plain_crop(bytes, {0, 0, small.height, small.width}, gray, true, by);
}

// The files whose images are decoded in other ways, or partly by libjpeg.
std::vector<std::pair<std::string, Bytes>> files_of(const Image& image) {
  return {{"baseline", plain_encode(image, {})},
          {"4:2:2", plain_encode(image, {.luma = {2, 1}})},
          {"progressive", plain_encode(image, {.progressive = true})},
          {"a scan for each component", plain_encode(image, {.one_scan_each = true})},
          {"restarts", seekable_jpeg(plain_encode(image, {}), {.every = 1})}};
}

// A linear resize of the part of a reduced image that shows `box`, by its definition.
Image resized(const Image& small, const Reduction& reduction, const Box& box, Size to) {
  struct Axis {
    double begin, length;
    std::int32_t low, high;  // the pixels that show the box
    std::int32_t out;
  };
  const auto axis = [&](std::int32_t first, std::int32_t length, std::int32_t beyond, std::int32_t out) {
    const double by = reduction.by, begin = (first + beyond) / by, size = length / by;
    return Axis{begin, size, static_cast<std::int32_t>(std::floor(begin)),
                static_cast<std::int32_t>(std::ceil(begin + size)), out};
  };
  const auto weights = [](const Axis& a, std::int32_t i) {
    const double scale = a.length / a.out, support = std::max(1.0, scale), center = a.begin + (i + 0.5) * scale;
    std::vector<double> of;
    double total = 0;
    for (std::int32_t k = a.low; k < a.high; ++k) {
      of.push_back(std::max(0.0, 1 - std::abs(k + 0.5 - center) / support));
      total += of.back();
    }
    for (double& weight : of) weight /= total;
    return of;
  };
  const Axis rows = axis(box.top, box.height, reduction.top, to.height),
             columns = axis(box.left, box.width, reduction.left, to.width);
  Image out({to.height, to.width, small.shape.channels});
  for (std::int32_t y = 0; y < to.height; ++y) {
    const std::vector<double> of_rows = weights(rows, y);
    for (std::int32_t x = 0; x < to.width; ++x) {
      const std::vector<double> of_columns = weights(columns, x);
      for (std::int32_t c = 0; c < small.shape.channels; ++c) {
        double sum = 0;
        for (std::size_t j = 0; j < of_rows.size(); ++j)
          for (std::size_t i = 0; i < of_columns.size(); ++i)
            sum += of_rows[j] * of_columns[i] *
                   small.at(rows.low + static_cast<std::int32_t>(j), columns.low + static_cast<std::int32_t>(i), c);
        out.at(y, x, c) = static_cast<std::uint8_t>(std::lround(sum));
      }
    }
  }
  return out;
}

int largest_difference(const Image& a, const Image& b) {
  REQUIRE(a.shape == b.shape);
  int most = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i)
    most = std::max(most, std::abs(int{a.pixels[i]} - int{b.pixels[i]}));
  return most;
}

// Files in memory.
class Files {
 public:
  explicit Files(std::vector<Bytes> files) : files_(std::make_shared<std::vector<Bytes>>(std::move(files))) {}
  std::uint64_t size() const { return files_->size(); }
  Schema schema() const { return {{"image", DType::u8, {dynamic}}}; }
  void read(std::uint64_t i, SampleBuilder& out) const { out.view("image", (*files_)[i]); }

 private:
  std::shared_ptr<std::vector<Bytes>> files_;
};

Image first_of(const Pipeline& pipeline, Size size, std::int32_t channels = 3) {
  Image image({size.height, size.width, channels});
  const std::vector<std::byte> bytes = all_bytes(pipeline | batch(1));
  REQUIRE(bytes.size() == image.pixels.size());
  std::memcpy(image.pixels.data(), bytes.data(), bytes.size());
  return image;
}

}  // namespace

TEST_CASE("a fixed scale gives libjpeg's pixels of that size, of every kind of file and every part") {
  const Size size{93, 131};
  Numbers numbers(3);
  for (const auto& [kind, bytes] : files_of(photo({size.height, size.width, 3}, 4, 20))) {
    for (const auto& [scale, by] : scales) {
      CAPTURE(kind, by);
      const Image whole = by_libjpeg(bytes, size, by);
      CHECK(decoded(bytes, {.scale = scale}) == whole);
      CHECK(decoded(bytes, {.color = JpegOptions::gray, .scale = scale}) == by_libjpeg(bytes, size, by, true));
      CHECK(decoded(bytes, {.scale = scale, .decoder = JpegOptions::Decoder::libjpeg}) == whole);
      for (const auto decoder : {JpegOptions::Decoder::automatic, JpegOptions::Decoder::libjpeg}) {
        const auto decoding = jpeg_decoder({.scale = scale, .decoder = decoder})->start();
        for (int n = 0; n < 40; ++n) {
          const Box box = random_box(numbers, whole.shape);
          CAPTURE(box.top, box.left, box.height, box.width);
          TestScratch scratch;
          REQUIRE(decoding->open(bytes) == whole.shape);
          REQUIRE(copied(decoding->decode(box, n % 4 == 0, nullptr, scratch)) == cut(whole, box));
          REQUIRE(copied(decoding->decode(box, false, nullptr, scratch)) == cut(whole, box));
        }
      }
    }
  }
}

TEST_CASE("four inks and upright images have a fixed scale, too") {
  const Size size{40, 51};
  const Bytes inks = plain_encode(photo({size.height, size.width, 4}, 4), {.colors = PlainJpeg::cmyk});
  const Image wide = decoded(inks);
  for (const auto& [scale, by] : scales) {
    const Image small = decoded(inks, {.scale = scale});
    CHECK(small.shape.size() == reduced(size, by));
    CHECK(std::abs(int{small.at(0, 0, 0)} - int{wide.at(by / 2, by / 2, 0)}) < 60);
  }
  const Bytes plain = plain_encode(photo({45, 70, 3}, 3, 20), {});
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Bytes bytes = with_inserted(plain, 2, exif_segment(orientation, false));
    for (const auto& [scale, by] : scales) {
      const Image stored = by_libjpeg(plain, {45, 70}, by);
      ImageOp op(stored.shape);
      constexpr int quarters[] = {0, 0, 2, 2, 1, 3, 1, 1};
      op.rot90(quarters[orientation - 1]);
      if (orientation == 2 || orientation == 4 || orientation == 7) op.flip_horizontal();
      if (orientation == 5) op.flip_vertical();
      Image upright(op.shape());
      TestScratch scratch;
      image_executor().run(stored.view(), op, reinterpret_cast<std::byte*>(upright.pixels.data()), scratch);
      CAPTURE(orientation, by);
      CHECK(decoded(bytes, {.scale = scale, .apply_orientation = true}) == upright);
    }
  }
}

TEST_CASE("`fit` decodes at the smallest size that the resize allows, and resizes exactly the part that is wanted") {
  const Size size{301, 403};
  const Image image = photo({size.height, size.width, 3}, 9, 6);
  Numbers numbers(11);
  for (const auto& [kind, bytes] : files_of(image)) {
    const Pipeline full = from(Files({bytes})) | decode_jpeg("image", {.scale = Scale::full}),
                   fit = from(Files({bytes})) | decode_jpeg("image", {.scale = Scale::fit});
    std::array<int, 9> counts{};
    for (int n = 0; n < 25; ++n) {
      Box box = random_box(numbers, {size.height, size.width, 3});
      Size to{numbers.from(1, 60), numbers.from(1, 60)};
      // As many pixels as the result has, but between those of the reduced image.
      if (n == 0) box = {5, 3, 80, 160}, to = {20, 40};
      Reduction reduction;
      for (const std::int32_t by : {2, 4, 8})
        if (by * to.height <= box.height && by * to.width <= box.width) reduction.by = by;
      ++counts[static_cast<std::size_t>(reduction.by)];
      CAPTURE(kind, box.top, box.left, box.height, box.width, to.height, to.width, reduction.by);
      const auto shrunk = [&](const Pipeline& images) {
        return first_of(images | crop("image", box) | resize("image", to), to);
      };
      const Image found = shrunk(fit);
      if (reduction.by == 1) {
        CHECK(found == shrunk(full));
      } else {
        CHECK(largest_difference(found, resized(by_libjpeg(bytes, size, reduction.by), reduction, box, to)) <= 1);
        // Mirrored before the resize, which counts columns from the other side.
        const Image mirrored = first_of(fit | crop("image", box) | flip_horizontal("image") | flip_vertical("image") |
                                            resize("image", to) | rot90("image", 2),
                                        to);
        CHECK(largest_difference(mirrored, found) <= 1);
      }
      // A part of the resized image has the same pixels.
      const Box part = random_box(numbers, {to.height, to.width, 3});
      CHECK(first_of(fit | crop("image", box) | resize("image", to) | crop("image", part), part.size()) ==
            cut(found, part));
    }
    CHECK((counts[1] > 0 && counts[2] > 0 && counts[4] > 0 && counts[8] > 0));
  }
}

TEST_CASE("an image is decoded at any size in turn") {
  const Size size{93, 131};
  for (const auto& [kind, bytes] : files_of(photo({size.height, size.width, 3}, 4, 20))) {
    CAPTURE(kind);
    const auto decoding = jpeg_decoder({.scale = Scale::fit})->start();
    decoding->open(bytes);
    const Box whole{0, 0, size.height, size.width};
    CHECK(decoding->reduction(whole, {93, 131}) == Reduction());
    CHECK(decoding->reduction(whole, {46, 65}) == Reduction{2});
    CHECK(decoding->reduction(whole, {47, 65}) == Reduction{1});
    CHECK(decoding->reduction(whole, {23, 33}) == Reduction{2});
    CHECK(decoding->reduction(whole, {1, 1}) == Reduction{8});
    TestScratch scratch;
    for (const std::int32_t by : {8, 1, 2, 1, 4, 8, 2}) {
      const Size small = reduced(size, by);
      const Box all{0, 0, small.height, small.width};
      const Pixels pixels = by == 1 ? decoding->decode(all, false, nullptr, scratch)
                                    : decoding->decode_reduced({by}, all, false, scratch);
      CHECK(copied(pixels) == by_libjpeg(bytes, size, by));
    }
    CHECK(code_of([&] { decoding->decode_reduced({8}, whole, false, scratch); }) == Errc::invalid_argument);
  }
}

TEST_CASE("`fit` draws like `full`, and gives the same bits folded or not, verified or not") {
  std::vector<Bytes> files;
  for (std::int32_t i = 0; i < 24; ++i)
    files.push_back(plain_encode(photo({120 + 13 * i, 150 + 7 * i, 3}, static_cast<std::uint64_t>(i)),
                                 {.progressive = i % 5 == 4}));
  const auto images = [&](const JpegOptions& options) { return from(Files(files)) | decode_jpeg("image", options); };
  const auto chains = [&](const Pipeline& p) {
    return std::vector{p | random_resized_crop("image", {24, 30}) | random_flip("image"),
                       p | resize_short("image", 40) | center_crop("image", {32, 32}) | normalize("image"),
                       p | random_flip("image") | random_crop("image", {100, 110}) | resize("image", {31, 20}) |
                           random_rot90("image") | resize("image", {16, 16}),
                       p | random_crop("image", {130, 160}, {.padding = 8}) | resize("image", {20, 20}),
                       p | rot90("image") | resize("image", {20, 20}),
                       p | center_crop("image", {64, 64})};
  };
  const auto fit = chains(images({.scale = Scale::fit})), full = chains(images({}));
  for (std::size_t i = 0; i < fit.size(); ++i) {
    CAPTURE(i);
    const std::vector<std::byte> folded = all_bytes(fit[i] | batch(8)), whole = all_bytes(full[i] | batch(8));
    for (const bool verify : {false, true})
      CHECK(all_bytes(fit[i] | check({.verify = verify, .fold = false}) | batch(8)) == folded);
    CHECK(all_bytes(fit[i] | check({.verify = true}) | batch(8)) == folded);
    REQUIRE(folded.size() == whole.size());
    // Only a resize of the encoded image itself can be made of fewer pixels. Crops beyond small images have padding.
    if (i != 3) CHECK((folded == whole) == (i > 3));
    if (i != 0) continue;
    double sum = 0;
    for (std::size_t k = 0; k < folded.size(); ++k)
      sum += std::abs(std::to_integer<int>(folded[k]) - std::to_integer<int>(whole[k]));
    CHECK(sum / static_cast<double>(folded.size()) < 6);
  }
}

TEST_CASE("`fit` gives the same bits before conversions, encoders and caches, however they are carried out") {
  std::vector<Bytes> files;
  for (std::int32_t i = 0; i < 12; ++i)
    files.push_back(plain_encode(photo({100 + 10 * i, 240, 3}, static_cast<std::uint64_t>(i)), {}));
  const auto images = [&](Scale scale) { return from(Files(files)) | decode_jpeg("image", {.scale = scale}); };
  struct Chain {
    const char* what;
    std::function<Pipeline(const Pipeline&)> stages;
    bool same_as_full;
  };
  const EncodeJpegStageOptions kept{.keep_stored = true, .out = "file"}, made{.quality = 80, .out = "file"};
  const std::vector<Chain> chains{
      {"no resize",
       [](const Pipeline& p) {
         return p | center_crop("image", {64, 64}) | normalize("image");
       },
       true},
      {"flips",
       [](const Pipeline& p) {
         return p | random_flip("image") | crop("image", {0, 9, 100, 200}) | normalize("image");
       },
       true},
      {"a resize that changes some images",
       [](const Pipeline& p) {
         return p | resize_short("image", 120) | center_crop("image", {90, 90}) | normalize("image");
       },
       true},
      {"the first resize decides",
       [](const Pipeline& p) {
         return p | resize_short("image", 150) | resize("image", {20, 20});
       },
       true},
      {"a file before the resize",
       [&](const Pipeline& p) {
         return p | encode_jpeg("image", kept) | resize("image", {20, 20}) | drop_fields({"file"});
       },
       true},
      {"a file that is made before the resize",
       [&](const Pipeline& p) {
         return p | encode_jpeg("image", made) | resize("image", {20, 20}) | drop_fields({"file"});
       },
       true},
      {"a file after the resize",
       [&](const Pipeline& p) {
         return p | resize("image", {20, 20}) | encode_jpeg("image", made) | drop_fields({"file"});
       },
       false},
      {"a resize and a conversion",
       [](const Pipeline& p) {
         return p | resize("image", {20, 20}) | normalize("image");
       },
       false}};
  for (const Chain& chain : chains) {
    CAPTURE(chain.what);
    const Pipeline fit = chain.stages(images(Scale::fit));
    const std::vector<std::byte> folded = all_bytes(fit | batch(4));
    for (const bool verify : {false, true})
      for (const bool fold : {false, true})
        CHECK((all_bytes(fit | check({.verify = verify, .fold = fold}) | batch(4)) == folded));
    CHECK((all_bytes(chain.stages(images(Scale::full)) | batch(4)) == folded) == chain.same_as_full);
  }
  const Pipeline small = images(Scale::fit) | resize("image", {30, 30});
  CHECK((all_bytes(small | cache({.max_bytes = MiB(64)}) | random_crop("image", {20, 20}) | batch(4)) ==
         all_bytes(small | random_crop("image", {20, 20}) | batch(4))));
  const auto cached = [](const Pipeline& p) { return p | cache({.max_bytes = MiB(64)}) | resize("image", {30, 30}); };
  for (const Pipeline& early :
       {images(Scale::fit), images(Scale::fit) | center_crop("image", {64, 64}),
        images(Scale::fit) | penstock::rename("image", "picture") | penstock::rename("picture", "image")}) {
    const Error error = error_of([&] { cached(early); });
    CHECK(error.code() == Errc::invalid_argument);
    CHECK(mentions(error, "put the resize before the cache"));
  }
  CHECK_NOTHROW(cached(images(Scale::half)));
  const std::string plan = (images(Scale::fit) | center_crop("image", {64, 64}) | batch(1)).plan();
  CHECK(plan.find("decoded in full, as no resize follows") != plan.npos);
}

TEST_CASE("`fit` of images that are set upright begins at the stored image's corner") {
  // A ramp from left to right and from top to bottom: a place that is off by a pixel is seen in its values.
  const Size size{203, 181};
  Image ramp({size.height, size.width, 3});
  for (std::int32_t y = 0; y < size.height; ++y)
    for (std::int32_t x = 0; x < size.width; ++x) {
      ramp.at(y, x, 0) = static_cast<std::uint8_t>(20 + x), ramp.at(y, x, 1) = static_cast<std::uint8_t>(20 + y);
      ramp.at(y, x, 2) = 90;
    }
  const Bytes plain = plain_encode(ramp, {.quality = 100, .luma = {1, 1}});
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Bytes bytes = with_inserted(plain, 2, exif_segment(orientation, false));
    const auto images = [&](Scale scale) {
      return from(Files({bytes})) | decode_jpeg("image", {.scale = scale, .apply_orientation = true});
    };
    for (const Size to : {Size{20, 21}, Size{40, 41}, Size{70, 71}}) {
      const Box box{13, 9, 160, 165};
      const auto shrunk = [&](Scale scale) {
        return first_of(images(scale) | crop("image", box) | resize("image", to), to);
      };
      CAPTURE(orientation, to.height);
      const Image full = shrunk(Scale::full), fit = shrunk(Scale::fit);
      for (std::int32_t c = 0; c < 2; ++c) {
        double difference = 0;
        for (std::int32_t y = 0; y < to.height; ++y)
          for (std::int32_t x = 0; x < to.width; ++x) difference += int{fit.at(y, x, c)} - int{full.at(y, x, c)};
        CHECK(std::abs(difference / to.height / to.width) < 0.5);
      }
    }
  }
}

TEST_CASE("a reduction that a decoder may not offer is refused") {
  // decode_jpeg, but for its reduction.
  class Decoder final : public ImageDecoder {
   public:
    explicit Decoder(Reduction reduction) : reduction_(reduction) {}
    std::string name() const override { return "decode_wrongly"; }
    std::string describe() const override { return ""; }
    std::int64_t channels() const override { return 3; }
    bool reduces() const override { return true; }
    std::unique_ptr<ImageDecoding> start() const override {
      class Decoding final : public ImageDecoding {
       public:
        explicit Decoding(Reduction reduction) : reduction_(reduction) {}
        ImageShape open(std::span<const std::byte> encoded) override { return jpeg_->open(encoded); }
        Pixels decode(const Box& box, bool verify, std::byte* into, Scratch& scratch) override {
          return jpeg_->decode(box, verify, into, scratch);
        }
        Reduction reduction(const Box&, Size) const override { return reduction_; }
        Pixels decode_reduced(const Reduction& reduction, const Box& box, bool verify, Scratch& scratch) override {
          return jpeg_->decode_reduced(reduction, box, verify, scratch);
        }

       private:
        Reduction reduction_;
        std::unique_ptr<ImageDecoding> jpeg_ = jpeg_decoder({.scale = Scale::fit})->start();
      };
      return std::make_unique<Decoding>(reduction_);
    }

   private:
    Reduction reduction_;
  };
  const Files files({plain_encode(photo({64, 96, 3}), {})});
  const auto shrunk = [&](const Reduction& reduction) {
    return all_bytes(from(files) | decode_stage("image", std::make_shared<const Decoder>(reduction), image_executor()) |
                     resize("image", {16, 20}) | batch(1));
  };
  CHECK((shrunk({4}) ==
         all_bytes(from(files) | decode_jpeg("image", {.scale = Scale::fit}) | resize("image", {16, 20}) | batch(1))));
  for (const Reduction& wrong :
       {Reduction{0}, Reduction{3}, Reduction{8}, Reduction{-2}, Reduction{2, 2}, Reduction{2, 0, -1}})
    CHECK(code_of([&] { shrunk(wrong); }) == Errc::invalid_argument);
}

TEST_CASE("a scale is a result option, and is refused where it can't be") {
  const Files files({plain_encode(photo({64, 64, 3}), {})});
  const auto fingerprint = [&](const Stage& decode) {
    return (from(files) | decode | resize("image", {8, 8}) | batch(1)).fingerprint();
  };
  std::vector<std::uint64_t> prints;
  for (const Scale scale : {Scale::full, Scale::half, Scale::quarter, Scale::eighth, Scale::fit}) {
    prints.push_back(fingerprint(decode_jpeg("image", {.scale = scale})));
    const std::string plan =
        (from(files) | decode_jpeg("image", {.scale = scale}) | resize("image", {8, 8}) | batch(1)).plan();
    const std::string said = scale == Scale::fit      ? "; decoded at 1/2, 1/4 or 1/8 of the size where a resize"
                             : scale == Scale::half   ? "; decoded at 1/2 of the size"
                             : scale == Scale::eighth ? "; decoded at 1/8 of the size"
                                                      : "; decoded at 1/4 of the size";
    CHECK((plan.find(said) != plan.npos) == (scale != Scale::full));
  }
  CHECK(prints[0] == fingerprint(decode_jpeg()));
  std::ranges::sort(prints);
  CHECK(std::ranges::adjacent_find(prints) == prints.end());

  const Pipeline packed = from(files) | ragged("image") | batch(1);
  CHECK(code_of([&] { packed | decode_jpeg("image", {.scale = Scale::fit}); }) == Errc::unsupported);
  CHECK(code_of([] { JpegStreamDecoder({.scale = Scale::fit}); }) == Errc::invalid_argument);
}

TEST_CASE("streams have the same scales") {
  const Size size{93, 131};
  const Bytes jpeg = plain_encode(photo({size.height, size.width, 3}, 4, 20), {});
  for (const auto& [scale, by] : scales) {
    const Image small = by_libjpeg(jpeg, size, by);
    JpegStreamDecoder stream({.scale = scale});
    REQUIRE(stream.open(jpeg, {}) == small.shape);
    Image into(small.shape);
    stream.decode({0, 0, small.shape.height, small.shape.width}, reinterpret_cast<std::byte*>(into.pixels.data()),
                  std::ptrdiff_t{small.shape.width} * 3);
    CHECK(into == small);
  }
}

TEST_CASE("a reduced image is no copy of its file, and damage in it is found") {
  const Bytes jpeg = plain_encode(photo({93, 131, 3}, 4, 20), {});
  TestScratch scratch;
  for (const auto& [scale, stored] : {std::pair{Scale::full, true}, {Scale::half, false}, {Scale::fit, true}}) {
    const auto decoding = jpeg_decoder({.scale = scale})->start();
    decoding->open(jpeg);
    CHECK(decoding->stored_jpeg(scratch).empty() != stored);
  }
  Bytes cut_off = jpeg;
  cut_off.resize(jpeg.size() / 2);
  for (const Scale scale : {Scale::half, Scale::quarter, Scale::eighth})
    CHECK(code_of([&] { decoded(cut_off, {.scale = scale}); }) == Errc::corrupt);
  const Error error = error_of([&] {
    all_bytes(from(Files({jpeg, cut_off})) | decode_jpeg("image", {.scale = Scale::fit}) | resize("image", {9, 9}) |
              batch(1));
  });
  CHECK(error.code() == Errc::corrupt);
  CHECK(error.stage() == "decode_jpeg(image)");
  CHECK(error.index() == std::uint64_t{1});
  CHECK(error.offset() == std::uint64_t{cut_off.size()});
}
