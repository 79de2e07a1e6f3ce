// SPDX-License-Identifier: Apache-2.0
#include "stores/encoded_image.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <penstock/error.hpp>

namespace penstock::cli {

namespace {

// Returns the kind of an image by its brand, which ISO's media files have near their beginning.
const char* brand_kind(std::string_view brand) noexcept {
  if (brand == "avif" || brand == "avis") return "avif";
  if (brand == "heic" || brand == "heix" || brand == "mif1" || brand == "msf1") return "heif";
  return "";
}

}  // namespace

const char* image_kind(std::span<const std::byte> bytes) noexcept {
  using namespace std::string_view_literals;
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()), std::min<std::size_t>(bytes.size(), 12));
  if (head.starts_with("\xff\xd8")) return "jpeg";
  if (head.starts_with("\x89PNG\r\n")) return "png";
  if (head.starts_with("GIF8")) return "gif";
  if (head.starts_with("BM") && head.size() >= 6) {
    std::uint32_t size = 0;  // the file's size in its header; checked, because other data may begin with "BM"
    for (unsigned i = 0; i < 4; ++i) size |= std::to_integer<std::uint32_t>(bytes[2 + i]) << (8 * i);
    if (size == bytes.size()) return "bmp";
  }
  for (const std::string_view tiff : {"II*\0"sv, "MM\0*"sv, "II+\0"sv, "MM\0+"sv})
    if (head.starts_with(tiff)) return "tiff";
  if (head.starts_with("RIFF") && head.size() == 12 && head.substr(8) == "WEBP") return "webp";
  if (head.starts_with("\0\0\0\x0cjP  "sv)) return "jpeg2000";
  if (head.starts_with("\0\0\0\x0cJXL "sv)) return "jpegxl";
  if (head.size() == 12 && head.substr(4, 4) == "ftyp") return brand_kind(head.substr(8));
  return "";
}

const char* undecoded_kind(std::string_view path) noexcept {
  struct Ending {
    std::string_view text;
    const char* kind;
  };
  constexpr Ending endings[] = {{"gif", "gif"},   {"bmp", "bmp"},      {"avif", "avif"}, {"heic", "heif"},
                                {"heif", "heif"}, {"jp2", "jpeg2000"}, {"jxl", "jpegxl"}};
  const std::string_view name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return "";
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  for (const Ending& ending : endings)
    if (std::ranges::equal(name.substr(dot + 1), ending.text, {}, lower)) return ending.kind;
  return "";
}

DecodeImageOptions options_for_any_image() noexcept {
  DecodeImageOptions options;
  options.high_byte = true;
  return options;
}

bool lacks_decoder(ImageDecoding& decoding, std::span<const std::byte> encoded) {
  // So many bytes show the kind. If there is a decoder for it, the decoder reports that the other bytes are missing.
  constexpr std::size_t telling = 16;
  if (*image_kind(encoded) == '\0') return false;
  try {
    decoding.open(encoded.first(std::min(telling, encoded.size())));
    return false;
  } catch (const Error& error) {
    return error.code() == Errc::unsupported;
  }
}

void decode_whole(ImageDecoding& decoding, std::span<const std::byte> encoded, PixelMemory& pixels) {
  pixels.reset();
  const ImageShape shape = decoding.open(encoded);
  decoding.decode(Box{0, 0, shape.height, shape.width}, true, nullptr, pixels);
}

}  // namespace penstock::cli
