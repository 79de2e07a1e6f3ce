// SPDX-License-Identifier: Apache-2.0
// Slides of many tiles, directories of many entries, and files that say more than they have.
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include <penstock/penstock.hpp>
#include <penstock/sources/slide.hpp>

#include "slow_inputs/slow_inputs.hpp"
#include "sources/slide/slide_files.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

void number(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * i);
}

void entry(std::string& out, unsigned tag, unsigned type, std::uint64_t count, std::uint64_t value) {
  number(out, tag, 2);
  number(out, type, 2);
  number(out, count, 4);
  number(out, value, 4);
}

// A directory alone, little-endian, of an image of that size, with so many further entries, and tables of so many
// bytes, which, where they are asked to, all these entries have as their value.
std::string directory(std::uint64_t width, std::uint64_t height, std::size_t more, std::size_t tables,
                      bool shared = false, std::uint64_t tile = 8192) {
  const std::uint64_t tiles = ((width + tile - 1) / tile) * ((height + tile - 1) / tile);
  std::string file = "II*";
  file += '\0';
  const std::uint64_t at = 8 + tiles * 8 + tables + 8;
  number(file, at, 4);
  file += std::string(tiles * 8 + tables, '\1') + std::string(at - 8 - tiles * 8 - tables, '\0');
  number(file, 10 + more, 2);
  entry(file, 256, 4, 1, width);
  entry(file, 257, 4, 1, height);
  entry(file, 258, 3, 3, 8 + tiles * 8 + tables);
  entry(file, 259, 3, 1, 7);
  entry(file, 262, 3, 1, 6);
  entry(file, 277, 3, 1, 3);
  entry(file, 322, 4, 1, tile);
  entry(file, 323, 4, 1, tile);
  entry(file, 324, 4, tiles, 8);
  entry(file, 325, 4, tiles, 8 + tiles * 4);
  constexpr unsigned read[] = {270, 305, 700};  // texts
  for (std::size_t i = 0; i < more; ++i)
    shared ? entry(file, read[i % 3], 1, tables, 8 + tiles * 8)
           : entry(file, static_cast<unsigned>(40'000 + i % 25'000), 3, 1, 1);
  number(file, 0, 4);
  // Values of bits a sample.
  for (std::size_t i = 0; i < 3; ++i)
    file[8 + tiles * 8 + tables + 2 * i] = 8, file[8 + tiles * 8 + tables + 2 * i + 1] = 0;
  return file;
}

// A row of n tiles that lie at `places` places, in turns.
void write_shared_tiles(const TempFolder& folder, std::size_t n, std::size_t places, std::int32_t side = 256) {
  SlideForm form{.width = side, .height = side, .tile_width = side, .tile_height = side, .own_tables = true};
  form.draw = [](const ImageShape& shape) { return Image(shape); };
  const WrittenSlide one = write_slide(folder / "one.tif", form);
  const std::string stream = content_of(folder, "one.tif").substr(one.offsets[0], one.sizes[0]);
  const auto tile = static_cast<std::uint64_t>(side);
  std::string file = directory(tile * n, tile, 0, 0, false, tile), tables;
  for (std::size_t i = 0; i < n; ++i) number(tables, file.size() + i % places * stream.size(), 4);
  for (std::size_t i = 0; i < n; ++i) number(tables, stream.size(), 4);
  file.replace(8, tables.size(), tables);
  folder.write("a.tif", file + times(places, stream));
}

void open_with(const TempFolder& folder, const SlideTissue& tissue) {
  const SlideSource source({.files = folder / "a.tif", .tissue = tissue});
  if (const auto& failure = source.slides().front().failure) throw Error(*failure);
  (void)source.block_ends();
  if (source.size() != 0) (void)source.key(source.size() - 1);
}

void open_it(const TempFolder& folder) { open_with(folder, {}); }

// A slide whose OME-XML has that in it, besides its image.
void write_ome(const TempFolder& folder, const std::string& images, const std::string& in_pixels = {}) {
  write_slide(folder / "a.tif", {.width = 256,
                                 .height = 256,
                                 .description = "<OME>" + images + R"(<Image><Pixels SizeX="256" SizeY="256">)" +
                                                in_pixels + "</Pixels></Image></OME>"});
}

// A table of n columns of numbers and one of names, of so many lines, the first of which is the slide's.
void write_wide_table(const TempFolder& folder, std::size_t columns, std::size_t lines) {
  std::string text = "slide,class";
  for (std::size_t i = 0; i < columns; ++i) text += ",c" + std::to_string(i);
  for (std::size_t line = 0; line < lines; ++line)
    text += "\n" + (line == 0 ? "a" : "other" + std::to_string(line)) + ",name" + times(columns, ",1.5");
  folder.write("t.csv", text + "\n");
}

void load_with_table(const TempFolder& folder) {
  const SlideSource source({.files = folder / "a.tif", .size = 64, .labels = folder / "t.csv"});
  const Pipeline tiles = from(source) | batch(1);
  (void)tiles.plan();
  Loader loader(tiles, {.threads = 1});
  for (const Batch& batch : loader.epoch()) (void)batch.size();
  (void)loader.report();
}

// A slide of one tile of 4,096 x `rows` grey pixels, whose stream is given.
void write_value_tile(const TempFolder& folder, std::size_t rows, std::uint16_t compression,
                      const std::string& stream) {
  SlideForm form = plain_form({.width = 4096,
                               .height = static_cast<std::int32_t>(rows),
                               .tile_width = 4096,
                               .tile_height = static_cast<std::int32_t>(rows),
                               .samples = 1});
  form.compression = compression;
  form.encode = [&](const Image& tile) {
    const auto bytes = std::as_bytes(std::span(stream));
    return StoredTile{{bytes.begin(), bytes.end()}, tile};
  };
  form.draw = [](const ImageShape& shape) { return Image(shape); };
  write_slide(folder / "a.tif", form);
}

std::string deflated_zeros(std::size_t bytes) {
  std::string stream(compressBound(static_cast<uLong>(bytes)), '\0');
  auto size = static_cast<uLongf>(stream.size());
  const std::string zeros(bytes, '\0');
  compress(reinterpret_cast<Bytef*>(stream.data()), &size, reinterpret_cast<const Bytef*>(zeros.data()),
           static_cast<uLong>(bytes));
  stream.resize(size);
  return stream;
}

// Reads places of which each needs a part of the tile alone.
void read_parts(const TempFolder& folder) {
  const SlideSource source({.files = folder / "a.tif", .size = 64, .stride = 1500, .edges = SlideEdges::pad});
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(source.size(), 3); ++i) (void)read_sample(source, i);
}

void read_all(const TempFolder& folder) {
  const SlideSource source({.files = folder / "a.tif", .size = 64, .stride = 48, .edges = SlideEdges::pad});
  for (std::uint64_t i = 0; i < source.size(); ++i) (void)read_sample(source, i);
}

}  // namespace

TEST_CASE("slides take time and memory as they are large") {
  check_inputs(
      "slides", {.seconds = 2, .megabytes = 200},
      {
          {.name = "n tiles",
           .size = 100,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 write_slide(f / "a.tif", {.width = 640, .height = static_cast<std::int32_t>(n) * 10});
               },
           .use = read_all},
          {.name = "n tiles of deflate, of few bytes and many pixels",
           .size = 25,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 SlideForm form = plain_form({.width = 512,
                                              .height = static_cast<std::int32_t>(512 * n),
                                              .tile_width = 512,
                                              .tile_height = 512,
                                              .samples = 1});
                 form.compression = 8;
                 form.encode = [](const Image& tile) {
                   const std::string stream = deflated_zeros(512 * 512);
                   const auto bytes = std::as_bytes(std::span(stream));
                   return StoredTile{{bytes.begin(), bytes.end()}, tile};
                 };
                 form.draw = [](const ImageShape& shape) { return Image(shape); };
                 write_slide(f / "a.tif", form);
               },
           .use =
               [](const TempFolder& f) {
                 const SlideSource source({.files = f / "a.tif", .size = 64, .stride = 512});
                 for (std::uint64_t i = 0; i < source.size(); ++i) (void)read_sample(source, i);
               }},
          {.name = "n rows of deflate, whose stream is twice as long",
           .size = 400,
           .make = [](const TempFolder& f, std::size_t n) { write_value_tile(f, n, 8, deflated_zeros(8192 * n)); },
           .use = read_parts},
          {.name = "n rows of deflate, whose stream is far too long",
           .size = 100,
           .make = [](const TempFolder& f, std::size_t n) { write_value_tile(f, n, 8, deflated_zeros(400'000 * n)); },
           .use = read_parts,
           .refused = Errc::corrupt},
          {.name = "n bytes of LZW that only clear its table",
           .size = 400'000,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 write_value_tile(f, 400, 5, times(n / 9, std::string("\x80\x40\x20\x10\x08\x04\x02\x01\0", 9)));
               },
           .use = read_parts,
           .refused = Errc::corrupt},
          {.name = "n bytes of PackBits that say nothing",
           .size = 1'000'000,
           .make = [](const TempFolder& f, std::size_t n) { write_value_tile(f, 400, 32773, times(n, "\x80")); },
           .use = read_parts,
           .refused = Errc::corrupt},
          {.name = "n entries in a directory",
           .size = 1'000,
           .make = [](const TempFolder& f, std::size_t n) { f.write("a.tif", directory(8192, 8192, n, 0)); },
           .use = open_it,
           .refused = Errc::corrupt},
          {.name = "n tiles that are the same bytes",
           .size = 5'000,
           .make = [](const TempFolder& f, std::size_t n) { write_shared_tiles(f, n, 1); },
           .use = [](const TempFolder& f) { open_with(f, {.by = SlideTissue::By::saturation}); }},
          {.name = "n tiles at twenty places",
           .size = 20'000,
           .make = [](const TempFolder& f, std::size_t n) { write_shared_tiles(f, n, 20); },
           .use = [](const TempFolder& f) { open_with(f, {.by = SlideTissue::By::saturation}); }},
          {.name = "n tiles of 4096 x 4096 pixels",
           .size = 9,
           .make = [](const TempFolder& f, std::size_t n) { write_shared_tiles(f, n, n, 4096); },
           .use = [](const TempFolder& f) { open_with(f, {.by = SlideTissue::By::saturation}); }},
          {.name = "n bytes that three entries have as their value",
           .size = 500'000,
           .make = [](const TempFolder& f, std::size_t n) { f.write("a.tif", directory(8192, 8192, 3, n, true)); },
           .use = open_it},
          {.name = "n lines of a table of paths",
           .size = 10'000,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 write_slide(f / "a.tif", {.width = 64, .height = 64});
                 std::string lines = "label,slide\n1," + (f / "a.tif") + "\n";
                 for (std::size_t i = 0; i < n; ++i)
                   lines += std::to_string(i) + ",/a/b/c/d/e/f/g/h/i/j/" + std::to_string(i) + "/a.tif\n";
                 f.write("t.csv", lines);
               },
           .use =
               [](const TempFolder& f) {
                 const SlideSource source({.files = f / "a.tif", .size = 64, .labels = f / "t.csv"});
                 (void)read_sample(source, 0);
               }},
          {.name = "n columns of a table",
           .size = 2'000,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 write_slide(f / "a.tif", {.width = 64, .height = 64});
                 write_wide_table(f, n, 2);
               },
           .use = load_with_table},
          {.name = "n columns of a table, one of which is asked for and not there",
           .size = 2'000,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 write_slide(f / "a.tif", {.width = 64, .height = 64});
                 write_wide_table(f, n, 2);
               },
           .use =
               [](const TempFolder& f) {
                 (void)SlideSource({.files = f / "a.tif", .labels = f / "t.csv", .columns = {"absent"}});
               },
           .refused = Errc::invalid_argument},
          {.name = "n sequences in each other in a DICOM file",
           .size = 20'000,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 const std::string sequence("\x08\0\x15\x11SQ\0\0\xff\xff\xff\xff", 12);
                 f.write("a.tif", std::string(128, '\0') + "DICM" + times(n, sequence));
                 f.write("b.dcm", std::string(128, '\0') + "DICM" + times(n, sequence));
               },
           .use =
               [](const TempFolder& f) {
                 const SlideSource source({.paths = {f / "a.tif", f / "b.dcm"}});
                 if (const auto& failure = source.slides().back().failure) throw Error(*failure);
               },
           .refused = Errc::unsupported},
          {.name = "n rows of an empty image",
           .size = 500'000,
           .make = [](const TempFolder& f, std::size_t n) { f.write("a.tif", directory(8192, n * 100, 0, 0)); },
           .use = open_it},
          {.name = "n images of OME-XML",
           .size = 15'000,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 write_ome(f, times(n, R"(<Image><Pixels SizeX="256" SizeY="255"><TiffData/></Pixels></Image>)"));
               },
           .use = open_it},
          {.name = "n places of an image of OME-XML",
           .size = 15'000,
           .make = [](const TempFolder& f,
                      std::size_t n) { write_ome(f, {}, times(n, R"(<TiffData IFD="0"><UUID/></TiffData>)")); },
           .use = open_it},
          {.name = "n channels of OME-XML",
           .size = 20'000,
           .make = [](const TempFolder& f, std::size_t n) { write_ome(f, {}, times(n, R"(<Channel Name="a"/>)")); },
           .use = open_it,
           .refused = Errc::unsupported},
          {.name = "n objectives of OME-XML",
           .size = 30'000,
           .make = [](const TempFolder& f,
                      std::size_t n) { write_ome(f, "<Instrument>" + times(n, "<Objective/>") + "</Instrument>"); },
           .use = open_it},
          {.name = "n elements of OME-XML in one another",
           .size = 20'000,
           .make = [](const TempFolder& f, std::size_t n) { write_ome(f, times(n, "<Image>") + times(n, "</Image>")); },
           .use = open_it},
          {.name = "n bytes that are nearly OME-XML",
           .size = 150'000,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 write_slide(f / "a.tif",
                             {.width = 256, .height = 256, .description = times(n / 4, "OME:") + times(n / 4, ":OME")});
               },
           .use = open_it},
          {.name = "n slides",
           .size = 200,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 const WrittenSlide one = write_slide(f / "a.tif", {.width = 64, .height = 64});
                 for (std::size_t i = 0; i < n; ++i)
                   std::filesystem::copy_file(one.path, f / ("b" + std::to_string(i)));
               },
           .use =
               [](const TempFolder& f) {
                 const SlideSource source({.files = f / "b*", .size = 64, .max_open_files = 8});
                 for (std::uint64_t i = 0; i < source.size(); ++i) (void)read_sample(source, i);
               }},
      });
}

}  // namespace PENSTOCK_TEST_FILE
