// SPDX-License-Identifier: Apache-2.0
#include "errors.hpp"

#include <string>

#include <jerror.h>

namespace penstock::jpeg {

std::string message(j_common_ptr common) {
  char text[JMSG_LENGTH_MAX] = {};
  common->err->format_message(common, text);
  std::string line(text);
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  return line;
}

Errc code_of(const jpeg_error_mgr& errors) {
  switch (errors.msg_code) {
    case JERR_ARITH_NOTIMPL:
    case JERR_BAD_PRECISION:
    case JERR_CCIR601_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_MISMATCHED_QUANT_TABLE:
    case JERR_NOTIMPL:
    case JERR_NOT_COMPILED:
    case JERR_SOF_UNSUPPORTED:
      return Errc::unsupported;
    case JERR_IMAGE_TOO_BIG:
    case JERR_NO_BACKING_STORE:
    case JERR_WIDTH_OVERFLOW:
      return Errc::limit_exceeded;
    case JERR_OUT_OF_MEMORY:
      return Errc::out_of_memory;
    default:
      return Errc::corrupt;
  }
}

}  // namespace penstock::jpeg
