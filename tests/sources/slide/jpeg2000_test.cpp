// SPDX-License-Identifier: Apache-2.0
// Tiles of JPEG 2000: their pixels, whole and in part, and what is wrong with them.
#include <penstock/sources/slide.hpp>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/slide/jpeg2000_files.hpp"
#include "sources/slide/slide_files.hpp"
#include "sources/slide/slide_images.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

SlideForm slide_of(const Jpeg2000Form& form, std::uint16_t compression) {
  SlideForm slide{.width = 200, .height = 150, .tile_width = 96, .tile_height = 80, .rgb = form.rgb};
  slide.compression = compression;
  slide.encode = [form](const Image& tile) { return encode_jpeg2000(tile, form); };
  return slide;
}

// A tile whose bytes were changed by `change`.
SlideForm changed(const Jpeg2000Form& form, const std::function<void(Bytes&)>& change) {
  SlideForm slide = slide_of(form, form.rgb ? 33005 : 33003);
  slide.encode = [form, change](const Image& tile) {
    StoredTile stored = encode_jpeg2000(tile, form);
    change(stored.stream);
    return stored;
  };
  return slide;
}

std::size_t find_marker(const Bytes& stream, unsigned marker) {
  for (std::size_t at = 0; at + 1 < stream.size(); ++at)
    if (stream[at] == std::byte{0xFF} && stream[at + 1] == static_cast<std::byte>(marker)) return at;
  FAIL("no marker");
  return 0;
}

void set_number(Bytes& stream, std::size_t at, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) stream[at + i] = static_cast<std::byte>(value >> 8 * (bytes - 1 - i));
}

}  // namespace

TEST_CASE("pixels of JPEG 2000 tiles are OpenJPEG's, whole and in part") {
  const TempFolder folder;
  const std::string path = folder / "a.svs";
  const std::vector<std::pair<Jpeg2000Form, std::uint16_t>> forms{
      {{.mixed = true}, 33005},
      {{.mixed = true, .lossless = true}, 33005},
      {{.lossless = true}, 33004},
      {{.mixed = true, .layers = 3, .in_jp2 = true}, 34712},
      {{.mixed = true, .own_tiles = 48}, 33005},
      {{.mixed = true, .resolutions = 1}, 33005},
      {{.rgb = false}, 33003},
      {{.rgb = false, .across = 2}, 33003},
      {{.rgb = false, .lossless = true, .across = 2, .down = 2}, 33003},
      {{.rgb = false, .across = 2}, 33004},
  };
  for (const auto& [form, compression] : forms) {
    CAPTURE(form.rgb, form.mixed, form.lossless, form.across, form.down, form.own_tiles, form.in_jp2, compression);
    const WrittenSlide slide = write_slide(path, slide_of(form, compression));
    const SlideSource whole({.files = path, .size = 400, .edges = SlideEdges::shrink});
    REQUIRE_FALSE(whole.slides().front().failure.has_value());
    CHECK(whole.slides().front().why_openslide.empty());
    const Image pixels = image_of(read_sample(whole, 0)["image"]);
    CHECK(most_different(pixels, slide.pixels) <= (form.rgb ? 0 : 1));
    for (const auto& [size, stride] : {std::pair(96, 96), {33, 41}, {1, 57}, {70, 30}})
      for_each_record({.files = path, .size = size, .stride = stride, .edges = SlideEdges::pad},
                      [&](const Image& image, std::int64_t x, std::int64_t y) {
                        CAPTURE(size, x, y);
                        REQUIRE(image == box_of(pixels, x, y, size, size));
                      });
  }
}

TEST_CASE("a part of a JPEG 2000 tile is what the whole tile has there") {
  const TempFolder folder;
  const std::string path = folder / "a.svs";
  for (const Jpeg2000Form& form : {Jpeg2000Form{.mixed = true},
                                   {.rgb = false, .across = 2},
                                   {.rgb = false, .lossless = true, .across = 2, .down = 2},
                                   {.mixed = true, .own_tiles = 48}}) {
    CAPTURE(form.rgb, form.across, form.down, form.own_tiles);
    write_slide(path, slide_of(form, form.rgb ? 33005 : 33003));
    const Image pixels =
        image_of(read_sample(SlideSource({.files = path, .size = 400, .edges = SlideEdges::shrink}), 0)["image"]);
    // No tile stays until it is needed again, so none is decoded whole.
    Loader loader(from(Slides{.files = path, .size = 33, .stride = 23, .edges = SlideEdges::pad}) |
                      shuffle({.seed = 1}) | batch(1),
                  {.threads = 1, .max_block_bytes = 1, .epochs = 1});
    while (const auto batch = loader.next()) {
      const std::int64_t x = *(*batch)["x"].as<std::int64_t, 1>().data(),
                         y = *(*batch)["y"].as<std::int64_t, 1>().data();
      CAPTURE(x, y);
      const Image expected = box_of(pixels, x, y, 33, 33);
      REQUIRE(std::memcmp((*batch)["image"].data, expected.pixels.data(), expected.pixels.size()) == 0);
    }
  }
}

TEST_CASE("a loader keeps JPEG 2000 tiles as blocks, and verifies them to their ends") {
  const TempFolder folder;
  const std::string path = folder / "a.svs";
  const WrittenSlide slide = write_slide(path, slide_of({.mixed = true, .lossless = true}, 33005));
  const Pipeline crops = from(Slides{.files = path, .size = 50, .stride = 25}) | shuffle({.seed = 3});
  for (const bool verify : {false, true}) {
    Loader loader((verify ? crops | check({.verify = true}) : crops) | batch(7), {.threads = 3, .epochs = 1});
    std::uint64_t rows = 0;
    while (const auto batch = loader.next())
      for (std::size_t row = 0; row < batch->size(); ++row, ++rows) {
        const std::int64_t x = (*batch)["x"].as<std::int64_t, 1>().data()[row],
                           y = (*batch)["y"].as<std::int64_t, 1>().data()[row];
        const Image expected = box_of(slide.pixels, x, y, 50, 50);
        REQUIRE(std::memcmp(static_cast<const std::byte*>((*batch)["image"].data) + row * 7500, expected.pixels.data(),
                            7500) == 0);
      }
    CHECK(rows == crops.size());
  }
}

TEST_CASE("what is wrong with a JPEG 2000 tile is an error of the records that need it") {
  const TempFolder folder;
  const std::string path = folder / "a.svs";
  struct Bad {
    const char* says;
    Errc code;
    std::function<void(Bytes&)> change;
  };
  const std::vector<Bad> bad{
      {"ends in the middle of its header", Errc::corrupt, [](Bytes& b) { b.resize(20); }},
      {"does not begin as a codestream does", Errc::corrupt, [](Bytes& b) { b[1] = std::byte{0}; }},
      {"is cut off", Errc::corrupt, [](Bytes& b) { b.resize(b.size() / 2); }},
      {"has 97x80 pixels, not 96x80", Errc::corrupt, [](Bytes& b) { set_number(b, 8, 97, 4); }},
      {"does not begin at 0, 0", Errc::unsupported, [](Bytes& b) { set_number(b, 16, 3, 4); }},
      {"more than 256 tiles", Errc::unsupported,
       [](Bytes& b) {
         set_number(b, 24, 5, 4);
         set_number(b, 28, 5, 4);
       }},
      {"its tiles have no pixels", Errc::corrupt, [](Bytes& b) { set_number(b, 28, 0, 4); }},
      {"has 4 components", Errc::unsupported, [](Bytes& b) { set_number(b, 40, 4, 2); }},
      {"another kind than 8 bits", Errc::unsupported, [](Bytes& b) { set_number(b, 45, 11, 1); }},
      {"2x1 pixels a sample of component 1", Errc::unsupported, [](Bytes& b) { set_number(b, 46, 2, 1); }},
      {"more packets than bytes", Errc::corrupt, [](Bytes& b) { set_number(b, find_marker(b, 0x52) + 6, 65535, 2); }},
      // Parts of the tile: the first has no data, and a second says another coding.
      {"its JPEG 2000 is cut off", Errc::corrupt, [](Bytes& b) { set_number(b, find_marker(b, 0x90) + 6, 12, 4); }},
      // The first part ends with its header; what comes then is a mark of data.
      {"its JPEG 2000 is cut off", Errc::corrupt,
       [](Bytes& b) {
         const std::size_t part = find_marker(b, 0x90);
         const Bytes segment{std::byte{0xFF}, std::byte{0x58}, std::byte{0}, std::byte{3}, std::byte{0}};
         b.insert(b.begin() + static_cast<std::ptrdiff_t>(part) + 12, segment.begin(), segment.end());
         set_number(b, part + 6, 17, 4);
       }},
      {"changes its coding on the way", Errc::unsupported,
       [](Bytes& b) {
         const std::size_t part = find_marker(b, 0x90), coding = find_marker(b, 0x52);
         const Bytes segment(b.begin() + static_cast<std::ptrdiff_t>(coding),
                             b.begin() + static_cast<std::ptrdiff_t>(coding) + 14);
         b.insert(b.begin() + static_cast<std::ptrdiff_t>(part) + 12, segment.begin(), segment.end());
         set_number(b, part + 6, 0, 4);
       }},
      {"a kind of segment that is not expected", Errc::unsupported,
       [](Bytes& b) { set_number(b, find_marker(b, 0x5C), 0xFF30, 2); }},
      {"says its size twice", Errc::corrupt, [](Bytes& b) { set_number(b, find_marker(b, 0x5C), 0xFF51, 2); }},
      {"doesn't say how it is coded", Errc::corrupt, [](Bytes& b) { set_number(b, find_marker(b, 0x52), 0xFF64, 2); }},
      {"more than 32 decompositions", Errc::corrupt, [](Bytes& b) { set_number(b, find_marker(b, 0x52) + 9, 33, 1); }},
  };
  for (const Bad& b : bad) {
    CAPTURE(b.says);
    bool first = true;
    write_slide(path, changed({.mixed = true}, [&](Bytes& bytes) {
                  if (first) b.change(bytes);
                  first = false;
                }));
    const SlideSource source({.files = path, .size = 40, .stride = 40});
    const Error error = error_of([&] { (void)read_sample(source, 0); });
    CHECK(error.code() == b.code);
    CHECK(error.file() == path);
    CHECK(std::string(b.says) == (mentions(error, b.says) ? b.says : error.what()));
    CHECK(mentions(error, "the tile at x 0, y 0 of level 0"));
    CHECK_NOTHROW(read_sample(source, 4));
  }
}

TEST_CASE("a JPEG 2000 tile may say the coding of a component apart, within the same bounds") {
  const TempFolder folder;
  // What COD says of all components, once more of component 1: its style, and all from the decompositions on.
  const auto say_again = [](Bytes& b, std::uint64_t block_sizes) {
    const std::size_t at = find_marker(b, 0x52);
    Bytes segment{std::byte{0xFF}, std::byte{0x53}, std::byte{0}, std::byte{9}, std::byte{1}, std::byte{0}};
    segment.insert(segment.end(), b.begin() + static_cast<std::ptrdiff_t>(at) + 9,
                   b.begin() + static_cast<std::ptrdiff_t>(at) + 14);
    set_number(segment, 7, block_sizes, 2);
    b.insert(b.begin() + static_cast<std::ptrdiff_t>(at) + 14, segment.begin(), segment.end());
  };
  const Jpeg2000Form coding{.mixed = true};
  SlideForm form = changed(coding, [&](Bytes& b) { say_again(b, 0x0404); });
  form.width = form.height = form.tile_width = form.tile_height = 512;
  const WrittenSlide slide = write_slide(folder / "a.svs", form);
  const SlideSource source({.files = folder / "a.svs", .size = 512});
  CHECK(image_of(read_sample(source, 0)["image"]) == slide.pixels);
  form.encode = changed(coding, [&](Bytes& b) { say_again(b, 0); }).encode;
  write_slide(folder / "b.svs", form);
  const Error error = error_of([&] { (void)read_sample(SlideSource({.files = folder / "b.svs", .size = 16}), 0); });
  CHECK(mentions(error, "is coded in very small blocks"));
}

TEST_CASE("a JPEG 2000 tile in very small blocks is refused before memory is taken for them") {
  const TempFolder folder;
  SlideForm form = changed({.mixed = true}, [](Bytes& b) { set_number(b, find_marker(b, 0x52) + 10, 0, 2); });
  form.width = form.height = form.tile_width = form.tile_height = 512;
  write_slide(folder / "a.svs", form);
  const Error error = error_of([&] { (void)read_sample(SlideSource({.files = folder / "a.svs", .size = 16}), 0); });
  CHECK(error.code() == Errc::unsupported);
  CHECK(mentions(error, "is coded in very small blocks"));
}

TEST_CASE("JPEG 2000 tiles of which bytes were changed are read, or refused, in little time") {
  const TempFolder folder;
  const std::string path = folder / "a.svs";
  Numbers numbers(11);
  std::uint64_t read = 0, refused = 0;
  const char* const scale = std::getenv("PENSTOCK_TEST_SCALE");
  const int rounds = static_cast<int>(60 * (scale != nullptr ? std::atof(scale) : 1));
  const auto begin = std::chrono::steady_clock::now();
  for (int round = 0; round < rounds; ++round) {
    const Jpeg2000Form form{.rgb = round % 3 != 0, .mixed = round % 3 == 1, .layers = 1 + round % 2};
    write_slide(path, changed(form, [&](Bytes& bytes) {
                  // The header more often than its share.
                  for (int i = numbers.from(1, 4); i > 0; --i) {
                    const auto size = static_cast<std::int32_t>(bytes.size());
                    const std::int32_t at = numbers.coin() ? numbers.below(std::min(size, 120)) : numbers.below(size);
                    bytes[static_cast<std::size_t>(at)] = static_cast<std::byte>(numbers.below(256));
                  }
                }));
    const SlideSource source({.files = path, .size = 80, .stride = 60});
    for (std::uint64_t i = 0; i < source.size(); ++i) try {
        (void)read_sample(source, i);
        ++read;
      } catch (const Error& error) {
        ++refused;
        CHECK(error.sample_scoped());
      }
  }
  CHECK(read + refused > 0);
  CHECK(refused > 0);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  CAPTURE(read, refused);
  CHECK(took.count() < 60);
}
