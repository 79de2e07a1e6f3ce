// SPDX-License-Identifier: Apache-2.0
// How slides are stained, against the definition in plain words.
#include <penstock/sources/slide_stain.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <penstock/sources/slide.hpp>
#include <penstock/sources/slide_picture.hpp>
#include <penstock/transforms/image.hpp>

#include "sources/slide/jpeg2000_files.hpp"
#include "sources/slide/slide_files.hpp"
#include "sources/slide/slide_images.hpp"
#include "sources/slide/stained_slides.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/thrown.hpp"
#include "transforms/image/stain_reference.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

// A mask by a threshold of saturation alone.
struct PlainMask {
  int width = 0, height = 0, k = 1;
  std::int64_t level_width = 0, level_height = 0;
  std::vector<int> tissue;
};
PlainMask plain_mask(const Image& level, int k, int threshold) {
  PlainMask mask{
      (level.shape.width + k - 1) / k, (level.shape.height + k - 1) / k, k, level.shape.width, level.shape.height, {}};
  for (int y = 0; y < mask.height; ++y)
    for (int x = 0; x < mask.width; ++x) {
      int mean[3];
      for (int c = 0; c < 3; ++c) {
        int sum = 0, count = 0;
        for (int v = y * k; v < std::min((y + 1) * k, level.shape.height); ++v)
          for (int u = x * k; u < std::min((x + 1) * k, level.shape.width); ++u, ++count) sum += level.at(v, u, c);
        mean[c] = static_cast<int>(std::floor(static_cast<double>(sum) / count + 0.5));
      }
      const int most = std::max({mean[0], mean[1], mean[2]}), least = std::min({mean[0], mean[1], mean[2]});
      mask.tissue.push_back(std::floor(255. * (most - least) / most + .5) > threshold ? 1 : 0);
    }
  return mask;
}

// The fit of SlideStain, word by word, of the whole image that the grid lies on.
StainFit plain_fit(const Image& image, const PlainMask& mask, StainMethod method, std::size_t most,
                   const std::set<std::pair<int, int>>& unread = {}) {
  constexpr int side = 128;
  const auto at = [](int pixel, double image_side, double level_side, int k, int count) {
    return std::min(static_cast<int>((pixel + 0.5) * level_side / image_side / k + 1e-9), count - 1);
  };
  const double width = image.shape.width, height = image.shape.height;
  const auto level_width = static_cast<double>(mask.level_width), level_height = static_cast<double>(mask.level_height);
  std::set<std::pair<int, int>> squares;  // row, column
  for (int y = 0; y < mask.height; ++y)
    for (int x = 0; x < mask.width; ++x)
      if (mask.tissue[static_cast<std::size_t>(y * mask.width + x)] != 0)
        squares.insert({static_cast<int>(std::min((y + .5) * mask.k / level_height * height, height - 1)) / side,
                        static_cast<int>(std::min((x + .5) * mask.k / level_width * width, width - 1)) / side});
  const std::vector<std::pair<int, int>> all(squares.begin(), squares.end());
  std::vector<std::uint8_t> pixels;
  const std::size_t count = std::min(most, all.size());
  for (std::size_t i = 0; i < count; ++i) {
    const auto& [row, column] = all[(2 * i + 1) * all.size() / (2 * count)];
    if (unread.contains({row, column})) continue;
    for (int y = row * side; y < std::min((row + 1) * side, image.shape.height); ++y)
      for (int x = column * side; x < std::min((column + 1) * side, image.shape.width); ++x)
        if (mask.tissue[static_cast<std::size_t>(at(y, height, level_height, mask.k, mask.height) * mask.width +
                                                 at(x, width, level_width, mask.k, mask.width))] != 0)
          for (int c = 0; c < 3; ++c) pixels.push_back(image.at(y, x, c));
  }
  return fit_stain(View<const std::uint8_t, 3>(pixels.data(), {1, static_cast<std::int64_t>(pixels.size() / 3), 3}),
                   method);
}

constexpr SlideTissue plain_tissue{
    .by = SlideTissue::By::saturation, .mpp = 8, .threshold = 20, .closing = 0, .least_area = 0};

// All of the image that a slide's grid lies on.
Image whole_image(Slides slides) {
  slides.size = 4096;
  slides.edges = SlideEdges::shrink;
  slides.tissue = {};
  slides.stain = {};
  return image_of(read_sample(SlideSource(slides), 0)["image"]);
}

}  // namespace

TEST_CASE("a slide's fit is that of its tissue's pixels, as records have them") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  int fits = 0;
  for (const std::uint64_t seed : {1u, 2u}) {
    SlideForm form = stained_slide(700, 450, seed);
    form.lower = {{350, 225}, {175, 112}};
    const WrittenSlide slide = write_slide(path, seed == 1 ? lossless(form) : form);
    // The mask is of the level of four micrometres a pixel, two of whose are one.
    const PlainMask mask = plain_mask(slide.lower.back(), 2, plain_tissue.threshold);
    for (const Slides& wanted : {Slides{.files = path}, Slides{.files = path, .level = 1},
                                 Slides{.files = path, .mpp = 1.5}, Slides{.files = path, .mpp = 3.1}}) {
      const Image image = whole_image(wanted);
      for (const StainMethod method : {macenko, reinhard})
        for (const std::int32_t patches : {1, 3, 256}) {
          CAPTURE(seed, static_cast<int>(method), patches, wanted.level, wanted.mpp);
          Slides slides = wanted;
          slides.size = 32;
          slides.tissue = plain_tissue;
          slides.stain = {.method = method, .patches = patches};
          const auto fit = [&] { return plain_fit(image, mask, method, static_cast<std::size_t>(patches)); };
          const SlideSource source(slides);
          const SlideInfo& info = source.slides().front();
          // A square may have hardly any tissue.
          if (info.failure) {
            CHECK(mentions(*info.failure, error_of(fit).cause()));
            continue;
          }
          ++fits;
          const StainFit expected = fit();
          CHECK(info.stain == expected);
          // It stands in the records.
          const OwnedSample sample = read_sample(source, source.size() / 2);
          CHECK(StainFit::of(sample["stain"].as<const float, 1>().flat()) == expected);
        }
    }
  }
  CHECK(fits > 40);
}

TEST_CASE("a slide's stains are measured under a mask of their own where records need none") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  write_slide(path, stained_slide(600, 400, 3));
  const Slides everywhere{.files = path, .size = 64, .stain = {.method = macenko}};
  Slides by_tissue = everywhere;
  by_tissue.tissue = {.by = SlideTissue::By::saturation};
  const SlideSource all(everywhere), some(by_tissue);
  CHECK(all.size() == 54);
  CHECK(some.size() < all.size());
  CHECK(all.slides().front().stain.has_value());
  CHECK(all.slides().front().stain == some.slides().front().stain);
  // Another mask has another fit.
  by_tissue.tissue = plain_tissue;
  by_tissue.tissue.threshold = 60;
  CHECK_FALSE(SlideSource(by_tissue).slides().front().stain == all.slides().front().stain);
  // Neither places nor their size have a say; pictures show no mask that records don't need.
  Slides other = everywhere;
  other.size = 32;
  other.stride = 71;
  CHECK(SlideSource(other).slides().front().stain == all.slides().front().stain);
  Slides none = everywhere;
  none.stain = {};
  CHECK(draw_slide(all, 0).rgb == draw_slide(SlideSource(none), 0).rgb);
  CHECK_FALSE(SlideSource(none).slides().front().stain.has_value());
}

TEST_CASE("a slide has the same fit whoever reads its pixels") {
  const TempFolder folder;
  const SlideForm plain = lossless(stained_slide(500, 300, 5));
  write_slide(folder / "a.tif", plain);
  write_slide(folder / "b.tif", plain_form(plain));
  write_slide(folder / "c.tif", openslide_form(plain_form(plain)));
  for (const StainMethod method : {macenko, reinhard})
    for (const double mpp : {0.0, 2.3}) {
      const SlideSource source({.files = folder / "?.tif", .mpp = mpp, .size = 32, .stain = {.method = method}});
      REQUIRE(source.slides()[1].codec == SlideCodec::uncompressed);
      REQUIRE(source.slides()[2].why_openslide == why_openslide_form);
      CHECK(source.slides()[0].stain.has_value());
      CHECK(source.slides()[0].stain == source.slides()[1].stain);
      CHECK(source.slides()[0].stain == source.slides()[2].stain);
    }
}

TEST_CASE("squares that can't be read are left out of a fit") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  SlideForm form = stained_slide(700, 450, 1);
  form.lower = {{88, 57}};  // that the mask is made of
  form.draw = [](const penstock::ImageShape& shape) { return StainedTissue{.seed = 4}.image(shape); };
  const WrittenSlide slide = write_slide(path, form);
  const Slides slides{.files = path, .size = 64, .tissue = plain_tissue, .stain = {.method = macenko}};
  const PlainMask mask = plain_mask(slide.lower.front(), 1, plain_tissue.threshold);
  CHECK(SlideSource(slides).slides().front().stain == plain_fit(slide.pixels, mask, macenko, 256));
  // A tile of 64 x 48: x 320 to 384, y 144 to 192.
  slide.set_size(11 * 3 + 5, 0);
  const StainFit expected = plain_fit(slide.pixels, mask, macenko, 256, {{1, 2}});
  CHECK_FALSE(expected == plain_fit(slide.pixels, mask, macenko, 256));
  CHECK(SlideSource(slides).slides().front().stain == expected);
}
