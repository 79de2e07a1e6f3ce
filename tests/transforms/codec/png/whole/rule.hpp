// SPDX-License-Identifier: Apache-2.0
// The rule of decoding PNGs at once: what is made is what libpng makes, without an error or a warning.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <penstock/transforms/decode_png.hpp>

namespace penstock_test {

enum class PngOutcome {
  refused,         // before any pixel is looked at
  handed_over,     // to libpng
  same,            // decoded at once, to libpng's pixels
  zlib_is_strict,  // zlib refuses the stream's codes; its check sum is right, and compressed again it has the same
                   // pixels
  broken,          // the rule is
};

// Decodes `box`, cut to the image, in both ways. `what` becomes libpng's error where the rule is broken.
PngOutcome check_png_rule(std::span<const std::byte> file, const penstock::PngOptions& options, penstock::Box box,
                          bool verify, std::string& what);

}  // namespace penstock_test
