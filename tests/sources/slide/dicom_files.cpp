// SPDX-License-Identifier: Apache-2.0
#include "sources/slide/dicom_files.hpp"

#include <fstream>
#include <stdexcept>
#include <string_view>

#include "transforms/codec/jpeg/plain_jpeg.hpp"

namespace penstock_test {

namespace {

class DicomElements {
 public:
  explicit DicomElements(bool types, bool lengths = true) : types_(types), lengths_(lengths) {}

  void number(std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> 8 * i & 255);
  }
  void add(std::uint32_t tag, std::string_view type, std::string value) {
    if (value.size() % 2 != 0) value += type == "UI" || type == "OB" ? '\0' : ' ';
    begin(tag, type, value.size());
    bytes += value;
  }
  void add_short(std::uint32_t tag, std::uint16_t value) {
    begin(tag, "US", 2);
    number(value, 2);
  }
  void add_long(std::uint32_t tag, std::uint32_t value) {
    begin(tag, "UL", 4);
    number(value, 4);
  }
  // A sequence of one item.
  void add_item(std::uint32_t tag, const DicomElements& of_item) {
    const std::uint64_t unknown = 0xffffffff;
    begin(tag, "SQ", lengths_ ? of_item.bytes.size() + 8 : unknown);
    delimiter(0xe000, lengths_ ? of_item.bytes.size() : unknown);
    bytes += of_item.bytes;
    if (lengths_) return;
    delimiter(0xe00d, 0);
    delimiter(0xe0dd, 0);
  }
  void begin(std::uint32_t tag, std::string_view type, std::uint64_t length) {
    number(tag >> 16, 2);
    number(tag & 0xffff, 2);
    if (!types_) return number(length, 4);
    bytes += type;
    if (type != "SQ" && type != "OB") return number(length, 2);
    number(0, 2);
    number(length, 4);
  }
  void delimiter(std::uint16_t element, std::uint64_t length) {
    number(0xfffe, 2);
    number(element, 2);
    number(length, 4);
  }

  std::string bytes;

 private:
  bool types_, lengths_;
};

}  // namespace

Image write_dicom(const std::string& path, const DicomForm& form) {
  const bool types = !form.without_types, lengths = form.sequences_have_lengths;
  const std::string microscopy = "1.2.840.10008.5.1.4.1.1.77.1.6",
                    instance = form.series + ".9." + std::to_string(form.number);
  DicomElements meta(true), all(types, lengths);
  meta.add(0x00020001, "OB", std::string("\0\1", 2));
  meta.add(0x00020002, "UI", microscopy);
  meta.add(0x00020003, "UI", instance);
  meta.add(0x00020010, "UI", types ? "1.2.840.10008.1.2.4.50" : "1.2.840.10008.1.2");
  meta.add(0x00020012, "UI", "1.2.3");
  DicomElements begin(true);
  begin.add_long(0x00020000, static_cast<std::uint32_t>(meta.bytes.size()));

  const auto inner = [&] { return DicomElements(types, lengths); };
  all.add(0x00080008, "CS", "ORIGINAL\\PRIMARY\\" + form.kind + "\\NONE");
  all.add(0x00080016, "UI", microscopy);
  all.add(0x00080018, "UI", instance);
  all.add(0x00080060, "CS", "SM");
  // A series that it names, and isn't one of.
  DicomElements other = inner(), other_series = inner();
  other_series.add(0x0020000e, "UI", "9.9.9");
  other.add_item(0x00081115, other_series);
  all.add_item(0x00081115, other);
  all.add(0x0020000d, "UI", form.series + ".1");
  all.add(0x0020000e, "UI", form.series);
  all.add(0x00200013, "IS", std::to_string(form.number));
  all.add(0x00200052, "UI", form.series + ".2");
  all.add(0x00209311, "CS", "TILED_FULL");
  const std::int32_t columns = (form.width + form.tile - 1) / form.tile,
                     rows = (form.height + form.tile - 1) / form.tile;
  all.add_short(0x00280002, 3);
  all.add(0x00280004, "CS", "YBR_FULL_422");
  all.add_short(0x00280006, 0);
  all.add(0x00280008, "IS", std::to_string(columns * rows));
  all.add_short(0x00280010, static_cast<std::uint16_t>(form.tile));
  all.add_short(0x00280011, static_cast<std::uint16_t>(form.tile));
  all.add_short(0x00280100, 8);
  all.add_short(0x00280101, 8);
  all.add_short(0x00280102, 7);
  all.add_short(0x00280103, 0);
  all.add_long(0x00480006, static_cast<std::uint32_t>(form.width));
  all.add_long(0x00480007, static_cast<std::uint32_t>(form.height));
  DicomElements path_of_light = inner();
  path_of_light.add(0x00480106, "SH", "1");
  all.add_item(0x00480105, path_of_light);
  DicomElements spacing = inner(), measures = inner();
  spacing.add(0x00180050, "DS", "1");
  spacing.add(0x00280030, "DS", "0.0005\\0.0005");
  measures.add_item(0x00289110, spacing);
  all.add_item(0x52009229, measures);

  Image pixels({form.height, form.width, 3});
  const Image drawn = photo({rows * form.tile, columns * form.tile, 3}, form.seed);
  all.begin(0x7fe00010, "OB", 0xffffffff);
  all.delimiter(0xe000, 0);  // where the frames lie: not said
  for (std::int32_t row = 0; row < rows; ++row)
    for (std::int32_t column = 0; column < columns; ++column) {
      const Bytes jpeg = plain_encode(cut(drawn, {row * form.tile, column * form.tile, form.tile, form.tile}),
                                      {.quality = 90, .luma = {1, 1}});
      const Image tile = plain_decode(jpeg);
      for (std::int32_t y = 0; y < form.tile && row * form.tile + y < form.height; ++y)
        for (std::int32_t x = 0; x < form.tile && column * form.tile + x < form.width; ++x)
          for (std::int32_t c = 0; c < 3; ++c)
            pixels.at(row * form.tile + y, column * form.tile + x, c) = tile.at(y, x, c);
      std::string frame(reinterpret_cast<const char*>(jpeg.data()), jpeg.size());
      if (frame.size() % 2 != 0) frame += '\0';
      all.delimiter(0xe000, frame.size());
      all.bytes += frame;
    }
  all.delimiter(0xe0dd, 0);
  std::ofstream out(path, std::ios::binary);
  out << std::string(128, '\0') << "DICM" << begin.bytes << meta.bytes << all.bytes;
  if (!out) throw std::runtime_error("can't write " + path);
  return pixels;
}

}  // namespace penstock_test
