// SPDX-License-Identifier: Apache-2.0
#include "transforms/codec/png/encode/plain_encoder.hpp"

#include <png.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

#include "transforms/codec/png/prediction.hpp"

namespace penstock_test {

namespace png = penstock::png;

Row filtered(png::Filter filter, std::size_t pixel, const Row& row, const Row& above) {
  Row out(row.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    const int left = i < pixel ? 0 : row[i - pixel], corner = i < pixel ? 0 : above[i - pixel];
    out[i] = static_cast<std::uint8_t>(row[i] - predicted(filter, left, above[i], corner));
  }
  return out;
}

png::Filter least_filter(std::size_t pixel, const Row& row, const Row& above) {
  const auto sum = [&](png::Filter filter) {
    int all = 0;
    for (const std::uint8_t byte : filtered(filter, pixel, row, above)) all += byte < 128 ? byte : 256 - byte;
    return all;
  };
  png::Filter least = png::no_filter;
  for (const png::Filter filter : {png::sub_filter, png::up_filter, png::average_filter, png::paeth_filter})
    if (sum(filter) < sum(least)) least = filter;
  return least;
}

std::vector<std::uint8_t> filtered_rows(const Image& image, bool plain) {
  const std::size_t pixel = image.shape.pixel_bytes(), bytes = static_cast<std::size_t>(image.shape.width) * pixel;
  std::vector<std::uint8_t> all;
  Row above(bytes);
  for (auto at = image.pixels.begin(); at != image.pixels.end(); at += static_cast<std::ptrdiff_t>(bytes)) {
    Row row(at, at + static_cast<std::ptrdiff_t>(bytes));
    if (image.shape.element == penstock::DType::u16 && std::endian::native == std::endian::little)
      for (std::size_t i = 0; i < bytes; i += 2) std::swap(row[i], row[i + 1]);
    const png::Filter filter = plain ? png::no_filter : least_filter(pixel, row, above);
    const Row made = filtered(filter, pixel, row, above);
    all.push_back(filter);
    all.insert(all.end(), made.begin(), made.end());
    above = row;
  }
  return all;
}

std::size_t bytes_by_libpng(const Image& image) {
  std::size_t bytes = 0;
  png_structp writer = png_create_write_struct(
      PNG_LIBPNG_VER_STRING, nullptr, [](png_structp, png_const_charp what) { throw std::runtime_error(what); },
      nullptr);
  png_infop info = png_create_info_struct(writer);
  png_set_write_fn(
      writer, &bytes,
      [](png_structp to, png_bytep, std::size_t more) { *static_cast<std::size_t*>(png_get_io_ptr(to)) += more; },
      nullptr);
  constexpr int colors[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGBA};
  const bool wide = image.shape.element == penstock::DType::u16;
  png_set_IHDR(writer, info, static_cast<png_uint_32>(image.shape.width), static_cast<png_uint_32>(image.shape.height),
               wide ? 16 : 8, colors[image.shape.channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_write_info(writer, info);
  if (wide) png_set_swap(writer);
  const penstock::Pixels pixels = image.view();
  for (std::int32_t y = 0; y < image.shape.height; ++y) png_write_row(writer, pixels.data + y * pixels.stride);
  png_write_end(writer, nullptr);
  png_destroy_write_struct(&writer, &info);
  return bytes;
}

std::vector<std::uint8_t> inflated_rows(std::span<const std::byte> file, std::vector<std::size_t>* chunks) {
  const auto number = [&](std::size_t at) {
    std::size_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | std::to_integer<std::size_t>(file[at + i]);
    return value;
  };
  std::vector<std::uint8_t> stream;
  std::string order;
  for (std::size_t at = 8; at < file.size();) {
    const std::size_t length = number(at);
    const std::string type(reinterpret_cast<const char*>(file.data()) + at + 4, 4);
    const auto* const data = reinterpret_cast<const std::uint8_t*>(file.data()) + at + 8;
    if (type == "IDAT") {
      stream.insert(stream.end(), data, data + length);
      if (chunks != nullptr) chunks->push_back(length);
    } else {
      order += type;
    }
    at += 12 + length;
  }
  if (order != "IHDRIEND") throw std::runtime_error("other chunks: " + order);
  // One byte more than the rows have.
  constexpr std::size_t channels[] = {1, 0, 3, 0, 2, 0, 4};
  const std::size_t pixel =
      channels[std::to_integer<std::size_t>(file[25])] * std::to_integer<std::size_t>(file[24]) / 8;
  std::vector<std::uint8_t> rows(number(20) * (1 + number(16) * pixel) + 1);
  uLongf bytes = rows.size();
  if (::uncompress(rows.data(), &bytes, stream.data(), stream.size()) != Z_OK)
    throw std::runtime_error("zlib refuses the pixels");
  rows.resize(bytes);
  return rows;
}

}  // namespace penstock_test
