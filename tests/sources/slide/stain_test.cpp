// How slides are stained, against the definition in plain words.
#include <penstock/sources/slide_stain.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/slide.hpp>
#include <penstock/sources/slide_index.hpp>
#include <penstock/sources/slide_picture.hpp>
#include <penstock/transforms/image.hpp>

#include "sources/slide/jpeg2000_files.hpp"
#include "sources/slide/region_drawings.hpp"
#include "sources/slide/slide_files.hpp"
#include "sources/slide/slide_images.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/thrown.hpp"
#include "transforms/image/stain_reference.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

constexpr auto macenko = StainMethod::macenko, reinhard = StainMethod::reinhard;

// Pieces of tissue on glass. `strength`: of the stains.
Image drawn(const penstock::ImageShape& shape, std::uint64_t seed, std::array<double, 2> strength = {1, 1}) {
  StainedTissue tissue{
      .stains = {{{0.5626, 0.7201, 0.4062}, {0.2159, 0.8012, 0.5581}}}, .strength = strength, .seed = seed};
  Image image = tissue.image(shape);
  Numbers numbers(seed + 100);
  struct Disc {
    int x, y, radius;
  };
  std::vector<Disc> discs;
  for (int i = 0; i < 6; ++i)
    discs.push_back({numbers.below(shape.width), numbers.below(shape.height), numbers.from(15, 15 + shape.width / 7)});
  for (std::int32_t y = 0; y < shape.height; ++y)
    for (std::int32_t x = 0; x < shape.width; ++x)
      if (std::ranges::none_of(discs, [&](const Disc& disc) {
            return (x - disc.x) * (x - disc.x) + (y - disc.y) * (y - disc.y) <= disc.radius * disc.radius;
          }))
        for (std::int32_t c = 0; c < 3; ++c) image.at(y, x, c) = static_cast<std::uint8_t>(240 + numbers.below(6));
  return image;
}

// One micrometre a pixel, without loss.
SlideForm stained_slide(std::int32_t width, std::int32_t height, std::uint64_t seed,
                        std::array<double, 2> strength = {1, 1}) {
  SlideForm form{
      .width = width, .height = height, .tile_width = 64, .tile_height = 48, .rgb = true, .per_unit = 10'000};
  form.compression = 33005;
  form.encode = [](const Image& tile) { return encode_jpeg2000(tile, {.mixed = true, .lossless = true}); };
  form.draw = [seed, strength](const penstock::ImageShape& shape) { return drawn(shape, seed, strength); };
  return form;
}

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

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("a slide's fit is that of its tissue's pixels, as records have them") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  int fits = 0;
  for (const std::uint64_t seed : {1u, 2u}) {
    SlideForm form = stained_slide(700, 450, seed);
    form.lower = {{350, 225}, {175, 112}};
    const WrittenSlide slide = write_slide(path, form);
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
  SlideForm plain = stained_slide(500, 300, 5);
  write_slide(folder / "a.tif", plain);
  plain.compression = 1;
  plain.encode = [](const Image& tile) {
    Bytes bytes(tile.pixels.size());
    std::memcpy(bytes.data(), tile.pixels.data(), bytes.size());
    return StoredTile{bytes, tile};
  };
  write_slide(folder / "b.tif", plain);
  for (const StainMethod method : {macenko, reinhard})
    for (const double mpp : {0.0, 2.3}) {
      const SlideSource source({.files = folder / "?.tif", .mpp = mpp, .size = 32, .stain = {.method = method}});
      REQUIRE(source.slides()[1].why_openslide == "its compression is 1 (none)");
      CHECK(source.slides()[0].stain.has_value());
      CHECK(source.slides()[0].stain == source.slides()[1].stain);
    }
}

TEST_CASE("fits are a field of the records, among the others") {
  const TempFolder folder;
  for (const char* name : {"a", "b"}) {
    write_slide(folder / (std::string(name) + ".tif"), stained_slide(400, 300, static_cast<std::uint64_t>(*name)));
    folder.write("regions/" + std::string(name) + ".json",
                 as_geojson({{"x", {{{{0, 0}, {400, 0}, {400, 300}, {0, 300}}}}}}));
  }
  folder.write("labels.csv", "slide,kind\na,1\nb,2\n");
  Slides slides{.files = folder / "?.tif",
                .size = 64,
                .labels = folder / "labels.csv",
                .regions = {.folder = folder / "regions", .field = "shows"},
                .stain = {.method = reinhard, .field = "look"}};
  const SlideSource source(slides);
  CHECK(source.schema().to_string() ==
        "{image: u8[64, 64, 3], slide: i64[], x: i64[], y: i64[], look: f32[6], shows: i64[], kind: i64[]}");
  for (std::uint64_t i = 0; i < source.size(); i += 5) {
    const OwnedSample sample = read_sample(source, i);
    const auto number = static_cast<std::size_t>(number_of(sample, "slide"));
    CHECK(StainFit::of(sample["look"].as<const float, 1>().flat()) == *source.slides()[number].stain);
    CHECK(number_of(sample, "shows") == 1);
    CHECK(number_of(sample, "kind") == static_cast<std::int64_t>(number) + 1);
  }
  CHECK_FALSE(source.slides()[0].stain == source.slides()[1].stain);
  CHECK_FALSE(source.labels("look").has_value());
  CHECK(source.labels("shows").has_value());
  CHECK(source.labels("kind")->back() == 2);
  CHECK(code_of([&] { (void)source.only("look", {1}); }) == Errc::invalid_argument);
  const SlideSource view = source.only("kind", {2});
  CHECK(StainFit::of(read_sample(view, 0)["look"].as<const float, 1>().flat()) == *source.slides()[1].stain);
  CHECK(from(slides).plan().find("2 slides with a fit of stains, Reinhard's, of 256 squares of tissue at most: field "
                                 "\"look\"") != std::string::npos);

  const auto refused = [&](const SlideStain& stain) {
    Slides other = slides;
    other.stain = stain;
    return error_of([&] { (void)SlideSource(other); });
  };
  CHECK(mentions(refused({.method = macenko, .patches = 0}), "`stain.patches` is 0; 1 to 4096 are possible"));
  CHECK(mentions(refused({.method = macenko, .patches = 4097}), "1 to 4096"));
  CHECK(mentions(refused({.method = macenko, .field = ""}), "`stain.field` is empty"));
  CHECK(mentions(refused({.method = macenko, .field = "x"}), "\"x\", a field that is there already"));
  CHECK(mentions(refused({.method = macenko, .field = "kind"}), "\"kind\" has the name of a field"));
  CHECK(mentions(refused({.method = macenko, .field = "shows"}), "\"shows\", a field that is there already"));
  CHECK(refused({.method = static_cast<StainMethod>(7)}).code() == Errc::invalid_argument);
  // What is measured is part of what the records are.
  const auto identity = [&](const SlideStain& stain) {
    Slides other = slides;
    other.stain = stain;
    return SlideSource(other).identity();
  };
  CHECK(identity({}) == identity({.patches = 7}));
  CHECK(identity({}) != identity({.method = macenko}));
  CHECK(identity({.method = reinhard}) != identity({.method = macenko}));
  CHECK(identity({.method = macenko}) == identity({.method = macenko}));
  CHECK(identity({.method = macenko}) != identity({.method = macenko, .patches = 1}));
  CHECK(identity({.method = macenko}) != identity({.method = macenko, .field = "fit"}));
}

TEST_CASE("a slide whose stains can't be told is an error of its own") {
  const TempFolder folder;
  write_slide(folder / "a.tif", stained_slide(400, 300, 1));
  SlideForm glass = stained_slide(400, 300, 2), one_colour = glass;
  glass.draw = [](const penstock::ImageShape& shape) {
    Image image(shape);
    Numbers numbers(5);
    for (std::uint8_t& value : image.pixels) value = static_cast<std::uint8_t>(244 + numbers.below(8));
    return image;
  };
  one_colour.draw = [](const penstock::ImageShape& shape) {
    Image image(shape);
    for (std::int32_t y = 0; y < shape.height; ++y)
      for (std::int32_t x = 0; x < shape.width; ++x)
        for (std::int32_t c = 0; c < 3; ++c)
          image.at(y, x, c) = static_cast<std::uint8_t>(x >= 208 ? 245 : c == 0 ? 190 : c == 1 ? 90 : 150);
    return image;
  };
  write_slide(folder / "b.tif", glass);
  write_slide(folder / "c.tif", one_colour);
  Slides slides{.files = folder / "?.tif", .size = 64, .stain = {.method = macenko}};
  for (const StainMethod method : {macenko, reinhard}) {
    slides.stain.method = method;
    const SlideSource source(slides);
    CHECK(source.slides()[0].stain.has_value());
    for (const std::size_t bad : {1u, 2u}) {
      CAPTURE(bad);
      const SlideInfo& slide = source.slides()[bad];
      REQUIRE(slide.failure.has_value());
      CHECK_FALSE(slide.stain.has_value());
      CHECK(slide.records == 1);
      CHECK(slide.failure->code() == Errc::unsupported);
      CHECK(slide.failure->file() == slide.path);
      CHECK(mentions(*slide.failure, "its stains can't be told"));
      CHECK(mentions(*slide.failure, bad == 1             ? "0 pixels"
                                     : method == reinhard ? "about the same colour"
                                                          : "the colours of one stain"));
      CHECK(mentions(*slide.failure, "leave the slide out, or drop it by `on_error`"));
      CHECK(code_of([&] { (void)read_sample(source, slide.first); }) == Errc::unsupported);
    }
    CHECK(from(slides).plan().find("2 slides that can't be read") != std::string::npos);
    // The others are read on.
    Loader loader(from(slides) | on_error({.policy = OnError::drop}) | batch(4), {.threads = 2, .epochs = 1});
    std::uint64_t rows = 0;
    while (const auto batch = loader.next()) rows += batch->size();
    CHECK(rows == source.slides()[0].records);
  }
  // What has no record needs no fit.
  slides.files = folder / "b.tif";
  slides.tissue = {.by = SlideTissue::By::saturation};
  const SlideSource source(slides);
  CHECK(source.size() == 0);
  CHECK_FALSE(source.slides().front().failure.has_value());
  CHECK_FALSE(source.slides().front().stain.has_value());
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

TEST_CASE("an index has the fits, and one without them is made anew") {
  const TempFolder folder;
  for (const char* name : {"a", "b", "c"})
    write_slide(folder / (std::string(name) + ".tif"), stained_slide(400, 300, static_cast<std::uint64_t>(*name)));
  SlideForm glass = stained_slide(400, 300, 2);
  glass.draw = [](const penstock::ImageShape& shape) {
    Image image(shape);
    std::ranges::fill(image.pixels, std::uint8_t{250});
    return image;
  };
  write_slide(folder / "d.tif", glass);
  const std::string index = folder / "x.tiles";
  for (const StainMethod method : {macenko, reinhard}) {
    const Slides slides{.files = folder / "?.tif", .size = 64, .stain = {.method = method}};
    Slides indexed = slides;
    indexed.index = index;
    const SlideSource opened(slides);
    std::set<std::string> made;
    for (const unsigned threads : {1u, 2u, 5u}) {
      std::filesystem::remove(index);
      write_slide_index(slides, index, {.threads = threads});
      made.insert(bytes_of(index));
      const SlideSource source(indexed);
      CHECK(source.identity() == opened.identity());
      CHECK(source.schema() == opened.schema());
      REQUIRE(source.size() == opened.size());
      for (std::size_t i = 0; i < 4; ++i) {
        CHECK(source.slides()[i].stain == opened.slides()[i].stain);
        CHECK(source.slides()[i].stain.has_value() == (i < 3));
        CHECK(source.slides()[i].failure.has_value() == (i == 3));
      }
      const OwnedSample x = read_sample(source, 5), y = read_sample(opened, 5);
      CHECK(std::memcmp(x["stain"].data, y["stain"].data, x["stain"].bytes()) == 0);
    }
    CHECK(made.size() == 1);
    const auto refusal = [&](const SlideStain& stain) {
      Slides other = indexed;
      other.stain = stain;
      return error_of([&] { (void)SlideSource(other); });
    };
    CHECK(mentions(refusal({}), ", and stain no is asked for"));
    CHECK(mentions(refusal({.method = method == macenko ? reinhard : macenko}), ", and stain "));
    CHECK(
        mentions(refusal({.method = method, .patches = 100}), "stain.patches 256, and stain.patches 100 is asked for"));
    // The field may be called otherwise.
    Slides renamed = indexed;
    renamed.stain.field = "look";
    CHECK(SlideSource(renamed).schema().find("look").has_value());
  }
  // One that has no fits is made anew by the same call, and so is one of another version.
  const Slides without{.files = folder / "?.tif", .size = 64};
  Slides with = without, indexed = without;
  with.stain.method = macenko;
  indexed = with;
  indexed.index = index;
  write_slide_index(without, index);
  CHECK(mentions(error_of([&] { (void)SlideSource(indexed); }), "stain no, and stain macenko is asked for"));
  write_slide_index(with, index);
  CHECK(SlideSource(indexed).slides().front().stain.has_value());
  const std::string whole = bytes_of(index);
  std::string earlier = whole;
  earlier[std::string("penstock tiles\n").size()] = 1;
  folder.write("x.tiles", earlier);
  const Error error = error_of([&] { (void)SlideSource(indexed); });
  CHECK(error.code() == Errc::unsupported);
  CHECK(mentions(error, "it is of version 1"));
  write_slide_index(with, index);
  CHECK((bytes_of(index) == whole));
  // What is the same stays: this slide could not be opened now, but has the bytes that are looked at.
  const std::string a = bytes_of(folder / "a.tif");
  std::string unreadable = a;
  constexpr std::size_t looked_at = 4096;
  REQUIRE(a.size() > 4 * looked_at);
  for (std::size_t i = looked_at; i < a.size() - looked_at; ++i)
    if (i < a.size() / 2 || i >= a.size() / 2 + looked_at) unreadable[i] = 0;
  folder.write("a.tif", unreadable);
  write_slide_index(with, index);
  CHECK((bytes_of(index) == whole));
}

TEST_CASE("slides that were stained differently become alike") {
  const TempFolder folder;
  write_slide(folder / "a.tif", stained_slide(500, 400, 6, {1.2, 1.3}));
  write_slide(folder / "b.tif", stained_slide(500, 400, 6, {0.8, 0.75}));
  const Slides slides{.files = folder / "?.tif",
                      .size = 40,
                      .tissue = {.by = SlideTissue::By::saturation, .least = 0.9, .mpp = 8},
                      .stain = {.method = macenko}};
  const SlideSource source(slides);
  REQUIRE(source.slides()[0].records > 5);
  const auto difference = [&](const Pipeline& pipeline) {
    double sum = 0;
    std::uint64_t count = 0, values = 0;
    for (std::uint64_t i = 0; i < source.slides()[0].records; ++i)
      for (std::uint64_t k = source.slides()[1].first; k < source.size(); ++k) {
        if (source.place(i).x != source.place(k).x || source.place(i).y != source.place(k).y) continue;
        const OwnedSample a = pipeline.at(i), b = pipeline.at(k);
        for (std::size_t at = 0; at < a["image"].bytes(); ++at, ++values)
          sum += std::abs(std::to_integer<int>(a["image"].data[at]) - std::to_integer<int>(b["image"].data[at]));
        ++count;
      }
    CHECK(count > 5);
    return sum / static_cast<double>(values);
  };
  const Pipeline plain = from(source), same = plain | normalize_stain("image");
  CHECK(difference(plain) > 25);
  CHECK(difference(same) < 3);
  // Through a loader, at any number of threads, after a crop.
  const Pipeline cropped =
      from(source) | shuffle({.seed = 2}) | random_crop("image", {32, 33}) | normalize_stain("image") | batch(4);
  Loader one(cropped, {.threads = 1, .epochs = 1}), three(cropped, {.threads = 3, .epochs = 1});
  while (const auto batch = one.next()) {
    const auto other = three.next();
    REQUIRE(std::memcmp((*batch)["image"].data, (*other)["image"].data, (*batch)["image"].bytes()) == 0);
  }
}
