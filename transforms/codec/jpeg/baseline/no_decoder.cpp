// In a build without PENSTOCK_JPEG_BASELINE every image is left to libjpeg.
#include "decoder.hpp"

namespace penstock::jpeg::baseline {

ScanReader::ScanReader() = default;

std::optional<HandOver> Decoder::decode(const jpeg_decompress_struct&, std::span<const std::uint8_t>, std::size_t,
                                        const Request&, Scratch&) {
  return HandOver::kind;
}

}  // namespace penstock::jpeg::baseline
