// SPDX-License-Identifier: Apache-2.0
#include "slide_file.hpp"

#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "support/catch.hpp"

namespace penstock_test {

namespace {

// What libtiff has complained of since the last look.
std::string complaint;  // NOLINT: libtiff's handlers of 4.5 are global too

void complain(const char* module, const char* format, va_list arguments) {
  char text[500];
  std::vsnprintf(text, sizeof text, format, arguments);
  complaint += std::string(module != nullptr ? module : "") + ": " + text + "\n";
}

void expect_no_complaint(const std::string& doing) {
  if (complaint.empty()) return;
  const std::string text = doing + ": " + complaint;
  complaint.clear();
  throw std::runtime_error(text);
}

template <class T>
T field(tiff* file, std::uint32_t tag) {
  T value{};
  if (TIFFGetFieldDefaulted(file, tag, &value) != 1) throw std::runtime_error("no tag " + std::to_string(tag));
  return value;
}

}  // namespace

Picture halved(const Picture& picture) {
  Picture half{picture.width / 2, picture.height / 2, {}};
  for (std::int32_t y = 0; y < half.height; ++y)
    for (std::int32_t x = 0; x < half.width; ++x)
      for (int c = 0; c < 3; ++c)
        half.rgb.push_back(
            static_cast<std::uint8_t>((picture.at(2 * x, 2 * y)[c] + picture.at(2 * x + 1, 2 * y)[c] +
                                       picture.at(2 * x, 2 * y + 1)[c] + picture.at(2 * x + 1, 2 * y + 1)[c] + 2) /
                                      4));
  return half;
}

double mean_difference(const Picture& a, const Picture& b) {
  REQUIRE(a.width == b.width);
  REQUIRE(a.height == b.height);
  double sum = 0;
  for (std::size_t i = 0; i < a.rgb.size(); ++i) sum += std::abs(int{a.rgb[i]} - int{b.rgb[i]});
  return sum / static_cast<double>(a.rgb.size());
}

SlideFile::SlideFile(const std::string& path) : path_(path) {
  TIFFSetErrorHandler(complain);
  TIFFSetWarningHandler(complain);
  complaint.clear();
  file_.reset(TIFFOpen(path.c_str(), "r"), [](tiff* file) {
    if (file != nullptr) TIFFClose(file);
  });
  expect_no_complaint("opening " + path);
  if (file_ == nullptr) throw std::runtime_error(path + " can't be opened");
  std::vector<std::uint64_t> below;
  do {
    read_level(TIFFCurrentDirOffset(file_.get()));
    std::uint16_t count = 0;
    std::uint64_t* places = nullptr;
    if (TIFFGetField(file_.get(), TIFFTAG_SUBIFD, &count, &places) == 1) below.assign(places, places + count);
  } while (TIFFReadDirectory(file_.get()) == 1);
  directories_ = levels_.size();
  for (const std::uint64_t place : below) {
    REQUIRE(TIFFSetSubDirectory(file_.get(), place) == 1);
    read_level(place);
  }
  expect_no_complaint("reading the directories of " + path);
}

void SlideFile::read_level(std::uint64_t place) {
  tiff* const file = file_.get();
  Level level;
  REQUIRE(TIFFIsTiled(file) == 1);
  level.width = field<std::uint32_t>(file, TIFFTAG_IMAGEWIDTH);
  level.height = field<std::uint32_t>(file, TIFFTAG_IMAGELENGTH);
  level.tile = field<std::uint32_t>(file, TIFFTAG_TILEWIDTH);
  level.subfile_type = field<std::uint32_t>(file, TIFFTAG_SUBFILETYPE);
  level.photometric = field<std::uint16_t>(file, TIFFTAG_PHOTOMETRIC);
  CHECK(field<std::uint32_t>(file, TIFFTAG_TILELENGTH) == level.tile);
  CHECK(field<std::uint16_t>(file, TIFFTAG_COMPRESSION) == COMPRESSION_JPEG);
  CHECK(field<std::uint16_t>(file, TIFFTAG_SAMPLESPERPIXEL) == 3);
  CHECK(field<std::uint16_t>(file, TIFFTAG_BITSPERSAMPLE) == 8);
  CHECK(field<std::uint16_t>(file, TIFFTAG_PLANARCONFIG) == PLANARCONFIG_CONTIG);
  if (level.photometric == PHOTOMETRIC_YCBCR)
    TIFFGetField(file, TIFFTAG_YCBCRSUBSAMPLING, &level.subsampling_x, &level.subsampling_y);
  if (const char* text = nullptr; TIFFGetField(file, TIFFTAG_IMAGEDESCRIPTION, &text) == 1) level.description = text;
  float across = 0, down = 0;
  if (TIFFGetField(file, TIFFTAG_XRESOLUTION, &across) == 1) {
    CHECK(TIFFGetField(file, TIFFTAG_YRESOLUTION, &down) == 1);
    CHECK(across == down);
    CHECK(field<std::uint16_t>(file, TIFFTAG_RESOLUTIONUNIT) == RESUNIT_CENTIMETER);
    level.per_cm = across;
  }
  level.tiles = TIFFNumberOfTiles(file);
  const auto* const offsets = field<std::uint64_t*>(file, TIFFTAG_TILEOFFSETS);
  const auto* const bytes = field<std::uint64_t*>(file, TIFFTAG_TILEBYTECOUNTS);
  level.offsets.assign(offsets, offsets + level.tiles);
  level.bytes.assign(bytes, bytes + level.tiles);
  levels_.push_back(std::move(level));
  places_.push_back(place);
}

bool SlideFile::big_endian() const { return TIFFIsBigEndian(file_.get()) != 0; }

bool SlideFile::big_tiff() const {
  char head[4] = {};
  std::ifstream(path_, std::ios::binary).read(head, sizeof head);
  return head[2] + head[3] == 43;
}

void SlideFile::open_level(std::size_t level) {
  if (TIFFCurrentDirOffset(file_.get()) != places_[level])
    REQUIRE(TIFFSetSubDirectory(file_.get(), places_[level]) == 1);
  if (levels_[level].photometric == PHOTOMETRIC_YCBCR)
    TIFFSetField(file_.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
}

Picture SlideFile::tile(std::size_t level, std::uint32_t number) {
  complaint.clear();
  open_level(level);
  const auto side = static_cast<std::int32_t>(levels_[level].tile);
  Picture picture{side, side,
                  std::vector<std::uint8_t>(static_cast<std::size_t>(side) * static_cast<std::size_t>(side) * 3)};
  const auto wanted = static_cast<tmsize_t>(picture.rgb.size());
  const tmsize_t got = TIFFReadEncodedTile(file_.get(), number, picture.rgb.data(), wanted);
  expect_no_complaint("tile " + std::to_string(number) + " of level " + std::to_string(level));
  if (got != wanted || TIFFTileSize(file_.get()) != wanted) throw std::runtime_error("a tile of another size");
  return picture;
}

Picture SlideFile::picture(std::size_t level) {
  const Level& l = levels_[level];
  Picture whole{static_cast<std::int32_t>(l.width), static_cast<std::int32_t>(l.height),
                std::vector<std::uint8_t>(std::size_t{l.width} * l.height * 3)};
  for (std::uint32_t number = 0; number < l.tiles; ++number) {
    const Picture one = tile(level, number);
    const std::uint32_t left = number % l.columns() * l.tile, top = number / l.columns() * l.tile;
    for (std::uint32_t y = top; y < std::min(top + l.tile, l.height); ++y)
      std::memcpy(whole.rgb.data() + (std::size_t{y} * l.width + left) * 3,
                  one.rgb.data() + std::size_t{y - top} * l.tile * 3,
                  std::size_t{std::min(l.tile, l.width - left)} * 3);
  }
  return whole;
}

std::string SlideFile::stream(std::size_t level, std::uint32_t number) const {
  std::string bytes(levels_[level].bytes[number], '\0');
  std::ifstream in(path_, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(levels_[level].offsets[number]));
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  REQUIRE(in.gcount() == static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

ToolResult draw_slide(const std::string& path, const std::vector<std::string>& more) {
  std::vector<std::string> arguments{path};
  arguments.insert(arguments.end(), more.begin(), more.end());
  ToolResult result = make_slides(arguments);
  INFO(result.err);
  REQUIRE(result.status == 0);
  CHECK(result.err.empty());
  return result;
}

}  // namespace penstock_test
