// SPDX-License-Identifier: Apache-2.0
#include "plain_jpeg2000.hpp"

#include <openjpeg.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace penstock::bench {

namespace {

struct StoredBytes {
  std::span<const std::byte> bytes;
  std::size_t at = 0;
};

OPJ_SIZE_T read_memory(void* to, OPJ_SIZE_T bytes, void* user) {
  StoredBytes& memory = *static_cast<StoredBytes*>(user);
  const std::size_t some = std::min<std::size_t>(bytes, memory.bytes.size() - memory.at);
  if (some == 0) return static_cast<OPJ_SIZE_T>(-1);
  std::memcpy(to, memory.bytes.data() + memory.at, some);
  memory.at += some;
  return some;
}

OPJ_OFF_T skip_memory(OPJ_OFF_T bytes, void* user) {
  static_cast<StoredBytes*>(user)->at += static_cast<std::size_t>(bytes);
  return bytes;
}

OPJ_BOOL seek_memory(OPJ_OFF_T at, void* user) {
  static_cast<StoredBytes*>(user)->at = static_cast<std::size_t>(at);
  return OPJ_TRUE;
}

}  // namespace

void decode_plain_jpeg2000(std::span<const std::byte> bytes, std::int32_t side, std::byte* into,
                           std::uint32_t left_out) {
  StoredBytes memory{bytes};
  opj_stream_t* const stream = opj_stream_create(bytes.size(), OPJ_TRUE);
  opj_stream_set_user_data(stream, &memory, nullptr);
  opj_stream_set_user_data_length(stream, bytes.size());
  opj_stream_set_read_function(stream, read_memory);
  opj_stream_set_skip_function(stream, skip_memory);
  opj_stream_set_seek_function(stream, seek_memory);
  opj_codec_t* const codec = opj_create_decompress(OPJ_CODEC_J2K);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  parameters.cp_reduce = left_out;
  opj_image_t* image = nullptr;
  const bool decoded = opj_setup_decoder(codec, &parameters) == OPJ_TRUE &&
                       opj_read_header(stream, codec, &image) == OPJ_TRUE &&
                       opj_decode(codec, stream, image) == OPJ_TRUE;
  if (decoded) {
    const std::int32_t *r = image->comps[0].data, *g = image->comps[1].data, *b = image->comps[2].data;
    auto* to = reinterpret_cast<std::uint8_t*>(into);
    const std::int32_t small = side >> left_out;
    for (std::int32_t i = 0; i < small * small; ++i, to += 3) {
      to[0] = static_cast<std::uint8_t>(r[i]);
      to[1] = static_cast<std::uint8_t>(g[i]);
      to[2] = static_cast<std::uint8_t>(b[i]);
    }
  }
  opj_image_destroy(image);
  opj_destroy_codec(codec);
  opj_stream_destroy(stream);
  if (!decoded) throw std::runtime_error("OpenJPEG can't decode a tile");
}

}  // namespace penstock::bench
