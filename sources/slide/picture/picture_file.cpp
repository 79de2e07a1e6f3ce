// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/store_files.hpp>
#include <penstock/sources/slide_picture.hpp>
#include <penstock/transforms/encode_png.hpp>

#include "file/errors.hpp"

namespace penstock {

void write_png(const SlidePicture& picture, const std::string& path) {
  const std::size_t stride = static_cast<std::size_t>(picture.width) * 3;
  if (picture.width < 1 || picture.height < 1 ||
      picture.rgb.size() != stride * static_cast<std::size_t>(picture.height))
    throw slide::error_in(path, Errc::invalid_argument,
                          "the picture has " + std::to_string(picture.rgb.size()) + " bytes, and says that it is " +
                              std::to_string(picture.width) + " x " + std::to_string(picture.height) + " pixels");
  const std::vector<std::byte> png =
      encode_png({picture.rgb.data(), static_cast<std::ptrdiff_t>(stride), {picture.height, picture.width, 3}}, {});
  replace_text(path, {reinterpret_cast<const char*>(png.data()), png.size()}, true, slide::source_name);
}

}  // namespace penstock
