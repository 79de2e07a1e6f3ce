#include "sources/slide/slide_files.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>

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

std::uint32_t bytes_of(std::uint16_t type) { return type == 3 ? 2 : type == 4 ? 4 : type == 16 ? 8 : 1; }

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

WrittenSlide write_slide(const std::string& path, const SlideForm& form) {
  WrittenSlide slide{.path = path, .form = form, .pixels = Image({form.height, form.width, 3})};
  TiffBytes file(form.big_endian, form.big_tiff);
  file.bytes = {static_cast<std::byte>(form.big_endian ? 'M' : 'I'),
                static_cast<std::byte>(form.big_endian ? 'M' : 'I')};
  file.number(form.big_tiff ? 43 : 42, 2);
  if (form.big_tiff) {
    file.number(8, 2);
    file.number(0, 2);
  }
  const std::size_t first_directory = file.bytes.size();
  file.address(0);

  const std::int32_t columns = (form.width + form.tile_width - 1) / form.tile_width;
  const std::int32_t rows = (form.height + form.tile_height - 1) / form.tile_height;
  const Image drawn = photo({rows * form.tile_height, columns * form.tile_width, 3}, form.seed);
  Bytes tables;
  for (std::int32_t row = 0; row < rows; ++row)
    for (std::int32_t column = 0; column < columns; ++column) {
      const Image tile =
          cut(drawn, {row * form.tile_height, column * form.tile_width, form.tile_height, form.tile_width});
      PlainJpeg options{.quality = form.quality, .luma = form.luma, .jfif = false};
      if (form.rgb) options.colors = PlainJpeg::rgb;
      const Bytes whole = plain_encode(tile, options);
      const Image decoded = plain_decode(whole);
      for (std::int32_t y = 0; y < form.tile_height; ++y)
        for (std::int32_t x = 0; x < form.tile_width; ++x)
          for (std::int32_t c = 0; c < 3; ++c) {
            const std::int32_t there_y = row * form.tile_height + y, there_x = column * form.tile_width + x;
            if (there_y < form.height && there_x < form.width)
              slide.pixels.at(there_y, there_x, c) = decoded.at(y, x, c);
          }
      Split parts = split(whole);
      tables = parts.tables;
      Bytes stored = form.own_tables ? whole : parts.stream;
      if (form.rgb) number_components(stored);
      slide.offsets.push_back(file.append(stored));
      slide.sizes.push_back(stored.size());
    }

  const std::uint16_t address = form.big_tiff ? 16 : 4;
  const auto side = [](std::int32_t pixels) { return static_cast<std::uint64_t>(pixels); };
  std::vector<std::uint64_t> table_values;
  for (const std::byte b : tables) table_values.push_back(std::to_integer<std::uint64_t>(b));
  std::vector<Entry> entries{{256, 4, {side(form.width)}},
                             {257, 4, {side(form.height)}},
                             {258, 3, std::vector<std::uint64_t>(form.samples, form.bits)},
                             {259, 3, {form.compression}},
                             {262, 3, {form.rgb ? 2u : 6u}}};
  if (form.strips) {
    entries.push_back({273, address, {slide.offsets.front()}});
    entries.push_back({277, 3, {form.samples}});
    entries.push_back({278, 4, {side(form.height)}});
    entries.push_back({279, address, {slide.sizes.front()}});
    entries.push_back({284, 3, {form.planes}});
  } else {
    entries.push_back({277, 3, {form.samples}});
    entries.push_back({284, 3, {form.planes}});
    entries.push_back({322, 4, {side(form.tile_width)}});
    entries.push_back({323, 4, {side(form.tile_height)}});
    entries.push_back({324, address, slide.offsets});
    entries.push_back({325, static_cast<std::uint16_t>(form.short_sizes ? 3 : address), slide.sizes});
  }
  if (!form.own_tables) entries.push_back({347, 7, table_values});
  // Values that have no room in their entries.
  const std::uint32_t room = form.big_tiff ? 8 : 4;
  std::vector<std::uint64_t> places;
  for (const Entry& entry : entries) {
    TiffBytes values(form.big_endian, form.big_tiff);
    for (const std::uint64_t value : entry.values) values.number(value, bytes_of(entry.type));
    places.push_back(values.bytes.size() > room ? file.append(values.bytes) : 0);
  }
  const std::uint64_t directory = file.append({});
  file.number(entries.size(), form.big_tiff ? 8 : 2);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    file.number(entry.tag, 2);
    file.number(entry.type, 2);
    file.address(entry.values.size());
    std::uint64_t at = file.bytes.size();
    if (places[i] != 0) {
      at = places[i];
      file.address(at);
    } else {
      for (const std::uint64_t value : entry.values) file.number(value, bytes_of(entry.type));
      while (file.bytes.size() < at + room) file.bytes.push_back({});
    }
    if (entry.tag == 324) {
      slide.offsets_at = at;
      slide.offset_bytes = bytes_of(entry.type);
    }
    if (entry.tag == 325) {
      slide.sizes_at = at;
      slide.size_bytes = bytes_of(entry.type);
    }
  }
  file.address(0);
  TiffBytes where(form.big_endian, form.big_tiff);
  where.address(directory);
  std::copy(where.bytes.begin(), where.bytes.end(), file.bytes.begin() + static_cast<std::ptrdiff_t>(first_directory));
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(file.bytes.data()), static_cast<std::streamsize>(file.bytes.size()));
  if (!out) throw std::runtime_error("can't write " + path);
  return slide;
}

}  // namespace penstock_test
