// SPDX-License-Identifier: Apache-2.0
// Indexes that somebody else wrote: every hash is right, and what they say is not.
#include <penstock/sources/slide.hpp>
#include <penstock/sources/slide_index.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/slide/slide_files.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"
#include "support/thrown.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

// An index: what comes before its entries, these, and what comes after them.
struct TakenApart {
  std::string head, tail;
  std::vector<std::string> entries;

  explicit TakenApart(const std::string& text) {
    const auto number = [&](std::size_t at) {
      std::uint64_t value = 0;
      std::memcpy(&value, text.data() + at, sizeof value);
      return value;
    };
    std::size_t at = std::strlen("penstock tiles\n") + sizeof(std::uint32_t);
    at += 8 + number(at) + 8;  // settings, and their hash
    head = text.substr(0, at);
    while (number(at) != ~std::uint64_t{0}) {
      entries.push_back(text.substr(at + 16, number(at)));
      at += 16 + number(at);
    }
    tail = text.substr(at);
  }

  std::string together() const {
    std::string text = head;
    for (const std::string& entry : entries) {
      for (const std::uint64_t number : {std::uint64_t{entry.size()}, XXH3_64bits(entry.data(), entry.size())}) {
        char bytes[sizeof number];
        std::memcpy(bytes, &number, sizeof number);
        text.append(bytes, sizeof number);
      }
      text += entry;
    }
    return text + tail;
  }
};

SlideForm two_levels() {
  SlideForm form = micron_slide(400, 300);
  form.lower = {{200, 150}};
  form.draw = [](const ImageShape& shape) {
    Image image(shape);
    for (std::int32_t y = 0; y < shape.height; ++y)
      for (std::int32_t x = 0; x < shape.width; ++x)
        for (std::int32_t c = 0; c < 3; ++c) image.at(y, x, c) = 3 * x < shape.width ? 250 : c == 1 ? 60 : 160;
    return image;
  };
  return form;
}

using Place = std::array<std::int64_t, 3>;
Place place_of(const SlideSource& source, std::uint64_t record) {
  const SlidePlace at = source.place(record);
  return {static_cast<std::int64_t>(at.slide), at.x, at.y};
}

// The pixels at each place, read without an index.
std::map<Place, std::string> pixels_without_index(Slides options) {
  options.index.clear();
  options.tissue = {};
  options.regions = {};
  const SlideSource source(options);
  std::map<Place, std::string> pixels;
  for (std::uint64_t i = 0; i < source.size(); ++i)
    pixels[place_of(source, i)] = text_of(read_sample(source, i)["image"]);
  return pixels;
}

// Opens and reads a few records, which have to be what the files have there; how many it could read.
std::uint64_t read_some(const Slides& options, const std::map<Place, std::string>& pixels) {
  std::uint64_t good = 0;
  try {
    const SlideSource source(options);
    const std::uint64_t step = std::max<std::uint64_t>(1, source.size() / 5);
    for (std::uint64_t i = 0; i < source.size(); i += step) {
      try {
        const std::string read = text_of(read_sample(source, i)["image"]);
        (void)source.key(i);
        const auto there = pixels.find(place_of(source, i));
        if (there == pixels.end() || there->second != read) FAIL("other pixels: record " << i << ' ' << source.key(i));
        ++good;
      } catch (const Error&) {
      }
      if (i > source.size() - step) break;
    }
  } catch (const Error&) {
  }
  return good;
}

}  // namespace

TEST_CASE("an index of which anything was changed, its hashes too, is refused or read, and does no harm") {
  const TempFolder folder;
  write_slide(folder / "a.tif", two_levels());
  write_slide(folder / "b.tif", two_levels());
  folder.write("r/a.geojson", R"({"type":"Polygon","coordinates":[[[0,0],[400,0],[400,200],[0,200],[0,0]]]})");
  folder.write("r/b.geojson", R"({"type":"Polygon","coordinates":[[[0,0],[400,0],[400,200],[0,200],[0,0]]]})");
  const std::vector<Slides> ways{
      {.files = folder / "*.tif", .size = 32},
      {.files = folder / "*.tif", .mpp = 1.5, .size = 32, .edges = SlideEdges::pad},
      {.files = folder / "*.tif", .level = 1, .size = 48, .stride = 20, .edges = SlideEdges::shrink},
      {.files = folder / "*.tif",
       .size = 20,
       .tissue = {.by = SlideTissue::By::saturation, .mpp = 4},
       .regions = {.folder = folder / "r", .include = {"*"}, .field = "region"}},
  };
  Numbers numbers(11);
  const char* const scale = std::getenv("PENSTOCK_TEST_SCALE");
  const auto rounds = static_cast<int>(400 * (scale == nullptr ? 1 : std::atof(scale)));
  std::uint64_t refused = 0, read = 0;
  for (Slides options : ways) {
    const std::map<Place, std::string> pixels = pixels_without_index(options);
    const std::string path = folder / "slides.index";
    write_slide_index(options, path);
    options.index = path;
    REQUIRE(read_some(options, pixels) >= 5);
    const TakenApart whole(text_in(path));
    REQUIRE(whole.entries.size() == 2);
    REQUIRE(whole.together() == text_in(path));
    for (int round = 0; round < rounds; ++round) {
      TakenApart changed = whole;
      std::string& entry = changed.entries[0];
      for (int change = numbers.below(3); change >= 0; --change) {
        const auto at = static_cast<std::size_t>(numbers.below(static_cast<std::int32_t>(entry.size())));
        const int how = numbers.below(4);
        entry[at] = static_cast<char>(how == 0 ? 0 : how == 1 ? 0xff : how == 2 ? entry[at] + 1 : numbers.below(256));
      }
      folder.write("slides.index", changed.together());
      ++(read_some(options, pixels) == 0 ? refused : read);
    }
  }
  CHECK(refused > 0);
  CHECK(read > 0);
}

TEST_CASE("a slide of which an index says something else is looked at once, and again when it is another file") {
  const TempFolder folder;
  write_slide(folder / "a.tif", two_levels());
  Slides options{.files = folder / "*.tif", .size = 32};
  options.index = folder / "x.index";
  Slides made = options;
  made.index.clear();
  write_slide_index(made, options.index);
  const TakenApart whole(text_in(options.index));
  const auto cause = [](const SlideSource& source) {
    try {
      (void)read_sample(source, 0);
    } catch (const Error& error) {
      return error.cause();
    }
    return std::string();
  };
  // The first byte whose change makes it say something else of the file, without being damaged.
  std::optional<SlideSource> forged;
  for (std::size_t at = 0; at < whole.entries[0].size() && !forged; ++at) {
    TakenApart changed = whole;
    changed.entries[0][at] = static_cast<char>(changed.entries[0][at] ^ 1);
    folder.write("x.index", changed.together());
    try {
      const SlideSource source(options);
      if (cause(source).starts_with("the index has another")) forged.emplace(options);
    } catch (const Error&) {
    }
  }
  REQUIRE(forged.has_value());
  folder.write("x.index", whole.together());
  const std::string sound = text_in(folder / "a.tif");
  const SlideSource replaced(options);
  folder.write("other.tif.new", "no slide");
  const auto bytes_read = [] {
    std::ifstream io("/proc/self/io");
    std::string name;
    std::uint64_t bytes = 0;
    io >> name >> bytes;
    return bytes;
  };
  const auto check_once = [&](const SlideSource& source, const std::string& says) {
    CHECK(cause(source).find(says) != std::string::npos);
    const std::uint64_t before = bytes_read();
    for (int i = 0; i < 50; ++i) CHECK(cause(source).find(says) != std::string::npos);
    CHECK(bytes_read() - before < 4096);
  };
  check_once(*forged, "the index has another");
  std::filesystem::rename(folder / "other.tif.new", folder / "a.tif");
  check_once(replaced, "the file is another than the one that the index was made of");
  folder.write("a.tif.new", sound);
  std::filesystem::rename(folder / "a.tif.new", folder / "a.tif");
  CHECK(cause(replaced).empty());
}

TEST_CASE("an index that leaves out places where all are asked for is refused") {
  const TempFolder folder;
  write_slide(folder / "a.tif", two_levels());
  const Slides all{.files = folder / "*.tif", .size = 20};
  Slides tissue = all;
  tissue.tissue = {.by = SlideTissue::By::saturation, .mpp = 4};
  write_slide_index(all, folder / "all.index");
  write_slide_index(tissue, folder / "tissue.index");
  TakenApart of_tissue(text_in(folder / "tissue.index"));
  of_tissue.head = TakenApart(text_in(folder / "all.index")).head;
  folder.write("all.index", of_tissue.together());
  Slides indexed = all;
  indexed.index = folder / "all.index";
  REQUIRE_FALSE(SlideSource(tissue).size() == SlideSource(all).size());
  const Error error = error_of([&] { SlideSource{indexed}; });
  CHECK(error.code() == Errc::corrupt);
  CHECK(error.file() == folder / "all.index");
}

}  // namespace PENSTOCK_TEST_FILE
