// SPDX-License-Identifier: Apache-2.0
// The lossless rewrite: the same coefficients and pixels, an ordinary file, and refusals.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>

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
#include "transforms/codec/jpeg/plain_jpeg.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

std::int32_t mcus_of_a_row(std::int32_t width, int channels, int across) {
  const std::int32_t mcu = channels == 1 ? 8 : 8 * across;
  return (width + mcu - 1) / mcu;
}

// A file of any kind that can be rewritten, of any size up to `most`.
Bytes random_file(Numbers& numbers, std::int32_t most, ImageShape& shape, PlainJpeg& options) {
  constexpr std::array<int, 2> factors[] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}, {1, 4}, {4, 2}};
  constexpr int channels[] = {1, 3, 3, 3, 4};
  shape = {numbers.from(1, most), numbers.from(1, most), channels[numbers.below(5)]};
  options.luma = factors[numbers.below(shape.channels == 4 ? 4 : 7)];
  options.quality = numbers.from(20, 100);
  options.arithmetic = numbers.below(6) == 0;
  options.progressive = numbers.below(3) == 0;
  options.one_scan_each = !options.progressive && numbers.below(4) == 0;
  options.optimized = !options.arithmetic && numbers.coin();
  options.restart_interval = numbers.coin() ? numbers.below(20) : 0;
  options.colors = shape.channels == 4                            ? PlainJpeg::cmyk
                   : shape.channels == 3 && numbers.below(5) == 0 ? PlainJpeg::rgb
                                                                  : PlainJpeg::ycc;
  options.adobe = shape.channels == 4 || numbers.coin();
  options.jfif = shape.channels != 4 && options.colors == PlainJpeg::ycc && numbers.coin();
  return plain_encode(photo(shape, numbers.next(), 25), options);
}

}  // namespace

TEST_CASE("a rewritten JPEG has the coefficients and the pixels of the original") {
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    Numbers numbers(seed);
    ImageShape shape;
    PlainJpeg options;
    const Bytes original = random_file(numbers, 70, shape, options);
    const std::int32_t every = numbers.from(1, 12);
    CAPTURE(seed, shape.height, shape.width, shape.channels, options.luma, options.progressive, every);
    const Bytes rewritten = seekable_jpeg(original, {.every = every});
    REQUIRE(coefficients(rewritten) == coefficients(original));
    REQUIRE(plain_decode(rewritten) == plain_decode(original));
    const PlainHeader before = plain_header(original), after = plain_header(rewritten);
    CHECK_FALSE(after.progressive);
    CHECK_FALSE(after.arithmetic);
    CHECK(after.jfif == before.jfif);
    CHECK(after.adobe == before.adobe);
    const std::int32_t mcus = mcus_of_a_row(shape.width, shape.channels, options.luma[0]);
    REQUIRE(after.restart_interval > 0);
    CHECK(mcus % static_cast<std::int32_t>(after.restart_interval) == 0);
    if (mcus % every == 0) CHECK(after.restart_interval == static_cast<unsigned>(every));
    // What is rewritten already comes out as it is.
    CHECK(seekable_jpeg(rewritten, {.every = every}) == rewritten);
  }
}

TEST_CASE("the restart interval is the divisor of a row nearest in ratio") {
  const auto interval = [](std::int32_t mcus, std::int32_t every) {
    const Bytes bytes = plain_encode(photo({8, 8 * mcus, 1}), {.luma = {1, 1}});
    return plain_header(seekable_jpeg(bytes, {.every = every})).restart_interval;
  };
  CHECK(interval(32, 4) == 4);
  CHECK(interval(32, 5) == 4);
  CHECK(interval(32, 6) == 8);
  CHECK(interval(32, 1000) == 32);
  CHECK(interval(30, 4) == 5);
  CHECK(interval(36, 8) == 9);
  CHECK(interval(31, 4) == 1);
  CHECK(interval(31, 8) == 31);
  CHECK(interval(16, 2'000'000'000) == 16);
  CHECK(interval(1, 4) == 1);
}

TEST_CASE("rewritten files are no larger than those with standard tables") {
  for (const int noise : {4, 20}) {
    std::size_t before = 0, after = 0;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      const Bytes original =
          encode_jpeg(photo({375, 500, 3}, seed, noise).view(), {.quality = noise == 4 ? 90 : 95, .subsampling = 420});
      before += original.size();
      after += seekable_jpeg(original).size();
    }
    std::printf("seekable: %zu bytes, %zu before\n", after, before);
    CHECK(after <= before);
  }
}

TEST_CASE("the markers that say what an image means are kept, the others are not") {
  const std::string exif("Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0", 32),
      xmp("http://ns.adobe.com/xap/1.0/", 28);
  const std::string profile_1 = std::string("ICC_PROFILE\0\x01\x02", 14) + std::string(60000, 'p'),
                    profile_2 = std::string("ICC_PROFILE\0\x02\x02", 14) + "rest";
  const Bytes original = plain_encode(photo({40, 50, 3}), {.markers = {{0xe1, exif},
                                                                       {0xe1, xmp + std::string(1000, 'x')},
                                                                       {0xe2, profile_1},
                                                                       {0xe2, profile_2},
                                                                       {0xe2, std::string("MPF\0", 4)},
                                                                       {0xed, "Photoshop 3.0"},
                                                                       {0xee, "no adobe"},
                                                                       {0xfe, "a comment"}}});
  Bytes longer = original;
  longer.insert(longer.end(), 1000, std::byte{7});  // what cameras append
  const std::vector<std::pair<int, std::string>> kept = {{0xe1, exif}, {0xe2, profile_1}, {0xe2, profile_2}};
  CHECK(plain_header(seekable_jpeg(original)).markers == kept);
  CHECK(seekable_jpeg(longer) == seekable_jpeg(original));
  CHECK(plain_decode(seekable_jpeg(original)) == plain_decode(original));
}

TEST_CASE("damage anywhere is an error, and nothing is written") {
  const Bytes original = plain_encode(photo({40, 56, 3}, 5), {});
  for (std::size_t size = 0; size < original.size(); ++size) {
    CAPTURE(size);
    REQUIRE(code_of([&] { seekable_jpeg(std::span(original).first(size)); }) == Errc::corrupt);
  }
  int errors = 0, images = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    CAPTURE(seed);
    Numbers numbers(seed);
    ImageShape shape;
    PlainJpeg options;
    Bytes bytes = random_file(numbers, 60, shape, options);
    for (int n = numbers.from(1, 3); n > 0; --n)
      bytes[static_cast<std::size_t>(numbers.below(static_cast<std::int32_t>(bytes.size())))] =
          static_cast<std::byte>(numbers.next());
    Bytes rewritten;
    try {
      rewritten = seekable_jpeg(bytes, {.max_pixels = 1 << 20});
    } catch (const Error& error) {
      REQUIRE(error.sample_scoped());
      ++errors;
      continue;
    }
    // What passes is what libjpeg takes without a warning that would cost pixels.
    REQUIRE(plain_decode(rewritten, false, true) == plain_decode(bytes, false, true));
    ++images;
  }
  CHECK(errors > 1000);
  CHECK(images > 100);
}

TEST_CASE("what can't be rewritten is refused by name") {
  const Bytes good = plain_encode(photo({40, 50, 3}), {});
  const auto frame = [](Bytes& bytes, std::size_t k) -> std::byte& {
    std::size_t at = 2;
    while ((std::to_integer<int>(bytes[at + 1]) & 0xfc) != 0xc0)
      at += 2 + (std::to_integer<std::size_t>(bytes[at + 2]) << 8) + std::to_integer<std::size_t>(bytes[at + 3]);
    return bytes[at + k];
  };
  Bytes twelve = good, lossless = good, large = good, png = good;
  frame(twelve, 4) = std::byte{12};
  frame(lossless, 1) = std::byte{0xc3};
  frame(large, 5) = frame(large, 7) = std::byte{0xf0};
  png[0] = std::byte{0x89};
  CHECK(code_of([&] { seekable_jpeg(twelve); }) == Errc::unsupported);
  CHECK(code_of([&] { seekable_jpeg(lossless); }) == Errc::unsupported);
  CHECK(code_of([&] { seekable_jpeg(large); }) == Errc::limit_exceeded);
  CHECK(code_of([&] { seekable_jpeg(png); }) == Errc::corrupt);
  CHECK(code_of([&] { seekable_jpeg(good, {.max_pixels = 40 * 50 - 1}); }) == Errc::limit_exceeded);
  const Bytes scans = plain_encode(photo({40, 50, 3}), {.progressive = true});
  CHECK(code_of([&] { seekable_jpeg(scans, {.max_scans = 9}); }) == Errc::limit_exceeded);
  CHECK_NOTHROW(seekable_jpeg(scans, {.max_scans = 10}));
  // 4x4 blocks of one component and one of each other: eighteen, so one scan can't hold them.
  const Bytes eighteen = plain_encode(photo({40, 50, 3}), {.luma = {4, 4}, .one_scan_each = true});
  CHECK(code_of([&] { seekable_jpeg(eighteen); }) == Errc::unsupported);
  CHECK(code_of([&] { seekable_jpeg(good, {.every = 0}); }) == Errc::invalid_argument);
  CHECK(code_of([&] { seekable_jpeg(good, {.max_pixels = 0}); }) == Errc::invalid_argument);
  CHECK(code_of([&] { seekable_jpeg("image", {.max_scans = 0}); }) == Errc::invalid_argument);
}

TEST_CASE("a JPEG that lacks scans is not taken for a whole one") {
  for (const PlainJpeg& options : {PlainJpeg{.progressive = true}, PlainJpeg{.one_scan_each = true}}) {
    const Bytes whole = plain_encode(photo({60, 70, 3}), options);
    // Ends before each scan but the first.
    int cuts = 0, scans = 0;
    for (std::size_t at = 2; at + 1 < whole.size(); ++at) {
      if (whole[at] != std::byte{0xff} || whole[at + 1] != std::byte{0xda} || ++scans == 1) continue;
      Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(at));
      part.push_back(std::byte{0xff}), part.push_back(std::byte{0xd9});
      CHECK(code_of([&] { seekable_jpeg(part); }) == Errc::corrupt);
      ++cuts;
    }
    CHECK(cuts >= 2);
    CHECK_NOTHROW(seekable_jpeg(whole));
  }
}

namespace {

// image: u8[?]
struct Files {
  std::shared_ptr<std::vector<Bytes>> files = std::make_shared<std::vector<Bytes>>();
  std::uint64_t size() const { return files->size(); }
  Schema schema() const { return {{"label", DType::i64, {}}, {"image", DType::u8, {dynamic}}}; }
  void read(std::uint64_t i, SampleBuilder& out) const {
    out.scalar<std::int64_t>("label", static_cast<std::int64_t>(i));
    out.view("image", (*files)[i]);
  }
};

}  // namespace

TEST_CASE("the stage rewrites a field, and what follows gives the same bits") {
  Files files;
  for (std::uint64_t i = 0; i < 60; ++i) {
    const ImageShape shape{90 + static_cast<std::int32_t>(i * 7 % 60), 80 + static_cast<std::int32_t>(i * 11 % 90),
                           i % 6 == 5 ? 1 : 3};
    constexpr int subsampling[] = {420, 422, 440, 444};
    files.files->push_back(
        encode_jpeg(photo(shape, i).view(), {.subsampling = subsampling[i % 4], .progressive = i % 5 == 4}));
  }
  const Pipeline plain = from(files), rewritten = from(files) | seekable_jpeg("image");
  CHECK(rewritten.schema() == plain.schema());
  for (std::uint64_t i = 0; i < 60; i += 7) {
    const OwnedSample sample = rewritten.at(i);
    const TensorView image = sample["image"];
    CHECK(Bytes(image.data, image.data + image.bytes()) == seekable_jpeg((*files.files)[i]));
    CHECK(sample["label"].as<const std::int64_t, 0>()() == static_cast<std::int64_t>(i));
  }
  const std::function<Pipeline(const Pipeline&)> chains[] = {
      [](const Pipeline& p) {
        return p | decode_jpeg() | random_resized_crop("image", {48, 40}) | random_flip("image");
      },
      [](const Pipeline& p) {
        return p | decode_jpeg() | random_crop("image", {40, 40}) | random_rot90("image");
      },
      [](const Pipeline& p) {
        return p | decode_jpeg() | center_crop("image", {50, 52}) | normalize("image");
      },
      [](const Pipeline& p) {
        return p | decode_jpeg("image", {.color = JpegOptions::gray}) | crop("image", {60, 50, 20, 30});
      }};
  for (const auto& chain : chains) {
    const Bytes expected = all_bytes(chain(plain) | check({.verify = true}) | batch(8));
    REQUIRE(expected.size() > std::size_t{60} * 500);
    for (const bool fold : {true, false})
      CHECK(all_bytes(chain(rewritten) | check({.fold = fold}) | batch(8)) == expected);
    CHECK(all_bytes(chain(rewritten) | check({.verify = true}) | batch(8)) == expected);
  }
}

TEST_CASE("the stage says what it is, and refuses other fields") {
  Files files;
  files.files->push_back(plain_encode(photo({20, 20, 3}), {}));
  files.files->push_back(Bytes(100));
  const Pipeline pipeline = from(files) | seekable_jpeg("image");
  CHECK(pipeline.plan().find("seekable_jpeg(image)") != std::string::npos);
  try {
    (from(files) | seekable_jpeg("image")).at(1);
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(error.code() == Errc::corrupt);
    CHECK(error.stage() == "seekable_jpeg(image)");
    CHECK(error.index() == std::uint64_t{1});
  }
  CHECK(code_of([&] { from(files) | seekable_jpeg("label"); }) == Errc::schema_mismatch);
  CHECK(code_of([&] { from(files) | seekable_jpeg("nothing"); }) == Errc::schema_mismatch);
  CHECK(code_of([&] { from(files) | decode_jpeg() | seekable_jpeg("image"); }) == Errc::schema_mismatch);
  const auto fingerprint = [&](const SeekableOptions& options) {
    return (from(files) | seekable_jpeg("image", options) | decode_jpeg() | resize("image", {8, 8}) | batch(1))
        .fingerprint();
  };
  CHECK(fingerprint({.every = 4}) == fingerprint({}));
  CHECK(fingerprint({.every = 5}) != fingerprint({}));
  CHECK(fingerprint({.max_pixels = 5}) != fingerprint({}));
  CHECK(fingerprint({.max_scans = 5}) != fingerprint({}));
}

namespace {

const char* const python = "/usr/bin/python3";
bool has_pillow() { return std::system((std::string(python) + " -c 'import PIL.Image' 2>/dev/null").c_str()) == 0; }

class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("penstock-seekable-" + std::to_string(getpid()))) {
    std::filesystem::create_directory(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  void write(const std::string& name, const Bytes& bytes) const {
    std::ofstream(path_ / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("Pillow sees the same image in a rewritten JPEG") {
  if (!has_pillow()) PENSTOCK_SKIP("no Pillow for /usr/bin/python3: 200 comparisons were not made");
  const Folder folder;
  const std::string exif("Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0", 32);
  int files = 0;
  for (std::uint64_t seed = 1000; files < 200; ++seed) {
    Numbers numbers(seed);
    ImageShape shape;
    PlainJpeg options;
    options.markers = {{0xe1, exif}, {0xe2, std::string("ICC_PROFILE\0\x01\x01", 14) + "profile"}};
    const Bytes original = random_file(numbers, 70, shape, options);
    folder.write(std::to_string(files) + ".a.jpg", original);
    folder.write(std::to_string(files) + ".b.jpg", seekable_jpeg(original));
    ++files;
  }
  std::ofstream(folder / "compare.py")
      << "import sys\nfrom PIL import Image\n"
         "for i in range(int(sys.argv[2])):\n"
         "  a, b = (Image.open(f'{sys.argv[1]}/{i}.{x}.jpg') for x in 'ab')\n"
         "  assert (a.mode, a.size, a.info.get('icc_profile')) == (b.mode, b.size, b.info.get('icc_profile')), i\n"
         "  assert a.getexif().get(274) == b.getexif().get(274) == 6, i\n"
         "  assert b.info['icc_profile'] == b'profile', i\n"
         "  assert a.tobytes() == b.tobytes(), i\n";
  const std::string command =
      std::string(python) + " " + (folder / "compare.py") + " " + (folder / "") + " " + std::to_string(files);
  CHECK(std::system(command.c_str()) == 0);
}
