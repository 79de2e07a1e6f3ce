// Indexes that somebody else wrote: every hash is right, and what they say is not.
#include <penstock/sources/slide.hpp>
#include <penstock/sources/slide_index.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/slide/slide_files.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"

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

// Opens and reads a few records; how many it could.
std::uint64_t read_some(const Slides& options) {
  std::uint64_t good = 0;
  try {
    const SlideSource source(options);
    const std::uint64_t step = std::max<std::uint64_t>(1, source.size() / 5);
    for (std::uint64_t i = 0; i < source.size(); i += step) {
      try {
        (void)read_sample(source, i);
        (void)source.key(i);
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
    const std::string path = folder / "slides.index";
    write_slide_index(options, path);
    options.index = path;
    REQUIRE(read_some(options) >= 5);
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
      ++(read_some(options) == 0 ? refused : read);
    }
  }
  CHECK(refused > 0);
  CHECK(read > 0);
}

}  // namespace PENSTOCK_TEST_FILE
