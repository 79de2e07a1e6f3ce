// SPDX-License-Identifier: Apache-2.0
// Whole images as Pillow makes them, where there is one: four inks, orientation, missing scans, harmless warnings.
#include <algorithm>

#include <penstock/transforms/decode_jpeg.hpp>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "transforms/codec/jpeg/jpeg_files.hpp"
#include "transforms/codec/jpeg/plain_jpeg.hpp"
#include "transforms/image/pillow.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

const char* const open_all = R"(
from PIL import Image, ImageOps
import glob
for name in glob.glob('*.jpg'):
    image = Image.open(name)
    for suffix, made in (('rgb', image), ('gray', image), ('up', ImageOps.exif_transpose(image))):
        made = made.convert('L' if suffix == 'gray' else 'RGB')
        open(name + '.' + suffix, 'wb').write(made.tobytes())
)";

}  // namespace

TEST_CASE("JPEGs of every kind have Pillow's pixels") {
  if (!has_pillow()) PENSTOCK_SKIP("no Pillow for /usr/bin/python3: JPEGs were not compared to it");
  const PillowFolder folder;
  std::vector<Bytes> files;
  std::vector<std::size_t> of_inks;
  for (const auto& luma : {std::array{1, 1}, {2, 2}, {2, 1}, {1, 2}}) {
    for (const bool progressive : {false, true}) {
      const PlainJpeg kind{.quality = 92, .luma = luma, .progressive = progressive};
      files.push_back(plain_encode(photo({71, 83, 3}, 1, 30), kind));
      files.push_back(
          with_inserted(files.back(), 2, exif_segment(static_cast<int>(files.size() % 8) + 1, progressive)));
      for (const auto colors : {PlainJpeg::cmyk, PlainJpeg::inks}) {
        for (const bool adobe : {false, true}) {
          if (colors == PlainJpeg::cmyk && !adobe) continue;  // the marker is all that says it is YCCK
          PlainJpeg inks = kind;
          inks.colors = colors, inks.adobe = adobe, inks.jfif = false;
          of_inks.push_back(files.size());
          files.push_back(plain_encode(static_noise({71, 83, 4}, files.size()), inks));
        }
      }
    }
  }
  for (int orientation = 0; orientation <= 9; ++orientation)
    files.push_back(with_inserted(plain_encode(photo({50, 33, 3}), {}), 2, exif_segment(orientation, false)));
  files.push_back(with_inserted(files[0], segment(files[0], 0xdb), "stray"));
  // The first three of a progressive image's scans.
  const Bytes all = plain_encode(photo({71, 83, 3}, 1, 30), {.progressive = true});
  int scans = 0;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    if (all[i] != std::byte{0xff} || all[i + 1] != std::byte{0xda} || ++scans < 4) continue;
    files.emplace_back(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i));
    files.back().push_back(std::byte{0xff}), files.back().push_back(std::byte{0xd9});
    break;
  }
  for (std::size_t i = 0; i < files.size(); ++i) folder.write(std::to_string(i) + ".jpg", files[i]);
  // Pillow adds a file of its own.
  folder.run(
      "from PIL import Image\n"
      "Image.linear_gradient('L').resize((90, 60)).convert('CMYK').rotate(30).save('own.jpg', quality=90)\n");
  of_inks.push_back(files.size());
  files.push_back(folder.read("own.jpg"));
  folder.run(open_all);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string name = i + 1 == files.size() ? "own.jpg" : std::to_string(i) + ".jpg";
    CAPTURE(name);
    const Image color = decoded(files[i]), upright = decoded(files[i], {.apply_orientation = true});
    CHECK(color == folder.image(name + ".rgb", color.shape));
    CHECK(upright == folder.image(name + ".up", upright.shape));
    // For images of three colours libjpeg takes the Y that is stored, Pillow the mean of what is shown.
    if (std::find(of_inks.begin(), of_inks.end(), i) == of_inks.end()) continue;
    const Image gray = decoded(files[i], {.color = JpegOptions::gray});
    CHECK(gray == folder.image(name + ".gray", gray.shape));
  }
}
