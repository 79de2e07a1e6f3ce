// SPDX-License-Identifier: Apache-2.0
#include "formats.hpp"

#include <penstock/error.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/decode_png.hpp>
#ifdef PENSTOCK_CODECS_TIFF
#include <penstock/transforms/decode_tiff.hpp>
#endif
#ifdef PENSTOCK_CODECS_WEBP
#include <penstock/transforms/decode_webp.hpp>
#endif

namespace penstock::codecs {

namespace {

// Returns the options' colours as those of one format. A format without labels is not asked for them.
template <class Options>
typename Options::Color color_of(const DecodeImageOptions& options) {
  if constexpr (requires { Options::labels; })
    if (options.color == DecodeImageOptions::labels) return Options::labels;
  return options.color == DecodeImageOptions::rgb    ? Options::rgb
         : options.color == DecodeImageOptions::gray ? Options::gray
                                                     : Options::as_stored;
}

JpegOptions jpeg_options(const DecodeImageOptions& options) {
  JpegOptions jpeg;
  jpeg.color = color_of<JpegOptions>(options);
  jpeg.max_pixels = options.max_pixels;
  jpeg.max_scans = options.max_scans;
  jpeg.accept_warnings = options.accept_warnings;
  jpeg.cmyk = options.cmyk;
  jpeg.apply_orientation = options.apply_orientation;
  jpeg.scale = options.scale;
  return jpeg;
}

PngOptions png_options(const DecodeImageOptions& options) {
  PngOptions png;
  png.color = color_of<PngOptions>(options);
  png.max_pixels = options.max_pixels;
  png.dtype = options.dtype;
  png.high_byte = options.high_byte;
  return png;
}

#ifdef PENSTOCK_CODECS_WEBP
WebpOptions webp_options(const DecodeImageOptions& options) {
  WebpOptions webp;
  webp.color = color_of<WebpOptions>(options);
  webp.max_pixels = options.max_pixels;
  return webp;
}
#endif

#ifdef PENSTOCK_CODECS_TIFF
TiffOptions tiff_options(const DecodeImageOptions& options) {
  TiffOptions tiff;
  tiff.color = color_of<TiffOptions>(options);
  tiff.max_pixels = options.max_pixels;
  tiff.dtype = options.dtype;
  tiff.high_byte = options.high_byte;
  tiff.apply_orientation = options.apply_orientation;
  tiff.page = options.page;
  return tiff;
}
#endif

bool is_tiff(std::string_view data) {
  using namespace std::string_view_literals;
  return data.starts_with("II*\0"sv) || data.starts_with("MM\0*"sv) || data.starts_with("II+\0"sv) ||
         data.starts_with("MM\0+"sv);
}

// Returns the first bytes as text, for instance "0x47 0x49 0x46 0x38".
std::string first_bytes(std::string_view data) {
  constexpr char digits[] = "0123456789abcdef";
  constexpr std::size_t most = 8;
  std::string text;
  for (const char c : data.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    text += text.empty() ? "0x" : " 0x";
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

// Returns the name of the format that the data seems to have, in brackets, for error messages. Returns an empty text if
// the format is not known.
std::string_view other_format(std::string_view data) {
  if (data.starts_with("GIF8")) return " (GIF)";
  if (data.starts_with("BM")) return " (BMP)";
  return "";
}

}  // namespace

Decoders decoders_for(const DecodeImageOptions& options) {
  Decoders decoders;
  const auto at = [&](Format format) -> auto& { return decoders[static_cast<std::size_t>(format)]; };
  at(Format::png) = png_decoder(png_options(options));
#ifdef PENSTOCK_CODECS_TIFF
  at(Format::tiff) = tiff_decoder(tiff_options(options));
#endif
  // The others need not keep exact numbers.
  if (options.color == DecodeImageOptions::labels) return decoders;
  at(Format::jpeg) = jpeg_decoder(jpeg_options(options));
#ifdef PENSTOCK_CODECS_WEBP
  at(Format::webp) = webp_decoder(webp_options(options));
#endif
  return decoders;
}

Format format_of(std::string_view data) {
  if (data.starts_with("\xff\xd8")) return Format::jpeg;
  if (data.starts_with("\x89PNG")) return Format::png;
  if (data.starts_with("RIFF") && (data.size() < 12 || data.substr(8).starts_with("WEBP"))) return Format::webp;
  if (is_tiff(data)) return Format::tiff;
  if (data.empty()) throw Error(Errc::corrupt, "there are no bytes to decode").with_offset(0);
  throw Error(Errc::unsupported,
              "the data begins with " + first_bytes(data) + std::string(other_format(data)) +
                  ", which is none of JPEG, PNG, WebP and TIFF; make PNGs of such files, which keep 8 and 16 bits")
      .with_offset(0);
}

std::string why_not(Format format, const DecodeImageOptions& options) {
  const std::string name = format == Format::jpeg ? "JPEG" : format == Format::webp ? "WebP" : "TIFF";
  if (options.color == DecodeImageOptions::labels && format != Format::tiff)
    return "the data is a " + name +
           ", which keeps no label as it was: store masks as PNG, or decode this one as `gray` if it is a picture";
  return "the data is a " + name +
         ", and this penstock was built without the component that decodes it: build it with -DPENSTOCK_" +
         (format == Format::webp ? "WEBP" : "TIFF") + "=ON";
}

}  // namespace penstock::codecs
