// SPDX-License-Identifier: Apache-2.0
#include "sources/slide/slide_files.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace penstock_test {

namespace {

class TiffBytes {
 public:
  TiffBytes(bool big_endian, bool big_tiff) : big_endian_(big_endian), big_tiff_(big_tiff) {}
  void number(std::uint64_t value, std::uint32_t size) {
    for (std::uint32_t i = 0; i < size; ++i)
      bytes.push_back(static_cast<std::byte>(value >> 8 * (big_endian_ ? size - 1 - i : i)));
  }
  void address(std::uint64_t value) { number(value, big_tiff_ ? 8 : 4); }
  std::uint64_t append(const Bytes& more) {
    if (bytes.size() % 2 != 0) bytes.push_back({});
    const std::uint64_t at = bytes.size();
    bytes.insert(bytes.end(), more.begin(), more.end());
    return at;
  }
  Bytes bytes;

 private:
  bool big_endian_, big_tiff_;
};

// SOI, tables, EOI, and the stream without them. Segments of other kinds go.
struct Split {
  Bytes tables, stream;
};
Split split(const Bytes& jpeg) {
  Split out;
  const auto add = [](Bytes& to, const Bytes& from, std::size_t begin, std::size_t end) {
    to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(begin),
              from.begin() + static_cast<std::ptrdiff_t>(end));
  };
  add(out.tables, jpeg, 0, 2);
  add(out.stream, jpeg, 0, 2);
  std::size_t at = 2;
  while (true) {
    const int code = std::to_integer<int>(jpeg[at + 1]);
    const std::size_t length =
        std::to_integer<std::size_t>(jpeg[at + 2]) << 8 | std::to_integer<std::size_t>(jpeg[at + 3]);
    if (code == 0xDA) break;
    if (code == 0xDB || code == 0xC4) add(out.tables, jpeg, at, at + 2 + length);
    if (code == 0xC0) add(out.stream, jpeg, at, at + 2 + length);
    at += 2 + length;
  }
  add(out.stream, jpeg, at, jpeg.size());
  out.tables.insert(out.tables.end(), jpeg.end() - 2, jpeg.end());
  return out;
}

// Components are called 0, 1, 2, as Aperio's are.
void number_components(Bytes& stream) {
  std::size_t at = 2;
  while (true) {
    const int code = std::to_integer<int>(stream[at + 1]);
    const std::size_t length =
        std::to_integer<std::size_t>(stream[at + 2]) << 8 | std::to_integer<std::size_t>(stream[at + 3]);
    for (std::size_t c = 0; c < 3; ++c) {
      if (code == 0xC0) stream[at + 10 + 3 * c] = static_cast<std::byte>(c);
      if (code == 0xDA) stream[at + 5 + 2 * c] = static_cast<std::byte>(c);
    }
    if (code == 0xDA) return;
    at += 2 + length;
  }
}

struct Entry {
  std::uint16_t tag, type;
  std::vector<std::uint64_t> values;
};

std::uint32_t bytes_of(std::uint16_t type) { return type == 3 ? 2 : type == 4 || type == 5 ? 4 : type == 16 ? 8 : 1; }

}  // namespace

void WrittenSlide::overwrite(std::uint64_t at, const Bytes& bytes) const {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(at));
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file) throw std::runtime_error("can't change " + path);
}

void WrittenSlide::set_size(std::uint64_t tile, std::uint64_t bytes) const {
  TiffBytes number(form.big_endian, form.big_tiff);
  number.number(bytes, size_bytes);
  overwrite(sizes_at + tile * size_bytes, number.bytes);
}

void WrittenSlide::set_offset(std::uint64_t tile, std::uint64_t offset) const {
  TiffBytes number(form.big_endian, form.big_tiff);
  number.number(offset, offset_bytes);
  overwrite(offsets_at + tile * offset_bytes, number.bytes);
}

void WrittenSlide::leave_out_below(std::size_t level, std::uint64_t tile) const {
  overwrite(lower_at[level][0] + tile * offset_bytes, Bytes(offset_bytes));
  overwrite(lower_at[level][1] + tile * size_bytes, Bytes(size_bytes));
}

namespace {

// Entries of one directory, and the file that it goes into.
class Directory {
 public:
  Directory(TiffBytes& file, const SlideForm& form)
      : file_(file), big_endian_(form.big_endian), big_tiff_(form.big_tiff) {}

  void set(std::uint16_t tag, std::uint16_t type, std::vector<std::uint64_t> values) {
    entries_.push_back({tag, type, std::move(values)});
  }
  void set_text(std::uint16_t tag, const std::string& text) {
    std::vector<std::uint64_t> values;
    for (const char c : text) values.push_back(static_cast<unsigned char>(c));
    values.push_back(0);
    set(tag, 2, std::move(values));
  }

  // Returns where it begins. Where the directory that follows is said is in `next_at`; where its tables of tiles begin,
  // in `tables_at`.
  std::uint64_t write(WrittenSlide* slide) {
    std::ranges::sort(entries_, {}, &Entry::tag);
    // Values that have no room in their entries.
    const std::uint32_t room = big_tiff_ ? 8 : 4;
    std::vector<std::uint64_t> places;
    for (const Entry& entry : entries_) {
      TiffBytes values(big_endian_, big_tiff_);
      for (const std::uint64_t value : entry.values) values.number(value, bytes_of(entry.type));
      places.push_back(values.bytes.size() > room ? file_.append(values.bytes) : 0);
    }
    const std::uint64_t begin = file_.append({});
    file_.number(entries_.size(), big_tiff_ ? 8 : 2);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const Entry& entry = entries_[i];
      file_.number(entry.tag, 2);
      file_.number(entry.type, 2);
      file_.address(entry.type == 5 ? entry.values.size() / 2 : entry.values.size());
      std::uint64_t at = file_.bytes.size();
      if (places[i] != 0) {
        at = places[i];
        file_.address(at);
      } else {
        for (const std::uint64_t value : entry.values) file_.number(value, bytes_of(entry.type));
        while (file_.bytes.size() < at + room) file_.bytes.push_back({});
      }
      if (entry.tag == 324) tables_at[0] = at;
      if (entry.tag == 325) tables_at[1] = at;
      if (slide != nullptr && entry.tag == 324) {
        slide->offsets_at = at;
        slide->offset_bytes = bytes_of(entry.type);
      }
      if (slide != nullptr && entry.tag == 325) {
        slide->sizes_at = at;
        slide->size_bytes = bytes_of(entry.type);
      }
    }
    next_at = file_.bytes.size();
    file_.address(0);
    return begin;
  }

  std::uint64_t next_at = 0;
  std::array<std::uint64_t, 2> tables_at{};

 private:
  TiffBytes& file_;
  bool big_endian_, big_tiff_;
  std::vector<Entry> entries_;
};

StoredTile encode_jpeg_tile(const Image& tile, const SlideForm& form, Bytes& tables) {
  PlainJpeg options{.quality = form.quality, .luma = form.luma, .jfif = false};
  if (form.rgb) options.colors = PlainJpeg::rgb;
  const Bytes whole = plain_encode(tile, options);
  Split parts = split(whole);
  tables = parts.tables;
  Bytes stored = form.own_tables ? whole : parts.stream;
  if (form.rgb) number_components(stored);
  return {stored, plain_decode(whole)};
}

struct WrittenLevel {
  Image pixels;
  std::vector<std::uint64_t> offsets, sizes;
  Bytes tables;
};

// All tiles of a plane come before those of the next.
void take_apart(WrittenLevel& level, std::uint64_t planes) {
  const std::vector<std::uint64_t> offsets = std::exchange(level.offsets, {}), sizes = std::exchange(level.sizes, {});
  for (std::uint64_t plane = 0; plane < planes; ++plane)
    for (std::size_t tile = 0; tile < offsets.size(); ++tile) {
      level.offsets.push_back(offsets[tile] + plane * sizes[tile] / planes);
      level.sizes.push_back(sizes[tile] / planes);
    }
}

WrittenLevel write_tiles(TiffBytes& file, const SlideForm& form, std::int32_t width, std::int32_t height,
                         std::uint64_t seed) {
  WrittenLevel level{Image({height, width, 3}), {}, {}, {}};
  const std::int32_t columns = (width + form.tile_width - 1) / form.tile_width;
  const std::int32_t rows = (height + form.tile_height - 1) / form.tile_height;
  const penstock::ImageShape shape{rows * form.tile_height, columns * form.tile_width, 3};
  const Image drawn = form.draw ? form.draw(shape) : photo(shape, seed);
  for (std::int32_t row = 0; row < rows; ++row)
    for (std::int32_t column = 0; column < columns; ++column) {
      const Image tile =
          cut(drawn, {row * form.tile_height, column * form.tile_width, form.tile_height, form.tile_width});
      const StoredTile stored = form.encode ? form.encode(tile) : encode_jpeg_tile(tile, form, level.tables);
      for (std::int32_t y = 0; y < form.tile_height; ++y)
        for (std::int32_t x = 0; x < form.tile_width; ++x)
          for (std::int32_t c = 0; c < 3; ++c) {
            const std::int32_t there_y = row * form.tile_height + y, there_x = column * form.tile_width + x;
            if (there_y < height && there_x < width) level.pixels.at(there_y, there_x, c) = stored.pixels.at(y, x, c);
          }
      level.offsets.push_back(file.append(stored.stream));
      level.sizes.push_back(stored.stream.size());
    }
  if (form.planes == 2 && form.encode) take_apart(level, form.samples);
  return level;
}

Directory directory_of(TiffBytes& file, const SlideForm& form, const WrittenLevel& level, bool first) {
  Directory directory(file, form);
  const std::uint16_t address = form.big_tiff ? 16 : 4;
  const auto side = [](std::int32_t pixels) { return static_cast<std::uint64_t>(pixels); };
  directory.set(256, 4, {side(level.pixels.shape.width)});
  directory.set(257, 4, {side(level.pixels.shape.height)});
  directory.set(258, 3, std::vector<std::uint64_t>(form.samples, form.bits));
  directory.set(259, 3, {form.compression});
  directory.set(262, 3, {form.photometric != 0xffff ? form.photometric : form.samples == 1 ? 1u : form.rgb ? 2u : 6u});
  for (const auto& [tag, values] : form.entries) directory.set(tag, 3, {values.begin(), values.end()});
  directory.set(277, 3, {form.samples});
  directory.set(284, 3, {form.planes});
  if (form.strips) {
    directory.set(273, address, {level.offsets.front()});
    directory.set(278, 4, {side(level.pixels.shape.height)});
    directory.set(279, address, {level.sizes.front()});
  } else {
    directory.set(322, 4, {side(form.tile_width)});
    directory.set(323, 4, {side(form.tile_height)});
    directory.set(324, address, level.offsets);
    directory.set(325, form.short_sizes ? std::uint16_t{3} : address, level.sizes);
  }
  if (!form.own_tables && !form.encode) {
    std::vector<std::uint64_t> values;
    for (const std::byte b : level.tables) values.push_back(std::to_integer<std::uint64_t>(b));
    directory.set(347, 7, values);
  }
  if (form.reduced || (!first && form.layout == SlideLevels::tiff)) directory.set(254, 4, {1});
  if (const std::uint16_t orientation = first ? form.orientation : form.lower_orientation; orientation != 0)
    directory.set(274, 3, {orientation});
  if (!first) return directory;
  if (!form.description.empty()) directory.set_text(270, form.description);
  if (!form.software.empty()) directory.set_text(305, form.software);
  if (form.per_unit != 0) {
    directory.set(282, 5, {form.per_unit, 1});
    directory.set(283, 5, {form.per_unit, 1});
    directory.set(296, 3, {form.unit});
  }
  return directory;
}

// A directory as Aperio's files have it after level 0: strips.
Directory thumbnail(TiffBytes& file, const SlideForm& form) {
  SlideForm strips = form;
  strips.strips = true;
  strips.tile_width = strips.tile_height = 32;
  strips.layout = SlideLevels::aperio;
  return directory_of(file, strips, write_tiles(file, strips, 32, 32, 99), false);
}

}  // namespace

SlideForm micron_slide(std::int32_t width, std::int32_t height) {
  return {.width = width,
          .height = height,
          .tile_width = 64,
          .tile_height = 48,
          .luma = {1, 1},
          .rgb = true,
          .quality = 100,
          .per_unit = 10'000};
}

SlideForm plain_form(SlideForm form) {
  form.rgb = true;
  form.compression = 1;
  form.encode = [samples = form.samples, planes = form.planes](const Image& tile) {
    Bytes bytes;
    Image seen = tile;
    const std::size_t pixels = tile.pixels.size() / 3;
    for (std::size_t i = 0; i < pixels * samples; ++i) {
      const std::size_t from = samples == 1 ? 3 * i : planes == 1 ? i : i % pixels * 3 + i / pixels;
      bytes.push_back(static_cast<std::byte>(tile.pixels[from]));
    }
    for (std::size_t i = 0; samples == 1 && i < seen.pixels.size(); ++i) seen.pixels[i] = tile.pixels[i / 3 * 3];
    return StoredTile{bytes, seen};
  };
  return form;
}

SlideForm openslide_form(SlideForm form) {
  if (!form.encode) form = plain_form(std::move(form));
  form.entries.push_back({266, {2}});
  form.encode = [encode = form.encode](const Image& tile) {
    StoredTile stored = encode(tile);
    for (std::byte& byte : stored.stream) {
      auto bits = std::to_integer<unsigned>(byte), reversed = 0u;
      for (int i = 0; i < 8; ++i, bits >>= 1) reversed = reversed << 1 | (bits & 1);
      byte = static_cast<std::byte>(reversed);
    }
    return stored;
  };
  return form;
}

std::vector<WrittenSlide> write_images(const std::string& path, const std::vector<SlideForm>& forms) {
  const SlideForm& of_file = forms.front();
  TiffBytes file(of_file.big_endian, of_file.big_tiff);
  file.bytes = {static_cast<std::byte>(of_file.big_endian ? 'M' : 'I'),
                static_cast<std::byte>(of_file.big_endian ? 'M' : 'I')};
  file.number(of_file.big_tiff ? 43 : 42, 2);
  if (of_file.big_tiff) {
    file.number(8, 2);
    file.number(0, 2);
  }
  std::uint64_t next_at = file.bytes.size();
  file.address(0);
  const auto append = [&](Directory directory, WrittenSlide* slide) {
    TiffBytes where(of_file.big_endian, of_file.big_tiff);
    where.address(directory.write(slide));
    std::ranges::copy(where.bytes, file.bytes.begin() + static_cast<std::ptrdiff_t>(next_at));
    next_at = directory.next_at;
    return directory.tables_at;
  };

  std::vector<WrittenSlide> slides;
  for (SlideForm form : forms) {
    form.big_endian = of_file.big_endian;
    form.big_tiff = of_file.big_tiff;
    const WrittenLevel first = write_tiles(file, form, form.width, form.height, form.seed);
    WrittenSlide slide{
        .path = path, .form = form, .pixels = first.pixels, .offsets = first.offsets, .sizes = first.sizes};
    std::vector<Directory> lower;
    for (std::size_t i = 0; i < form.lower.size(); ++i) {
      const WrittenLevel level = write_tiles(file, form, form.lower[i][0], form.lower[i][1], form.seed + 1 + i);
      slide.lower.push_back(level.pixels);
      lower.push_back(directory_of(file, form, level, false));
    }
    Directory top = directory_of(file, form, first, true);
    if (form.layout == SlideLevels::ome && !lower.empty()) {
      std::vector<std::uint64_t> places;
      for (Directory& directory : lower) {
        places.push_back(directory.write(nullptr));
        slide.lower_at.push_back(directory.tables_at);
      }
      top.set(330, form.big_tiff ? 16 : 4, places);
      lower.clear();
    }
    append(std::move(top), &slide);
    if (form.thumbnail) append(thumbnail(file, form), nullptr);
    for (Directory& directory : lower) slide.lower_at.push_back(append(std::move(directory), nullptr));
    slides.push_back(std::move(slide));
  }
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(file.bytes.data()), static_cast<std::streamsize>(file.bytes.size()));
  if (!out) throw std::runtime_error("can't write " + path);
  return slides;
}

WrittenSlide write_slide(const std::string& path, const SlideForm& form) { return write_images(path, {form}).front(); }

}  // namespace penstock_test
