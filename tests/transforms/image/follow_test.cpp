// SPDX-License-Identifier: Apache-2.0
// Boxes, points and masks that follow an image, against images in which every pixel is its own number.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/penstock.hpp>
#include <penstock/transforms/image.hpp>

#include "support/catch.hpp"
#include "support/thrown.hpp"
#include "transforms/image/both_sides.hpp"
#include "transforms/image/numbered.hpp"
#include "transforms/image/torchvision_boxes.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

// The fields of all stages. The image is named as labels, so it is resampled by nearest, with the same pixels as masks.
ImageFields fields() { return {mask("image"), points("points"), boxes("boxes"), instance_masks("masks")}; }

// The same samples, whose images are files of a format of our own: how the image is turned, and the sample's number.
struct TurnedFiles {
  std::uint64_t size() const { return 48; }
  Schema schema() const { return Numbered{}.schema().with({"image", DType::u8, {dynamic}}); }
  void read(std::uint64_t i, SampleBuilder& out) const {
    const OwnedSample numbered = read_sample(Numbered{}, i);
    const auto file = out.emplace<std::uint8_t, 1>("image", {2});
    file(0) = static_cast<std::uint8_t>(1 + i % 8), file(1) = static_cast<std::uint8_t>(i);
    for (const char* field : {"points", "boxes", "masks"}) {
      const TensorView t = numbered[field];
      std::memcpy(out.emplace(out.schema().slot(field), t.shape).data, t.data, t.bytes());
    }
  }
};

class TurnedFile final : public ImageDecoding {
 public:
  ImageShape open(std::span<const std::byte> file) override {
    orientation_ = std::to_integer<int>(file[0]);
    const OwnedSample sample = read_sample(Numbered{}, std::to_integer<std::uint64_t>(file[1]));
    const TensorView image = sample["image"];
    stored_.assign(image.data, image.data + image.bytes());
    upright_ = ImageOp({high, wide, 1, DType::u16});
    upright_.orient(orientation_);
    return upright_.shape();
  }
  Pixels decode(const Box& box, bool, std::byte* into, Scratch& scratch) override {
    ImageOp op = upright_;
    op.crop(box);
    const ImageShape shape = op.shape();
    const auto row = static_cast<std::ptrdiff_t>(shape.width) * 2;
    if (into == nullptr || !(shape == upright_.shape()))
      into = scratch.allocate(static_cast<std::size_t>(row * shape.height));
    ImageShape needed = op.source;
    needed.height = op.box.height, needed.width = op.box.width;
    const auto* const first =
        reinterpret_cast<const std::uint8_t*>(stored_.data()) + 2 * (op.box.top * wide + op.box.left);
    image_executor().run({first, std::ptrdiff_t{2} * wide, needed}, op, into, scratch);
    return {reinterpret_cast<const std::uint8_t*>(into), row, shape};
  }
  int orientation() const override { return orientation_; }

 private:
  int orientation_ = 1;
  ImageOp upright_;
  Bytes stored_;
};

class TurnedFormat final : public ImageDecoder {
 public:
  std::string name() const override { return "decode_turned"; }
  std::string describe() const override { return ""; }
  std::int64_t channels() const override { return 1; }
  DType dtype() const override { return DType::u16; }
  bool labels() const override { return true; }
  std::unique_ptr<ImageDecoding> start() const override { return std::make_unique<TurnedFile>(); }
};

// The samples of Numbered, set upright by a decoder that all fields follow.
Pipeline turned() {
  return from(TurnedFiles{}) | decode_stage({"image", points("points"), boxes("boxes"), instance_masks("masks")},
                                            std::make_shared<TurnedFormat>(), image_executor());
}

struct Way {
  const char* name;
  std::int64_t scale;
  Stages stages;
  int resizes = 1;
};

std::vector<Way> ways() {
  const ImageFields all = fields();
  return {
      {"crop", 1,
       [=](const Pipeline& p) {
         return p | crop(all, {5, 7, 40, 50});
       }},
      {"random_crop, flips, rot90", 1,
       [=](const Pipeline& p) {
         return p | random_crop(all, {40, 51}) | random_flip(all) | random_flip_vertical(all) | random_rot90(all);
       }},
      {"rot90, crop, rot90, flip", 1,
       [=](const Pipeline& p) {
         return p | random_rot90(all) | random_crop(all, {40, 41}) | random_rot90(all) | random_flip(all);
       }},
      {"padding, flip, crop", 1,
       [=](const Pipeline& p) {
         return p | random_crop(all, {67, 91}, {.padding = 20}) | random_flip(all) | random_crop(all, {50, 60});
       }},
      {"a crop, and its middle", 1,
       [=](const Pipeline& p) {
         return p | random_crop(all, {60, 64}) | center_crop(all, {50, 61});
       }},
      {"three times as large, crop, rot90", 3,
       [=](const Pipeline& p) {
         return p | random_flip(all) | resize(all, {3 * high, 3 * wide}) | crop(all, {33, 45, 120, 150}) |
                random_rot90(all);
       }},
      {"random_resized_crop, flip", 0,
       [=](const Pipeline& p) {
         return p | random_resized_crop(all, {120, 110}) | random_flip(all);
       }},
      {"two resizes", 0,
       [=](const Pipeline& p) {
         return p | resize(all, {200, 180}) | random_rot90(all) | resize(all, {150, 260}) | random_flip(all);
       },
       2},
      {"letterbox, turned", 0,
       [=](const Pipeline& p) {
         return p | random_rot90(all) | letterbox(all, {160, 170}, {.fill = {0}});
       }},
  };
}

bool same(const TensorView& a, const TensorView& b) {
  return a.dtype == b.dtype && a.shape == b.shape && (a.bytes() == 0 || std::memcmp(a.data, b.data, a.bytes()) == 0);
}

Pipeline in_batches(const Pipeline& p) {
  return p | ragged("image") | ragged("points") | ragged("boxes") | ragged("masks") | batch(7);
}

// All rows of two epochs.
std::vector<Bytes> rows_of(const Pipeline& p, unsigned threads, const State* from_state = nullptr) {
  Loader loader(p, {.threads = threads});
  if (from_state != nullptr) loader.resume(*from_state);
  std::vector<Bytes> out;
  for (std::uint64_t epochs = 0; epochs < 2;) {
    const auto got = loader.next();
    if (!got) {
      ++epochs;
      continue;
    }
    Bytes bytes;
    for (const char* field : {"image", "points", "boxes", "masks"}) {
      const RaggedRows rows = got->ragged(field);
      for (std::uint64_t r = 0; r < got->size(); ++r) {
        const TensorView row = rows[r];
        bytes.insert(bytes.end(), row.data, row.data + row.bytes());
      }
    }
    out.push_back(std::move(bytes));
  }
  return out;
}

// The cause of an Error; empty if there is none.
std::string cause(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.cause();
  }
  return "";
}

}  // namespace

TEST_CASE("points and boxes and masks are where the pixels are") {
  for (const Way& way : ways()) {
    INFO(way.name);
    const Pipeline p = way.stages(from(Numbered{}) | seed(3)), q = way.stages(turned() | seed(3));
    for (std::uint64_t i = 0; i < Numbered{}.size(); ++i) {
      check_sample(read_sample(Numbered{}, i), p.at(i), way.scale, way.resizes);
      // A turned image is resized by other factors, which are no whole numbers.
      check_sample(read_sample(Numbered{}, i), q.at(i), way.scale == 3 ? 0 : way.scale, way.resizes);
    }
  }
  for (std::uint64_t i = 0; i < Numbered{}.size(); ++i) check_sample(read_sample(Numbered{}, i), turned().at(i), 1, 0);
}

TEST_CASE("followers have the same bits however stages are folded, at any number of threads, after a resume") {
  const auto check_way = [](const Way& way, const Pipeline& source) {
    INFO(way.name);
    const Pipeline p = way.stages(source), folded = in_batches(p), unfolded = in_batches(p | check({.fold = false}));
    const std::vector<Bytes> expected = rows_of(folded, 1);
    CHECK(rows_of(folded, 5) == expected);
    CHECK(rows_of(unfolded, 2) == expected);
    Loader loader(folded, {.threads = 2});
    for (std::size_t done = 0; done < 3; ++done) {
      const State state = loader.state();
      const std::vector<Bytes> rest = rows_of(folded, 3, &state);
      CHECK(std::equal(rest.begin(), rest.begin() + 4, expected.begin() + static_cast<std::ptrdiff_t>(done)));
      (void)loader.next();
    }
  };
  for (const Way& way : ways()) {
    check_way(way, from(Numbered{}) | shuffle({.seed = 4}));
    check_way(way, turned());
  }
}

TEST_CASE("an image is the same with and without what follows it") {
  for (const Way& way : ways()) {
    const Pipeline p = way.stages(from(Numbered{}) | seed(3));
    std::string text = p.plan();
    CHECK(text.find("follows its image -> boxes: f32[?, 5]") != std::string::npos);
  }
  const Pipeline alone = from(Numbered{}) | seed(3) | random_crop("image", {40, 51}) | random_flip("image"),
                 led = from(Numbered{}) | seed(3) | random_crop({"image", boxes("boxes")}, {40, 51}) |
                       random_flip({"image", boxes("boxes")});
  for (std::uint64_t i = 0; i < 9; ++i) CHECK(same(alone.at(i)["image"], led.at(i)["image"]));
}

TEST_CASE("plan() notes boxes that a stage moves the image away from") {
  const Pipeline numbered = from(Numbered{}) | seed(3);
  const auto note = [](const Pipeline& p) {
    const std::string text = p.plan();
    const std::size_t at = text.find("boxes does not follow ");
    return at == std::string::npos ? std::string() : text.substr(at, text.find('\n', at) - at);
  };
  CHECK(note(numbered | random_flip("image")) ==
        "boxes does not follow random_flip(image); if it has boxes of this image, name it there: {\"image\", "
        "boxes(\"boxes\")}");
  CHECK(note(numbered | resize(mask("image"), {9, 9})).starts_with("boxes does not follow resize(image)"));
  CHECK(note(numbered | crop("image", {0, 0, 66, 90})).starts_with("boxes does not follow crop(image)"));
  CHECK(note(numbered | random_flip({"image", boxes("boxes")}) | crop({"image", boxes("boxes")}, {0, 0, 6, 9})) == "");
  CHECK(note(numbered | convert("image", {.dtype = DType::f32})) == "");
}

TEST_CASE("boxes are the same whatever the image's type and filter") {
  // The same boxes as those of Numbered, on pictures of 8 bits.
  struct Pictures {
    std::uint64_t size() const { return Numbered{}.size(); }
    Schema schema() const { return {{"image", DType::u8, {dynamic, dynamic, 3}}, {"boxes", DType::f32, {dynamic, 5}}}; }
    void read(std::uint64_t i, SampleBuilder& out) const {
      const auto image = out.emplace<std::uint8_t, 3>("image", {high, wide, 3});
      std::fill_n(image.data(), image.size(), static_cast<std::uint8_t>(i));
      const OwnedSample numbered = read_sample(Numbered{}, i);
      const TensorView boxes = numbered["boxes"];
      std::memcpy(out.emplace<float, 2>("boxes", boxes.shape).data(), boxes.data, boxes.bytes());
    }
  };
  const auto stages = [](const Pipeline& p, const ImageFields& all) {
    return p | seed(3) | random_resized_crop(all, {130, 77}) | random_rot90(all) | letterbox(all, {90, 95}) |
           random_crop(all, {80, 81}, {.padding = 9});
  };
  const Pipeline expected = stages(from(Numbered{}), {mask("image"), boxes("boxes")}),
                 linear = stages(from(Pictures{}), {"image", boxes("boxes")}),
                 nearest = stages(from(Pictures{}), {mask("image"), boxes("boxes")});
  for (std::uint64_t i = 0; i < Numbered{}.size(); ++i) {
    const OwnedSample sample = expected.at(i);
    CHECK(same(linear.at(i)["boxes"], sample["boxes"]));
    CHECK(same(nearest.at(i)["boxes"], sample["boxes"]));
  }
}

TEST_CASE("boxes and points are where torchvision has them") {
  struct Boxes {
    std::uint64_t size() const { return 1; }
    Schema schema() const {
      return {{"image", DType::u8, {high, wide, 3}}, {"boxes", DType::f32, {12, 5}}, {"points", DType::f32, {12, 3}}};
    }
    void read(std::uint64_t, SampleBuilder& out) const {
      const auto image = out.emplace<std::uint8_t, 3>("image", {high, wide, 3});
      std::fill_n(image.data(), image.size(), std::uint8_t{9});
      const auto boxes = out.emplace<float, 2>("boxes", {12, 5}), points = out.emplace<float, 2>("points", {12, 3});
      for (std::int64_t k = 0; k < 12; ++k) {
        const auto row = static_cast<std::size_t>(k);
        for (std::int64_t c = 0; c < 4; ++c) boxes(k, c) = torchvision::boxes_before[row][static_cast<std::size_t>(c)];
        for (std::int64_t c = 0; c < 2; ++c)
          points(k, c) = torchvision::points_before[row][static_cast<std::size_t>(c)];
        boxes(k, 4) = points(k, 2) = 1;
      }
    }
  };
  const ImageFields all{"image", boxes("boxes"), points("points")};
  const std::pair<std::string, Stage> stages[] = {
      {"crop", crop(all, {9, 13, 40, 50})},  {"center_crop", center_crop(all, {41, 61})},
      {"resize", resize(all, {150, 333})},   {"flip_horizontal", flip_horizontal(all)},
      {"flip_vertical", flip_vertical(all)}, {"letterbox", letterbox(all, {128, 256})},
  };
  std::size_t compared = 0;
  const auto check = [&](const torchvision::Expected& expected, const OwnedSample& got) {
    for (std::int64_t k = 0; k < 12; ++k) {
      const auto row = static_cast<std::size_t>(k);
      for (std::int64_t c = 0; c < 4 && number(got, "boxes", k, 4) > 0; ++c, ++compared)
        CHECK(number(got, "boxes", k, c) == Approx(expected.boxes[row][static_cast<std::size_t>(c)]).margin(1e-3));
      // It flips key points as indices of pixels, W - 1 - x, and moves them as positions otherwise.
      const auto more = [&](std::int64_t c) {
        return expected.stage == std::string(c == 0 ? "flip_horizontal" : "flip_vertical") ? 1.0f : 0.0f;
      };
      for (std::int64_t c = 0; c < 2 && number(got, "points", k, 2) > 0; ++c, ++compared)
        CHECK(number(got, "points", k, c) ==
              Approx(expected.points[row][static_cast<std::size_t>(c)] + more(c)).margin(1e-3));
    }
  };
  const Pipeline p = from(Boxes{});
  for (const torchvision::Expected& expected : torchvision::expected) {
    INFO(expected.stage);
    const auto stage = std::ranges::find(stages, expected.stage, &std::pair<std::string, Stage>::first);
    check(expected, stage != std::end(stages) ? (p | stage->second).at(0)
                                              : (p | crop(all, {9, 13, 40, 50}) | resize(all, {64, 128})).at(0));
  }
  CHECK(compared > 350);
  for (const torchvision::Format& format : torchvision::formats) {
    const BoxFormat to = format.name == std::string("xywh") ? BoxFormat::xywh : BoxFormat::cxcywh;
    const OwnedSample got = (p | convert_boxes("boxes", {.to = to})).at(0);
    for (std::int64_t k = 0; k < 12; ++k)
      for (std::int64_t c = 0; c < 4; ++c)
        CHECK(number(got, "boxes", k, c) ==
              Approx(format.boxes[static_cast<std::size_t>(k)][static_cast<std::size_t>(c)]).margin(1e-4));
  }
}

TEST_CASE("crop_box is the part of the image that a stage's result shows") {
  const ImageFields with_crop{mask("image"), crop_box("crop")};
  const auto crop_of = [](const OwnedSample& s) {
    std::vector<float> box(4);
    std::memcpy(box.data(), s["crop"].data, 16);
    return box;
  };
  const Pipeline fixed = from(Numbered{}) | crop(with_crop, {5, 7, 40, 50}) | flip_horizontal("image");
  CHECK(fixed.schema().at("crop").shape == Shape{4});
  CHECK(crop_of(fixed.at(0)) == std::vector<float>{7, 5, 57, 45});
  // The pixels themselves say it.
  const Pipeline drawn = from(Numbered{}) | seed(7) | random_rot90("image") |
                         random_resized_crop(with_crop, {400, 380}) | random_flip("image");
  const Pipeline turned = from(Numbered{}) | seed(7) | random_rot90("image");
  for (std::uint64_t i = 0; i < 20; ++i) {
    const OwnedSample before = turned.at(i), after = drawn.at(i);
    const std::vector<float> box = crop_of(after);
    const Pixels2 pixels(after);
    const auto first = pixels.at(0, 0), last = pixels.at(399, 379);
    std::vector<std::pair<std::int64_t, std::int64_t>> found;
    const TensorView image = before["image"];
    for (std::int64_t y = 0; y < image.shape[0]; ++y)
      for (std::int64_t x = 0; x < image.shape[1]; ++x) {
        std::uint16_t value = 0;
        std::memcpy(&value, image.data + 2 * (y * image.shape[1] + x), 2);
        if (value - 1 == first || value - 1 == last) found.emplace_back(x, y);
      }
    REQUIRE(found.size() == 2);
    const auto [x0, x1] = std::minmax(found[0].first, found[1].first);
    const auto [y0, y1] = std::minmax(found[0].second, found[1].second);
    CHECK(box == std::vector<float>{static_cast<float>(x0), static_cast<float>(y0), static_cast<float>(x1 + 1),
                                    static_cast<float>(y1 + 1)});
  }
}

TEST_CASE("an ImageOp tells where points are, and which part of the source it shows") {
  ImageOp op({100, 200, 3});
  op.crop({10, 20, 50, 80});
  op.flip_horizontal();
  op.resize({100, 320});
  op.crop({0, 40, 100, 200});
  op.pad({.top = 1, .left = 2, .bottom = 3, .right = 4});
  op.rot90(1);
  // The corner (20, 10) of the crop is at its right edge, 320, after the flip; 280 from the second crop; 282 with the
  // margin. A quarter turn counter-clockwise: x is the old y, and y is the width less the old x.
  const ImagePoint at = op.moved({20, 10});
  CHECK(at.x == 1);
  CHECK(at.y == 206 - 282);
  CHECK(op.shape().size() == Size{206, 104});
  CHECK(op.shown() == Box{4, 1, 200, 100});
  const auto [first, last] = op.seen();
  CHECK(first.x == 20 + 80 - 60);
  CHECK(last.x == 20 + 80 - 10);
  CHECK(first.y == 10);
  CHECK(last.y == 60);
}

TEST_CASE("a point on an edge is inside") {
  struct Corners {
    std::uint64_t size() const { return 1; }
    Schema schema() const { return {{"image", DType::u8, {8, 9, 1}}, {"points", DType::f32, {4, 3}}}; }
    void read(std::uint64_t, SampleBuilder& out) const {
      out.emplace<std::uint8_t, 3>("image", {8, 9, 1});
      const auto at = out.emplace<float, 2>("points", {4, 3});
      const float values[4][3] = {{2, 3, 2}, {6, 3, 2}, {2, 7, 1}, {5.5f, 6.5f, 0}};
      for (std::int64_t k = 0; k < 4; ++k)
        for (std::int64_t c = 0; c < 3; ++c) at(k, c) = values[k][c];
    }
  };
  const OwnedSample sample = (from(Corners{}) | crop({"image", points("points")}, {3, 2, 4, 4})).at(0);
  const std::vector<std::vector<float>> expected{{0, 0, 2}, {4, 0, 2}, {0, 4, 1}, {3.5f, 3.5f, 0}};
  for (std::int64_t k = 0; k < 4; ++k)
    for (std::int64_t c = 0; c < 3; ++c)
      CHECK(number(sample, "points", k, c) == expected[static_cast<std::size_t>(k)][static_cast<std::size_t>(c)]);
}

TEST_CASE("a mirrored image exchanges pairs of key points, and a turned one does not") {
  struct People {
    std::uint64_t size() const { return 1; }
    Schema schema() const {
      return {{"image", DType::u8, {10, 20, 1}}, {"points", DType::f32, {dynamic, 3, 3}}, {"flat", DType::f32, {3, 2}}};
    }
    void read(std::uint64_t, SampleBuilder& out) const {
      out.emplace<std::uint8_t, 3>("image", {10, 20, 1});
      const auto points = out.emplace<float, 3>("points", {2, 3, 3});
      const auto flat = out.emplace<float, 2>("flat", {3, 2});
      for (std::int64_t n = 0; n < 2; ++n)
        for (std::int64_t k = 0; k < 3; ++k) {
          points(n, k, 0) = static_cast<float>(5 * n + k), points(n, k, 1) = static_cast<float>(1 + 2 * k + n);
          points(n, k, 2) = 2;
          flat(k, 0) = static_cast<float>(k), flat(k, 1) = 1;
        }
    }
  };
  const Pipeline p = from(People{});
  const auto x_of = [&](const ImageFields& fields,
                        const std::function<Pipeline(const Pipeline&, const ImageFields&)>& f) {
    const OwnedSample sample = f(p, fields).at(0);
    std::vector<float> x;
    for (std::int64_t i = 0; i < 6; ++i) {
      float value = 0;
      std::memcpy(&value, sample["points"].data + i * 12, 4);
      x.push_back(value);
    }
    return x;
  };
  const ImageFields pairs{"image", points("points", {{0, 2}})}, none{"image", points("points")};
  const auto flipped = [](const Pipeline& of, const ImageFields& f) { return of | flip_horizontal(f); };
  const auto twice = [](const Pipeline& of, const ImageFields& f) {
    return of | flip_horizontal(f) | flip_vertical(f);
  };
  const auto turned = [](const Pipeline& of, const ImageFields& f) { return of | rot90(f, 2); };
  const auto larger = [](const Pipeline& of, const ImageFields& f) {
    return of | flip_horizontal(f) | resize(f, {20, 40});
  };
  using Numbers = std::vector<float>;
  CHECK(x_of(none, flipped) == Numbers{20, 19, 18, 15, 14, 13});
  CHECK(x_of(pairs, flipped) == Numbers{18, 19, 20, 13, 14, 15});
  CHECK(x_of(pairs, twice) == Numbers{20, 19, 18, 15, 14, 13});
  CHECK(x_of(pairs, turned) == x_of(none, turned));
  CHECK(x_of(pairs, larger) == Numbers{36, 38, 40, 26, 28, 30});
  for (int quarters = 0; quarters < 4; ++quarters) {
    const auto mirrored = [=](const Pipeline& of, const ImageFields& f) {
      return of | flip_vertical(f) | rot90(f, quarters);
    };
    const std::vector<float> plain = x_of(none, mirrored), exchanged = x_of(pairs, mirrored);
    CHECK(exchanged == Numbers{plain[2], plain[1], plain[0], plain[5], plain[4], plain[3]});
  }
  const auto refused = [&](const ImageField& of) { return cause([&] { (void)(p | random_flip({"image", of})); }); };
  CHECK(refused(points("points", {{0, 3}})).find("not one of its 3 points") != std::string::npos);
  CHECK(refused(points("points", {{0, 1}, {1, 2}})).find("named twice") != std::string::npos);
  CHECK(refused(points("flat", {{0, 2}})) == "");
  CHECK((p | random_flip(pairs)).fingerprint() != (p | random_flip(none)).fingerprint());
}

TEST_CASE("a box that holds NaN stays one, and is hidden") {
  struct Broken {
    std::uint64_t size() const { return 4; }
    Schema schema() const { return {{"image", DType::u8, {10, 12, 1}}, {"boxes", DType::f32, {1, 5}}}; }
    void read(std::uint64_t i, SampleBuilder& out) const {
      out.emplace<std::uint8_t, 3>("image", {10, 12, 1});
      const auto box = out.emplace<float, 2>("boxes", {1, 5});
      const float values[] = {2, 3, 6, 7, 1};
      for (std::int64_t c = 0; c < 5; ++c) box(0, c) = values[c];
      box(0, static_cast<std::int64_t>(i)) = std::numeric_limits<float>::quiet_NaN();
    }
  };
  const ImageFields all{"image", boxes("boxes")};
  for (const Stage& stage : {center_crop(all, {10, 12}), flip_horizontal(all), rot90(all)})
    for (std::uint64_t i = 0; i < 4; ++i) {
      const OwnedSample sample = (from(Broken{}) | stage).at(i);
      int nans = 0;
      for (std::int64_t c = 0; c < 4; ++c) nans += std::isnan(number(sample, "boxes", 0, c));
      CHECK(nans >= 1);
      CHECK(number(sample, "boxes", 0, 4) == 0);
    }
}

TEST_CASE("a stage that refuses the masks of one sample makes it a bad sample") {
  // Draws a label that masks of 8 bits may not have.
  struct PadByLabel {
    struct Params {
      std::uint16_t label;
    };
    Params draw(const ImageShape&, Rng& rng) const { return {static_cast<std::uint16_t>(rng.below(600))}; }
    void compose(const Params& params, const ImageShape&, ImageOp& op) const {
      op.pad({.top = 1, .bottom = 1, .label = params.label});
    }
    Shape schema(const Shape& in) const { return {dynamic, in[1], in[2]}; }
    std::string name() const { return "pad_by_label"; }
  };
  struct Masks {
    std::uint64_t size() const { return 30; }
    Schema schema() const {
      return {{"image", DType::u8, {4, 5, 1}}, {"mask", DType::u8, {4, 5, 1}}, {"masks", DType::u8, {2, 4, 5}}};
    }
    void read(std::uint64_t, SampleBuilder& out) const {
      for (std::size_t field = 0; field < 3; ++field) {
        const TensorView to = out.emplace(field, schema()[field].shape);
        std::fill_n(to.data, to.bytes(), std::byte{0});
      }
    }
  };
  const auto left = [](const ImageField& follower) {
    Loader loader(from(Masks{}) | seed(2) | image_stage({"image", follower}, PadByLabel{}) | select_fields({"image"}) |
                      on_error({.policy = OnError::drop}) | ragged("image") | batch(4),
                  {.threads = 2, .epochs = 1});
    std::vector<std::uint64_t> indices;
    for (const Batch& batch : loader.epoch())
      indices.insert(indices.end(), batch.indices().begin(), batch.indices().end());
    return indices;
  };
  const std::vector<std::uint64_t> expected = left(mask("mask"));
  CHECK(expected.size() > 5);
  CHECK(expected.size() < 25);
  CHECK(left(instance_masks("masks")) == expected);
}

TEST_CASE("errors of followers name the fields and the stage as they were") {
  struct Torn {
    std::uint64_t size() const { return 1; }
    Schema schema() const { return {{"image", DType::u8, {dynamic, 12, 1}}, {"masks", DType::u8, {1, dynamic, 12}}}; }
    void read(std::uint64_t, SampleBuilder& out) const {
      out.emplace<std::uint8_t, 3>("image", {10, 12, 1});
      out.emplace<std::uint8_t, 3>("masks", {1, 9, 12});
    }
  };
  const Pipeline p = from(Torn{}) | flip_horizontal({"image", instance_masks("masks")}) |
                     penstock::rename("image", "picture") | penstock::rename("masks", "segments");
  CHECK(cause([&] { (void)p.at(0); }).find("\"image\" is [10, 12, 1], and the masks of \"masks\" are [9, 12]") !=
        std::string::npos);
  CHECK(error_of([&] { (void)(from(Torn{}) | center_crop("image", {7, 13})); }).stage() == "center_crop(image)");
  struct PlanesFirst {
    struct Params {};
    Params draw(const ImageShape&, Rng&) const { return {}; }
    void compose(const Params&, const ImageShape&, ImageOp& op) const {
      op.convert(DType::u8, Layout::chw, {1, 1, 1, 1}, {0, 0, 0, 0});
    }
    Shape schema(const Shape& in) const { return {in[2], in[0], in[1]}; }
  };
  CHECK(cause([&] {
          (void)(from(Torn{}) | image_stage({"image", instance_masks("masks")}, PlanesFirst{}));
        }).find("puts the channels first") != std::string::npos);
}

TEST_CASE("letterbox surrounds pictures by its colours, and masks by its label") {
  struct Square {
    std::uint64_t size() const { return 1; }
    Schema schema() const { return {{"image", DType::u8, {10, 10, 3}}, {"mask", DType::u8, {10, 10, 1}}}; }
    void read(std::uint64_t, SampleBuilder& out) const {
      for (std::size_t field = 0; field < 2; ++field) {
        const TensorView to = out.emplace(field, schema()[field].shape);
        std::fill_n(to.data, to.bytes(), std::byte{50});
      }
    }
  };
  const auto pixel = [](const OwnedSample& sample, const char* field, std::size_t x) {
    const TensorView t = sample[field];
    const auto channels = static_cast<std::size_t>(t.shape[2]);
    std::vector<int> values;
    for (std::size_t c = 0; c < channels; ++c) values.push_back(std::to_integer<int>(t.data[x * channels + c]));
    return values;
  };
  using Values = std::vector<int>;
  const auto boxed = [](const LetterboxOptions& options) {
    return (from(Square{}) | letterbox({"image", "mask"}, {10, 20}, options)).at(0);
  };
  const OwnedSample usual = boxed({}), coloured = boxed({.fill = {1, 2, 3}, .label = 7});
  for (const std::size_t x : {std::size_t{4}, std::size_t{15}}) {
    CHECK(pixel(usual, "image", x) == Values{114, 114, 114});
    CHECK(pixel(usual, "mask", x) == Values{0});
    CHECK(pixel(coloured, "image", x) == Values{1, 2, 3});
    CHECK(pixel(coloured, "mask", x) == Values{7});
  }
  for (const std::size_t x : {std::size_t{5}, std::size_t{14}})
    CHECK(pixel(coloured, "image", x) == Values{50, 50, 50});
  CHECK(cause([&] {
          (void)boxed({.fill = {1, 2}});
        }).find("has 2 values to fill an image of 3 channels") != std::string::npos);
}

TEST_CASE("letterbox keeps the aspect, and centres the picture") {
  const Letterbox box({100, 200});
  CHECK(box.inner({50, 100}) == Box{0, 0, 100, 200});
  CHECK(box.inner({100, 100}) == Box{0, 50, 100, 100});
  CHECK(box.inner({10, 100}) == Box{40, 0, 20, 200});
  CHECK(box.inner({3, 100}) == Box{47, 0, 6, 200});
  CHECK(box.inner({1, 100'000}) == Box{49, 0, 1, 200});
  CHECK(box.inner({99, 200}) == Box{0, 0, 99, 200});
  CHECK(box.inner({98, 200}) == Box{1, 0, 98, 200});
  CHECK(cause([] { (void)letterbox("image", {0, 5}); }).find("at least 1") != std::string::npos);
  CHECK(cause([] { (void)letterbox("image", {5, 5}, {.fill = {}}); }).find("1 to 4 values") != std::string::npos);
  CHECK(cause([] { (void)letterbox("image", {5, 5}, {.fill = {70'000}}); }).find("no value") != std::string::npos);
}

TEST_CASE("followers that can't follow are refused, with what to do") {
  const Pipeline p = from(Numbered{});
  CHECK(cause([] {
          (void)random_flip({boxes("boxes"), "image"});
        }).find("an image must be before it") != std::string::npos);
  CHECK(cause([&] {
          (void)(p | random_flip({"image", "boxes"}));
        }).find("are named as boxes(\"boxes\")") != std::string::npos);
  CHECK(cause([] { (void)random_flip(boxes("boxes")); }).find("an image must be before it") != std::string::npos);
  CHECK(cause([&] {
          (void)(p | random_flip({"image", boxes("points")}));
        }).find("boxes are f32[..., 4]") != std::string::npos);
  CHECK(cause([&] {
          (void)(p | random_flip({"image", points("boxes")}));
        }).find("points are f32[..., 2]") != std::string::npos);
  CHECK(cause([&] {
          (void)(p | random_flip({"image", boxes("masks")}));
        }).find("boxes are f32[..., 4]") != std::string::npos);
  CHECK(cause([&] {
          (void)(p | random_flip({"image", instance_masks("boxes")}));
        }).find("u8[N, H, W]") != std::string::npos);
  CHECK(cause([&] {
          (void)(p | random_flip({"image", crop_box("boxes")}));
        }).find("give it another name") != std::string::npos);
  struct Small {
    std::uint64_t size() const { return 1; }
    Schema schema() const { return {{"image", DType::u8, {8, 8, 3}}, {"boxes", DType::f32, {2, 4}}}; }
    void read(std::uint64_t, SampleBuilder&) const {}
  };
  CHECK(cause([&] {
          (void)(from(Small{}) | batch(2) | random_flip({"image", boxes("boxes")}));
        }).find("put the stage there") != std::string::npos);
  struct Other {
    std::uint64_t size() const { return 1; }
    Schema schema() const { return {{"image", DType::u8, {8, 8, 3}}, {"masks", DType::u8, {dynamic, 8, 9}}}; }
    void read(std::uint64_t, SampleBuilder&) const {}
  };
  CHECK(cause([&] {
          (void)(from(Other{}) | random_flip({"image", instance_masks("masks")}));
        }).find("masks have the height and width of their image") != std::string::npos);
}

TEST_CASE("fields that can't follow a decoder are refused, with what to do") {
  const auto decode = [](ImageFields fields) {
    return decode_stage(std::move(fields), std::make_shared<TurnedFormat>(), image_executor());
  };
  const Pipeline files = from(TurnedFiles{});
  CHECK(cause([&] {
          (void)(files | decode({"image", "masks"}));
        }) ==
        "\"masks\" can't follow a decoder, only boxes, points and instance masks can; decode each image by a stage of "
        "its "
        "own");
  CHECK(cause([&] { (void)(files | decode({"image", crop_box("crop")})); }).starts_with("\"crop\" can't follow"));
  CHECK(cause([&] { (void)(files | decode(mask("image"))); }) ==
        "a decoder resamples nothing, so \"image\" is named without a filter");
  CHECK(cause([&] { (void)(files | decode({"image", points("boxes")})); }).starts_with("field \"boxes\" is f32[?, 5]"));
  CHECK(cause([&] {
          (void)(files | ragged("image") | ragged("boxes") | ragged("points") | ragged("masks") | batch(4) |
                 decode({"image", boxes("boxes")}));
        }).starts_with("field \"boxes\" follows an image, which it does before batch"));
  CHECK((files | decode({"image", boxes("boxes")})).plan().find("decode_turned(image, boxes)") != std::string::npos);

  // What a decoder says is no orientation.
  class Wrong final : public ImageDecoder {
   public:
    std::string name() const override { return "decode_wrong"; }
    std::string describe() const override { return ""; }
    std::int64_t channels() const override { return 1; }
    DType dtype() const override { return DType::u16; }
    bool labels() const override { return true; }
    std::unique_ptr<ImageDecoding> start() const override {
      class Nine final : public ImageDecoding {
        ImageShape open(std::span<const std::byte>) override { return {high, wide, 1, DType::u16}; }
        Pixels decode(const Box&, bool, std::byte*, Scratch&) override { return {}; }
        int orientation() const override { return 9; }
      };
      return std::make_unique<Nine>();
    }
  };
  CHECK(cause([&] {
          (void)(files | decode_stage({"image", boxes("boxes")}, std::make_shared<Wrong>(), image_executor())).at(0);
        }) == "orientation 9 is not 1 to 8");
}

TEST_CASE("boxes are converted between all formats") {
  struct One {
    std::uint64_t size() const { return 1; }
    Schema schema() const { return {{"image", DType::u8, {50, 200, 3}}, {"boxes", DType::f32, {dynamic, 5}}}; }
    void read(std::uint64_t, SampleBuilder& out) const {
      out.emplace<std::uint8_t, 3>("image", {50, 200, 3});
      const auto boxes = out.emplace<float, 2>("boxes", {2, 5});
      const float values[2][5] = {{20, 5, 60, 25, 1}, {0, 0, 200, 50, 0.5f}};
      for (std::int64_t k = 0; k < 2; ++k)
        for (std::int64_t c = 0; c < 5; ++c) boxes(k, c) = values[k][c];
    }
  };
  using Numbers = std::vector<float>;
  const auto first = [](const Pipeline& p, std::int64_t columns) {
    const OwnedSample sample = p.at(0);
    REQUIRE(sample["boxes"].shape == Shape({2, columns}));
    Numbers numbers;
    for (std::int64_t c = 0; c < columns; ++c) numbers.push_back(number(sample, "boxes", 0, c));
    return numbers;
  };
  using enum BoxFormat;
  const std::pair<BoxFormat, Numbers> cases[] = {{xyxy, {20, 5, 60, 25, 1}},
                                                 {xywh, {20, 5, 40, 20, 1}},
                                                 {cxcywh, {40, 15, 40, 20, 1}},
                                                 {xyxy_shares, {0.1f, 0.1f, 0.3f, 0.5f, 1}},
                                                 {xywh_shares, {0.1f, 0.1f, 0.2f, 0.4f, 1}},
                                                 {cxcywh_shares, {0.2f, 0.3f, 0.2f, 0.4f, 1}}};
  const ImageFields led{"image", boxes("boxes")};
  const Pipeline p = from(One{});
  for (const auto& [to, expected] : cases) {
    CHECK(first(p | convert_boxes(led, {.to = to}), 5) == expected);
    if (to <= cxcywh) CHECK(first(p | convert_boxes("boxes", {.to = to}), 5) == expected);
    for (const auto& [again, other] : cases) {
      const Numbers numbers =
          first(p | convert_boxes(led, {.to = to}) | convert_boxes(led, {.from = to, .to = again}), 5);
      for (std::size_t c = 0; c < 5; ++c) CHECK(std::abs(numbers[c] - other[c]) < 1e-4f);
    }
  }
  // Between other stages, at the size that the image has there.
  CHECK(first(p | resize(led, {100, 100}) | convert_boxes(led, {.to = cxcywh_shares, .keeps_share = false}) |
                  flip_horizontal("image"),
              4) == Numbers{0.2f, 0.3f, 0.2f, 0.4f});
  CHECK(first(p | convert_boxes("boxes", {.to = xywh, .keeps_share = false}), 4) == Numbers{20, 5, 40, 20});
  CHECK(cause([] { (void)convert_boxes("boxes", {.to = xyxy_shares}); }).find("needs the image's size") !=
        std::string::npos);
  CHECK(cause([] {
          (void)convert_boxes({"image", "boxes"}, {.to = xyxy_shares});
        }).find("named as boxes") != std::string::npos);
  CHECK((p | convert_boxes("boxes", {.to = xywh})).fingerprint() !=
        (p | convert_boxes("boxes", {.to = cxcywh})).fingerprint());
}

}  // namespace PENSTOCK_TEST_FILE
