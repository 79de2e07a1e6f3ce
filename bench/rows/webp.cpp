// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include <webp/decode.h>
#include <webp/encode.h>

#include <penstock/transforms/decode_webp.hpp>

#include "../decoders_beside.hpp"
#include "../photographs.hpp"
#include "../pictures.hpp"
#include "rows.hpp"

namespace penstock::bench {

namespace {

std::vector<std::byte> webp_of(const Picture& picture) {
  const auto& [pixels, size, channels] = picture;
  std::uint8_t* made = nullptr;
  const std::size_t bytes = WebPEncodeRGB(pixels.data(), size.width, size.height, 3 * size.width, 80, &made);
  if (bytes == 0) throw std::runtime_error("libwebp did not encode a picture");
  const auto* const first = reinterpret_cast<const std::byte*>(made);
  std::vector<std::byte> file(first, first + bytes);
  WebPFree(made);
  return file;
}

// Decodes into memory that is used again, as libwebp's manual shows it.
class PlainWebp {
 public:
  const std::uint8_t* decode(std::span<const std::byte> file) {
    const auto* const data = reinterpret_cast<const std::uint8_t*>(file.data());
    int width = 0, height = 0;
    if (WebPGetInfo(data, file.size(), &width, &height) == 0) throw std::runtime_error("libwebp refused a picture");
    const std::size_t row = 3 * static_cast<std::size_t>(width);
    pixels_.resize(row * static_cast<std::size_t>(height));
    if (WebPDecodeRGBInto(data, file.size(), pixels_.data(), pixels_.size(), static_cast<int>(row)) == nullptr)
      throw std::runtime_error("libwebp refused a picture");
    return pixels_.data();
  }

 private:
  std::vector<std::uint8_t> pixels_;
};

}  // namespace

Row webp(const RowSpec& spec, const Settings& settings) {
  const Files files = encoded_all(photographs(settings, picture_size), webp_of);
  PlainWebp plain;
  Row row = decoder_beside(spec, settings, files, *webp_decoder(),
                           [&](std::span<const std::byte> file) { return plain.decode(file); });
  note_decoders_beside(row, settings, "pixels", files, ".webp");
  return row;
}

}  // namespace penstock::bench
