// SPDX-License-Identifier: Apache-2.0
#include "pixels/jpeg2000_tile.hpp"

#include <openjpeg.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include <penstock/error.hpp>
#include <penstock/extend/system_error.hpp>

#include "pixels/jpeg2000_header.hpp"

namespace penstock::slide {

namespace {

// The bytes that OpenJPEG reads, and its position in them.
struct Input {
  std::span<const std::byte> bytes;
  std::size_t at = 0;
};

OPJ_SIZE_T read_input(void* to, OPJ_SIZE_T bytes, void* user) {
  Input& input = *static_cast<Input*>(user);
  const std::size_t some = std::min<std::size_t>(bytes, input.bytes.size() - input.at);
  if (some == 0) return static_cast<OPJ_SIZE_T>(-1);
  std::memcpy(to, input.bytes.data() + input.at, some);
  input.at += some;
  return some;
}

OPJ_OFF_T skip_input(OPJ_OFF_T bytes, void* user) {
  Input& input = *static_cast<Input*>(user);
  const auto left = static_cast<OPJ_OFF_T>(input.bytes.size() - input.at);
  if (bytes < 0 || left == 0) return -1;
  const OPJ_OFF_T some = std::min(bytes, left);
  input.at += static_cast<std::size_t>(some);
  return some;
}

OPJ_BOOL seek_input(OPJ_OFF_T offset, void* user) {
  Input& input = *static_cast<Input*>(user);
  if (offset < 0 || static_cast<std::uint64_t>(offset) > input.bytes.size()) return OPJ_FALSE;
  input.at = static_cast<std::size_t>(offset);
  return OPJ_TRUE;
}

// Keeps only OpenJPEG's first complaint. It is the cause, and later complaints follow from it.
void complain(const char* text, void* user) {
  std::string& complaint = *static_cast<std::string*>(user);
  if (!complaint.empty()) return;
  std::string_view words = text;
  while (!words.empty() && (words.back() == '\n' || words.back() == ' ' || words.back() == '.')) words.remove_suffix(1);
  complaint = printable(words);
}

void ignore(const char*, void*) {}

struct DestroyCodec {
  void operator()(opj_codec_t* codec) const noexcept { opj_destroy_codec(codec); }
};
struct DestroyStream {
  void operator()(opj_stream_t* stream) const noexcept { opj_stream_destroy(stream); }
};
struct DestroyImage {
  void operator()(opj_image_t* image) const noexcept { opj_image_destroy(image); }
};

[[noreturn]] void fail(const std::string& complaint, const char* otherwise) {
  throw Error(Errc::corrupt, "its JPEG 2000 can't be decoded: " + (complaint.empty() ? otherwise : complaint));
}

std::uint8_t clamped(std::int32_t value) noexcept { return static_cast<std::uint8_t>(std::clamp(value, 0, 255)); }

// A component's samples for an area.
struct Plane {
  const std::int32_t* samples;
  std::int32_t down;  // rows of pixels per sample
  std::size_t width;
  const std::int32_t* row(std::int32_t y) const noexcept {
    return samples + static_cast<std::size_t>(y / down) * width;
  }
};

void write_rgb(const std::int32_t* const (&rows)[3], std::int32_t left, std::int32_t width, std::byte* out) {
  auto* to = reinterpret_cast<std::uint8_t*>(out);
  const std::int32_t *red = rows[0] + left, *green = rows[1] + left, *blue = rows[2] + left;
  // OpenJPEG keeps samples within 8 bits, so they are not clamped.
  for (std::int32_t x = 0; x < width; ++x, to += 3) {
    to[0] = static_cast<std::uint8_t>(red[x]);
    to[1] = static_cast<std::uint8_t>(green[x]);
    to[2] = static_cast<std::uint8_t>(blue[x]);
  }
}

// Converts JFIF's YCbCr to RGB, with 16 bits after the point. Each sample of colour serves 1 << `shared` pixels of a
// row.
void write_ycc(const std::int32_t* const (&rows)[3], std::int32_t left, std::int32_t width, int shared,
               std::byte* out) {
  constexpr std::int32_t half = 1 << 15, red = 91881, green_of_blue = 22554, green_of_red = 46802, blue = 116130;
  auto* to = reinterpret_cast<std::uint8_t*>(out);
  for (std::int32_t x = left; x < left + width; ++x, to += 3) {
    const std::int32_t y = rows[0][x], cb = rows[1][x >> shared] - 128, cr = rows[2][x >> shared] - 128;
    to[0] = clamped(y + ((red * cr + half) >> 16));
    to[1] = clamped(y - ((green_of_blue * cb + green_of_red * cr + half - 1) >> 16));
    to[2] = clamped(y + ((blue * cb + half) >> 16));
  }
}

// Checks that OpenJPEG returned all planes, each with the samples that the area needs.
void check_planes(const opj_image_t& image, const Jpeg2000Header& header, const Box& area) {
  for (OPJ_UINT32 c = 0; c < 3; ++c) {
    const opj_image_comp_t& component = image.comps[c];
    const auto across = static_cast<std::int32_t>(header.across[c]), down = static_cast<std::int32_t>(header.down[c]);
    const auto width = static_cast<OPJ_UINT32>((area.width + across - 1) / across);
    const auto height = static_cast<OPJ_UINT32>((area.height + down - 1) / down);
    if (component.data == nullptr || component.w < width || component.h < height)
      throw Error(Errc::corrupt, "its JPEG 2000 has less samples than its header says");
  }
}

void write_pixels(const opj_image_t& image, const Jpeg2000Header& header, const Box& area, const Box& box, bool rgb,
                  std::byte* into, std::ptrdiff_t stride) {
  Plane planes[3];
  for (std::size_t c = 0; c < 3; ++c) planes[c] = {image.comps[c].data, header.down[c], image.comps[c].w};
  for (std::int32_t y = 0; y < box.height; ++y, into += stride) {
    const std::int32_t in_area = box.top - area.top + y;
    const std::int32_t* const rows[3] = {planes[0].row(in_area), planes[1].row(in_area), planes[2].row(in_area)};
    if (rgb) {
      write_rgb(rows, box.left - area.left, box.width, into);
    } else {
      write_ycc(rows, box.left - area.left, box.width, header.across[1] - 1, into);
    }
  }
}

}  // namespace

void decode_jpeg2000(std::span<const std::byte> encoded, const Jpeg2000Facts& facts, const Box& box, bool verify,
                     std::byte* into, std::ptrdiff_t stride, common::HeapTrimGuard& heap_end) {
  const Jpeg2000Header header = read_jpeg2000_header(encoded, facts);
  // If several pixels share a sample of colour, the area must begin at the first of them.
  Box area{box.top / header.down[1] * header.down[1], box.left / header.across[1] * header.across[1], 0, 0};
  area.height = box.top + box.height - area.top;
  area.width = box.left + box.width - area.left;
  const Box whole{0, 0, facts.height, facts.width};
  if (verify) area = whole;

  std::string complaint;
  const std::unique_ptr<opj_codec_t, DestroyCodec> codec(opj_create_decompress(OPJ_CODEC_J2K));
  if (codec == nullptr) throw Error(Errc::out_of_memory, "no memory to decode a tile");
  opj_set_error_handler(codec.get(), complain, &complaint);
  opj_set_warning_handler(codec.get(), ignore, nullptr);
  opj_set_info_handler(codec.get(), ignore, nullptr);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  Input input{header.codestream};
  const std::unique_ptr<opj_stream_t, DestroyStream> stream(opj_stream_create(header.codestream.size(), OPJ_TRUE));
  if (stream == nullptr) throw Error(Errc::out_of_memory, "no memory to decode a tile");
  opj_stream_set_user_data(stream.get(), &input, nullptr);
  opj_stream_set_user_data_length(stream.get(), header.codestream.size());
  opj_stream_set_read_function(stream.get(), read_input);
  opj_stream_set_skip_function(stream.get(), skip_input);
  opj_stream_set_seek_function(stream.get(), seek_input);

  opj_image_t* read = nullptr;
  const bool begun = opj_setup_decoder(codec.get(), &parameters) == OPJ_TRUE &&
                     opj_read_header(stream.get(), codec.get(), &read) == OPJ_TRUE;
  const std::unique_ptr<opj_image_t, DestroyImage> image(read);
  if (!begun || image == nullptr) fail(complaint, "its header is damaged");
  if (!(area == whole) && opj_set_decode_area(codec.get(), image.get(), area.left, area.top, area.left + area.width,
                                              area.top + area.height) != OPJ_TRUE)
    fail(complaint, "a part of it can't be chosen");
  if (opj_decode(codec.get(), stream.get(), image.get()) != OPJ_TRUE ||
      opj_end_decompress(codec.get(), stream.get()) != OPJ_TRUE)
    fail(complaint, "it ends too early");
  if (image->numcomps != 3) throw Error(Errc::corrupt, "its JPEG 2000 has not the components that its header says");
  check_planes(*image, header, area);
  heap_end.keep(static_cast<std::size_t>(area.width) * static_cast<std::size_t>(area.height));
  write_pixels(*image, header, area, box, facts.rgb, into, stride);
}

}  // namespace penstock::slide
