// SPDX-License-Identifier: Apache-2.0
#include "jpeg2000_tile.hpp"

#include <openjpeg.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

namespace make_slides {

namespace {

// The memory that OpenJPEG writes to.
struct Output {
  std::vector<std::byte> bytes;
  std::size_t at = 0;
};

OPJ_SIZE_T write_output(void* from, OPJ_SIZE_T bytes, void* user) {
  Output& output = *static_cast<Output*>(user);
  output.bytes.resize(std::max(output.bytes.size(), output.at + bytes));
  std::memcpy(output.bytes.data() + output.at, from, bytes);
  output.at += bytes;
  return bytes;
}

OPJ_OFF_T skip_output(OPJ_OFF_T bytes, void* user) {
  static_cast<Output*>(user)->at += static_cast<std::size_t>(bytes);
  return bytes;
}

OPJ_BOOL seek_output(OPJ_OFF_T at, void* user) {
  static_cast<Output*>(user)->at = static_cast<std::size_t>(at);
  return OPJ_TRUE;
}

using ImageMemory = std::unique_ptr<opj_image_t, decltype(&opj_image_destroy)>;

// Returns the YCbCr values of a pixel by JFIF's formula, computed with 16 fractional bits.
std::array<std::int32_t, 3> ycc_of(const std::uint8_t* rgb) {
  constexpr std::int32_t half = 1 << 15, middle = 128 << 16;
  const std::int32_t r = rgb[0], g = rgb[1], b = rgb[2];
  return {(19595 * r + 38470 * g + 7471 * b + half) >> 16,
          (middle - 11059 * r - 21709 * g + 32768 * b + half - 1) >> 16,
          (middle + 32768 * r - 27439 * g - 5329 * b + half - 1) >> 16};
}

ImageMemory image_of(const TileForm& form, const std::uint8_t* rgb) {
  const OPJ_UINT32 side = static_cast<OPJ_UINT32>(form.side);
  const OPJ_UINT32 across = form.subsampling == 444 ? 1 : 2, down = form.subsampling == 420 ? 2 : 1;
  std::array<opj_image_cmptparm_t, 3> components{};
  for (std::size_t c = 0; c < 3; ++c) {
    components[c].dx = c == 0 ? 1 : across;
    components[c].dy = c == 0 ? 1 : down;
    components[c].w = side / components[c].dx;
    components[c].h = side / components[c].dy;
    components[c].prec = 8;
  }
  ImageMemory image(opj_image_create(3, components.data(), form.rgb ? OPJ_CLRSPC_SRGB : OPJ_CLRSPC_SYCC),
                    opj_image_destroy);
  if (image == nullptr) throw std::runtime_error("no memory to encode a tile");
  image->x1 = image->y1 = side;
  for (std::size_t c = 0; c < 3; ++c) {
    OPJ_INT32* to = image->comps[c].data;
    const OPJ_UINT32 dx = components[c].dx, dy = components[c].dy;
    for (OPJ_UINT32 y = 0; y < components[c].h; ++y)
      for (OPJ_UINT32 x = 0; x < components[c].w; ++x) {
        std::int32_t sum = 0;
        for (OPJ_UINT32 k = 0; k < dx * dy; ++k) {
          const std::uint8_t* const pixel = rgb + (std::size_t{y * dy + k / dx} * side + x * dx + k % dx) * 3;
          sum += form.rgb ? pixel[c] : ycc_of(pixel)[c];
        }
        *to++ = sum / static_cast<std::int32_t>(dx * dy);
      }
  }
  return image;
}

}  // namespace

std::vector<std::byte> encode_jpeg2000_tile(const TileForm& form, const std::uint8_t* rgb) {
  const ImageMemory image = image_of(form, rgb);
  opj_cparameters_t parameters;
  opj_set_default_encoder_parameters(&parameters);
  parameters.irreversible = 1;
  parameters.tcp_mct = form.rgb ? 1 : 0;
  while (parameters.numresolution > 1 && form.side >> (parameters.numresolution - 1) < 1) --parameters.numresolution;
  parameters.tcp_numlayers = 1;
  parameters.cp_fixed_quality = 1;
  // In decibels. At quality 80 it is 40, about the same as in a JPEG of quality 80.
  parameters.tcp_distoratio[0] = 20 + 0.25f * static_cast<float>(form.quality);
  const std::unique_ptr<opj_codec_t, decltype(&opj_destroy_codec)> codec(opj_create_compress(OPJ_CODEC_J2K),
                                                                         opj_destroy_codec);
  const std::unique_ptr<opj_stream_t, decltype(&opj_stream_destroy)> stream(
      opj_stream_create(std::size_t{1} << 16, OPJ_FALSE), opj_stream_destroy);
  if (codec == nullptr || stream == nullptr) throw std::runtime_error("no memory to encode a tile");
  Output output;
  opj_stream_set_user_data(stream.get(), &output, nullptr);
  opj_stream_set_write_function(stream.get(), write_output);
  opj_stream_set_skip_function(stream.get(), skip_output);
  opj_stream_set_seek_function(stream.get(), seek_output);
  const bool made = opj_setup_encoder(codec.get(), &parameters, image.get()) == OPJ_TRUE &&
                    opj_start_compress(codec.get(), image.get(), stream.get()) == OPJ_TRUE &&
                    opj_encode(codec.get(), stream.get()) == OPJ_TRUE &&
                    opj_end_compress(codec.get(), stream.get()) == OPJ_TRUE;
  if (!made) throw std::runtime_error("OpenJPEG can't encode a tile");
  return std::move(output.bytes);
}

}  // namespace make_slides
