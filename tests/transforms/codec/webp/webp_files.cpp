// SPDX-License-Identifier: Apache-2.0
#include "transforms/codec/webp/webp_files.hpp"

#include <cstring>
#include <stdexcept>

#include <webp/decode.h>
#include <webp/encode.h>

namespace penstock_test {

namespace {

using penstock::WebpOptions;

constexpr std::byte bit(unsigned value) { return static_cast<std::byte>(value); }

void append(Bytes& to, std::string_view tag, std::size_t size) {
  for (const char c : tag) to.push_back(static_cast<std::byte>(c));
  for (unsigned i = 0; i < 4; ++i) to.push_back(bit(static_cast<unsigned>(size >> (8 * i)) & 255u));
}

}  // namespace

std::vector<WebpKind> webp_kinds() {
  return {{.lossless = false},
          {.lossless = false, .alpha = true},
          {.lossless = false, .simple_filter = true},
          {.lossless = false, .alpha = true, .extended = true},
          {.lossless = true},
          {.lossless = true, .alpha = true},
          {.lossless = true, .extended = true}};
}

Bytes webp_file(const Image& pixels, const WebpKind& kind) {
  WebPConfig config;
  WebPPicture picture;
  if (WebPConfigInit(&config) == 0 || WebPPictureInit(&picture) == 0) throw std::runtime_error("another libwebp");
  config.lossless = kind.lossless ? 1 : 0;
  config.quality = 60;
  config.method = 2;
  config.filter_type = kind.simple_filter ? 0 : 1;
  config.exact = 1;
  picture.use_argb = config.lossless;
  picture.width = pixels.shape.width, picture.height = pixels.shape.height;
  const int row = pixels.shape.width * pixels.shape.channels;
  const bool taken = pixels.shape.channels == 4 ? WebPPictureImportRGBA(&picture, pixels.pixels.data(), row) != 0
                                                : WebPPictureImportRGB(&picture, pixels.pixels.data(), row) != 0;
  WebPMemoryWriter writer;
  WebPMemoryWriterInit(&writer);
  picture.writer = WebPMemoryWrite;
  picture.custom_ptr = &writer;
  const bool encoded = taken && WebPEncode(&config, &picture) != 0;
  const auto* const first = reinterpret_cast<const std::byte*>(writer.mem);
  Bytes file(first, first + writer.size);
  WebPMemoryWriterClear(&writer);
  WebPPictureFree(&picture);
  if (!encoded) throw std::runtime_error("libwebp did not encode a picture");
  if (!kind.extended) return file;
  return extended(file, {{"ICCP", Bytes(131, bit(7))}}, 0x20);
}

Bytes webp_file(penstock::Size size, const WebpKind& kind, std::uint64_t seed) {
  Image pixels = photo({size.height, size.width, kind.alpha ? 4 : 3}, seed);
  if (kind.alpha)
    for (std::int32_t y = 0; y < size.height; ++y)
      for (std::int32_t x = 0; x < size.width; ++x)
        pixels.at(y, x, 3) = static_cast<std::uint8_t>(x * y % 7 == 0 ? 0 : (x + y) % 5 == 0 ? 255 : 3 * x + 5 * y);
  return webp_file(pixels, kind);
}

WebpChunks chunks_of(const Bytes& file) {
  WebpChunks chunks;
  for (std::size_t at = 12; at + 8 <= file.size();) {
    std::size_t size = 0;
    for (unsigned i = 0; i < 4; ++i) size |= std::to_integer<std::size_t>(file[at + 4 + i]) << (8 * i);
    const auto first = file.begin() + static_cast<std::ptrdiff_t>(at + 8);
    constexpr std::string_view tags[] = {"VP8 ", "VP8L", "VP8X", "ALPH", "ICCP", "EXIF"};
    for (const std::string_view tag : tags)
      if (std::memcmp(file.data() + at, tag.data(), 4) == 0)
        chunks.emplace_back(tag, Bytes(first, first + static_cast<std::ptrdiff_t>(size)));
    at += 8 + size + size % 2;
  }
  return chunks;
}

Bytes file_of(const WebpChunks& chunks) {
  Bytes body;
  for (const auto& [tag, data] : chunks) {
    append(body, tag, data.size());
    body.insert(body.end(), data.begin(), data.end());
    if (data.size() % 2 != 0) body.push_back({});
  }
  Bytes file;
  append(file, "RIFF", body.size() + 4);
  for (const char c : {'W', 'E', 'B', 'P'}) file.push_back(static_cast<std::byte>(c));
  file.insert(file.end(), body.begin(), body.end());
  return file;
}

Bytes extended(const Bytes& file, WebpChunks before, unsigned flags) {
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(reinterpret_cast<const std::uint8_t*>(file.data()), file.size(), &features) != VP8_STATUS_OK)
    throw std::runtime_error("not a WebP");
  const unsigned width = static_cast<unsigned>(features.width - 1), height = static_cast<unsigned>(features.height - 1);
  Bytes header(10);
  header[0] = bit(flags | (features.has_alpha != 0 ? 0x10u : 0u));
  for (unsigned i = 0; i < 3; ++i)
    header[4 + i] = bit(width >> (8 * i) & 255u), header[7 + i] = bit(height >> (8 * i) & 255u);
  WebpChunks chunks{{"VP8X", header}};
  for (auto& chunk : before) chunks.push_back(std::move(chunk));
  for (auto& [tag, data] : chunks_of(file))
    if (tag != "VP8X") chunks.emplace_back(tag, std::move(data));
  chunks.emplace_back("EXIF", Bytes(17, bit(1)));
  return file_of(chunks);
}

Image plainly_decoded(const Bytes& file, WebpOptions::Color color) {
  const auto* const data = reinterpret_cast<const std::uint8_t*>(file.data());
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(data, file.size(), &features) != VP8_STATUS_OK) throw std::runtime_error("not a WebP");
  const bool alpha = color == WebpOptions::rgba || (color == WebpOptions::as_stored && features.has_alpha != 0);
  int width = 0, height = 0;
  std::uint8_t* const made =
      alpha ? WebPDecodeRGBA(data, file.size(), &width, &height) : WebPDecodeRGB(data, file.size(), &width, &height);
  if (made == nullptr) throw std::runtime_error("libwebp did not decode a file");
  Image image({height, width, alpha ? 4 : 3});
  std::memcpy(image.pixels.data(), made, image.pixels.size());
  WebPFree(made);
  if (color != WebpOptions::gray) return image;
  Image gray({height, width, 1});
  for (std::size_t i = 0; i < gray.pixels.size(); ++i) {
    const std::uint8_t* const rgb = image.pixels.data() + 3 * i;
    gray.pixels[i] = static_cast<std::uint8_t>((19595 * rgb[0] + 38470 * rgb[1] + 7471 * rgb[2] + 32768) / 65536);
  }
  return gray;
}

}  // namespace penstock_test
