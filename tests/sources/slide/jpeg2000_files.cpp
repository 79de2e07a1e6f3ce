// SPDX-License-Identifier: Apache-2.0
#include "sources/slide/jpeg2000_files.hpp"

#include <openjpeg.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

namespace penstock_test {

namespace {

// A stream in memory.
struct Memory {
  Bytes bytes;
  std::size_t at = 0;
};

OPJ_SIZE_T write_memory(void* from, OPJ_SIZE_T bytes, void* user) {
  Memory& memory = *static_cast<Memory*>(user);
  memory.bytes.resize(std::max(memory.bytes.size(), memory.at + bytes));
  std::memcpy(memory.bytes.data() + memory.at, from, bytes);
  memory.at += bytes;
  return bytes;
}

OPJ_SIZE_T read_memory(void* to, OPJ_SIZE_T bytes, void* user) {
  Memory& memory = *static_cast<Memory*>(user);
  const std::size_t some = std::min<std::size_t>(bytes, memory.bytes.size() - memory.at);
  if (some == 0) return static_cast<OPJ_SIZE_T>(-1);
  std::memcpy(to, memory.bytes.data() + memory.at, some);
  memory.at += some;
  return some;
}

OPJ_OFF_T skip_memory(OPJ_OFF_T bytes, void* user) {
  static_cast<Memory*>(user)->at += static_cast<std::size_t>(bytes);
  return bytes;
}

OPJ_BOOL seek_memory(OPJ_OFF_T at, void* user) {
  static_cast<Memory*>(user)->at = static_cast<std::size_t>(at);
  return OPJ_TRUE;
}

using Stream = std::unique_ptr<opj_stream_t, decltype(&opj_stream_destroy)>;
using Codec = std::unique_ptr<opj_codec_t, decltype(&opj_destroy_codec)>;
using OpjImage = std::unique_ptr<opj_image_t, decltype(&opj_image_destroy)>;

Stream stream_of(Memory& memory, bool input) {
  Stream stream(opj_stream_create(1 << 16, input ? OPJ_TRUE : OPJ_FALSE), opj_stream_destroy);
  opj_stream_set_user_data(stream.get(), &memory, nullptr);
  if (input) opj_stream_set_user_data_length(stream.get(), memory.bytes.size());
  opj_stream_set_read_function(stream.get(), read_memory);
  opj_stream_set_write_function(stream.get(), write_memory);
  opj_stream_set_skip_function(stream.get(), skip_memory);
  opj_stream_set_seek_function(stream.get(), seek_memory);
  return stream;
}

void require(bool done) {
  if (!done) throw std::runtime_error("OpenJPEG can't make this tile");
}

std::array<double, 3> ycc_of(const Image& image, std::int32_t y, std::int32_t x) {
  const double r = image.at(y, x, 0), g = image.at(y, x, 1), b = image.at(y, x, 2);
  return {0.299 * r + 0.587 * g + 0.114 * b, 128 - 0.168736 * r - 0.331264 * g + 0.5 * b,
          128 + 0.5 * r - 0.418688 * g - 0.081312 * b};
}

Bytes encoded(const Image& image, const Jpeg2000Form& form) {
  const penstock::ImageShape& shape = image.shape;
  std::vector<opj_image_cmptparm_t> components(3);
  for (std::size_t c = 0; c < 3; ++c) {
    const bool shared = c != 0 && !form.rgb;
    components[c].dx = shared ? static_cast<OPJ_UINT32>(form.across) : 1;
    components[c].dy = shared ? static_cast<OPJ_UINT32>(form.down) : 1;
    components[c].w = (static_cast<OPJ_UINT32>(shape.width) + components[c].dx - 1) / components[c].dx;
    components[c].h = (static_cast<OPJ_UINT32>(shape.height) + components[c].dy - 1) / components[c].dy;
    components[c].prec = 8;
  }
  const OpjImage made(opj_image_create(3, components.data(), form.rgb ? OPJ_CLRSPC_SRGB : OPJ_CLRSPC_SYCC),
                      opj_image_destroy);
  made->x1 = static_cast<OPJ_UINT32>(shape.width);
  made->y1 = static_cast<OPJ_UINT32>(shape.height);
  for (std::size_t c = 0; c < 3; ++c)
    for (OPJ_UINT32 y = 0; y < components[c].h; ++y)
      for (OPJ_UINT32 x = 0; x < components[c].w; ++x) {
        const auto there_y = static_cast<std::int32_t>(y * components[c].dy);
        const auto there_x = static_cast<std::int32_t>(x * components[c].dx);
        const double value =
            form.rgb ? image.at(there_y, there_x, static_cast<std::int32_t>(c)) : ycc_of(image, there_y, there_x)[c];
        made->comps[c].data[y * components[c].w + x] = static_cast<OPJ_INT32>(std::lround(std::clamp(value, 0., 255.)));
      }
  opj_cparameters_t parameters;
  opj_set_default_encoder_parameters(&parameters);
  parameters.irreversible = form.lossless ? 0 : 1;
  parameters.tcp_mct = form.mixed ? 1 : 0;
  parameters.numresolution = form.resolutions;
  parameters.tcp_numlayers = form.layers;
  for (int layer = 0; layer < form.layers; ++layer)
    parameters.tcp_rates[layer] =
        form.lossless && layer + 1 == form.layers ? 0 : 4.0f * static_cast<float>(form.layers - layer);
  parameters.cp_disto_alloc = 1;
  if (form.own_tiles != 0) {
    parameters.tile_size_on = OPJ_TRUE;
    parameters.cp_tdx = parameters.cp_tdy = form.own_tiles;
  }
  const Codec codec(opj_create_compress(form.in_jp2 ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K), opj_destroy_codec);
  Memory memory;
  const Stream stream = stream_of(memory, false);
  require(opj_setup_encoder(codec.get(), &parameters, made.get()) == OPJ_TRUE &&
          opj_start_compress(codec.get(), made.get(), stream.get()) == OPJ_TRUE &&
          opj_encode(codec.get(), stream.get()) == OPJ_TRUE && opj_end_compress(codec.get(), stream.get()) == OPJ_TRUE);
  return memory.bytes;
}

}  // namespace

Image decode_jpeg2000(const Bytes& bytes, const penstock::ImageShape& shape, const Jpeg2000Form& form) {
  Memory memory{bytes};
  const Codec codec(opj_create_decompress(form.in_jp2 ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K), opj_destroy_codec);
  const Stream stream = stream_of(memory, true);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  opj_image_t* read = nullptr;
  require(opj_setup_decoder(codec.get(), &parameters) == OPJ_TRUE &&
          opj_read_header(stream.get(), codec.get(), &read) == OPJ_TRUE);
  const OpjImage image(read, opj_image_destroy);
  require(opj_decode(codec.get(), stream.get(), image.get()) == OPJ_TRUE);
  Image out(shape);
  for (std::int32_t y = 0; y < out.shape.height; ++y)
    for (std::int32_t x = 0; x < out.shape.width; ++x) {
      std::array<double, 3> v{};
      for (std::size_t c = 0; c < 3; ++c) {
        const opj_image_comp_t& component = image->comps[c];
        v[c] = component.data[static_cast<OPJ_UINT32>(y) / component.dy * component.w +
                              static_cast<OPJ_UINT32>(x) / component.dx];
      }
      if (!form.rgb)
        v = {v[0] + 1.402 * (v[2] - 128), v[0] - 0.344136286 * (v[1] - 128) - 0.714136286 * (v[2] - 128),
             v[0] + 1.772 * (v[1] - 128)};
      for (std::int32_t c = 0; c < 3; ++c)
        out.at(y, x, c) =
            static_cast<std::uint8_t>(std::clamp<std::int64_t>(std::llround(v[static_cast<std::size_t>(c)]), 0, 255));
    }
  return out;
}

StoredTile encode_jpeg2000(const Image& image, const Jpeg2000Form& form) {
  const Bytes bytes = encoded(image, form);
  return {bytes, decode_jpeg2000(bytes, image.shape, form)};
}

SlideForm lossless(SlideForm form) {
  form.compression = 33005;
  form.encode = [](const Image& tile) { return encode_jpeg2000(tile, {.mixed = true, .lossless = true}); };
  return form;
}

}  // namespace penstock_test
