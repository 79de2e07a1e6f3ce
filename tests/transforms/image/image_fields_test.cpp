// SPDX-License-Identifier: Apache-2.0
// Image stages with several fields: one draw for all, labels that stay labels, folding that changes no bit.
#include <algorithm>
#include <cstring>
#include <set>

#include <penstock/error.hpp>
#include <penstock/penstock.hpp>
#include <penstock/sources/memory.hpp>
#include <penstock/transforms/image.hpp>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "support/thrown.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

// Fields of different sizes: a, a twin of it, labels (few, far apart, one channel), and a second picture b.
struct Pairs {
  std::uint64_t size() const { return 9; }
  Schema schema() const {
    return {{"a", DType::u8, {dynamic, dynamic, 3}},
            {"twin", DType::u8, {dynamic, dynamic, 3}},
            {"labels", DType::u8, {dynamic, dynamic, 1}},
            {"b", DType::u8, {dynamic, dynamic, 4}}};
  }
  void read(std::uint64_t i, SampleBuilder& out) const {
    const auto step = static_cast<std::int32_t>(i);
    const ImageShape shape{40 + step * 7 % 30, 41 + step * 11 % 30, 3};
    put(out, "a", photo(shape, i));
    put(out, "twin", photo(shape, i));
    put(out, "b", static_noise({shape.height, shape.width, 4}, i));
    Image labels = static_noise({shape.height, shape.width, 1}, i);
    for (std::uint8_t& label : labels.pixels) label = few[label % few.size()];
    put(out, "labels", labels);
  }
  static constexpr std::array<std::uint8_t, 5> few{0, 3, 7, 200, 255};

 private:
  static void put(SampleBuilder& out, const char* field, const Image& image) {
    const auto to = out.emplace<std::uint8_t, 3>(field, {image.shape.height, image.shape.width, image.shape.channels});
    std::copy(image.pixels.begin(), image.pixels.end(), to.data());
  }
};

// Between stages: they no longer stand next to each other, so each is a step of its own.
struct Nothing {
  void operator()(Sample&, Context&) const {}
  std::string name() const { return "nothing"; }
};

bool same(const TensorView& a, const TensorView& b) {
  return a.dtype == b.dtype && a.shape == b.shape && std::memcmp(a.data, b.data, a.bytes()) == 0;
}

bool same(const OwnedSample& a, const OwnedSample& b) {
  return a.schema() == b.schema() &&
         std::ranges::all_of(a.schema(), [&](const Field& field) { return same(a[field.name], b[field.name]); });
}

}  // namespace

TEST_CASE("the first field of a stage is what the stage makes of it alone, and the others follow its draw") {
  const auto chain = [](const ImageFields& fields) {
    return from(Pairs{}) | seed(5) | random_crop(fields, {33, 35}) | random_flip(fields) | random_rot90(fields) |
           random_resized_crop(fields, {20, 24}) | random_flip_vertical(fields);
  };
  const Pipeline alone = chain("a"), both = chain({"a", {"twin", Filter::linear}}),
                 all = chain({"a", "labels", {"twin", Filter::linear}, {"b", Filter::linear}});
  std::set<std::uint8_t> labels;
  for (std::uint64_t position = 0; position < Pairs{}.size(); ++position)
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
      const OwnedSample expected = alone.at(position, epoch), two = both.at(position, epoch),
                        four = all.at(position, epoch);
      REQUIRE(same(two["a"], expected["a"]));
      REQUIRE(same(two["twin"], expected["a"]));
      REQUIRE(same(four["a"], expected["a"]));
      REQUIRE(same(four["twin"], expected["a"]));
      REQUIRE(four["labels"].shape == Shape{20, 24, 1});
      REQUIRE(four["b"].shape == Shape{20, 24, 4});
      for (const std::uint8_t label : four["labels"].as<std::uint8_t, 3>()) labels.insert(label);
    }
  CHECK(labels == std::set<std::uint8_t>(Pairs::few.begin(), Pairs::few.end()));
  // A filter would have made others.
  labels.clear();
  const OwnedSample mixed = chain("labels").at(0);
  for (const std::uint8_t label : mixed["labels"].as<std::uint8_t, 3>()) labels.insert(label);
  CHECK(labels.size() > Pairs::few.size());
}

TEST_CASE("labels stay where the image's pixels are") {
  // The first field's value says where a pixel came from, in a quarter of an image each; so does the label's.
  struct Quarters {
    std::uint64_t size() const { return 50; }
    Schema schema() const { return {{"image", DType::u8, {64, 64, 1}}, {"mask", DType::u8, {64, 64, 1}}}; }
    void read(std::uint64_t, SampleBuilder& out) const {
      for (const char* field : {"image", "mask"}) {
        const auto to = out.emplace<std::uint8_t, 3>(field, {64, 64, 1});
        for (int y = 0; y < 64; ++y)
          for (int x = 0; x < 64; ++x) to(y, x, 0) = static_cast<std::uint8_t>(y / 32 * 170 + x / 32 * 85);
      }
    }
  };
  const Pipeline pipeline = from(Quarters{}) | random_rot90({"image", "mask"}) |
                            random_resized_crop({"image", "mask"}, {48, 48}) | random_flip({"image", "mask"});
  std::int64_t differing = 0;
  for (std::uint64_t position = 0; position < 50; ++position) {
    const OwnedSample sample = pipeline.at(position);
    const auto image = sample["image"].as<std::uint8_t, 3>(), mask_of = sample["mask"].as<std::uint8_t, 3>();
    for (int y = 0; y < 48; ++y)
      for (int x = 0; x < 48; ++x) {
        REQUIRE(mask_of(y, x, 0) % 85 == 0);
        // Only along the two edges between quarters may the filter mix, or round to the other side.
        differing += image(y, x, 0) != mask_of(y, x, 0);
      }
  }
  CHECK(differing < 50 * 48 * 2 * 5);
}

TEST_CASE("chains on several fields give the same bits in any grouping") {
  const char* const names[] = {"a", "twin", "labels", "b"};
  const auto some_fields = [&](Numbers& numbers) -> ImageFields {
    // The first field changes, so that fields lead and follow each other in turns.
    const int first = numbers.below(4), second = (first + numbers.from(1, 3)) % 4;
    if (numbers.below(4) == 0) return mask(names[first]);
    if (numbers.coin()) return {names[first], names[second]};
    const int third = 6 - first - second == first || 6 - first - second == second ? -1 : (6 - first - second) % 4;
    if (third < 0 || third == first || third == second) return {names[first], {names[second], Filter::linear}};
    return {names[first], {names[second], Filter::linear}, names[third]};
  };
  const ImageFields everything{"labels", "a", "b", "twin"};
  const auto stage = [&](Numbers& numbers) -> Stage {
    const ImageFields fields = some_fields(numbers);
    switch (numbers.below(6)) {
      case 0:
        return random_crop(everything, {numbers.from(20, 30), numbers.from(20, 30)});
      case 1:
        return random_flip(fields);
      case 2:
        return random_flip_vertical(fields);
      case 3:
        return rot90(everything, numbers.from(1, 3));
      case 4:
        return resize(everything, {numbers.from(30, 60), numbers.from(30, 60)});
      default:
        return random_resized_crop(everything, {numbers.from(30, 40), numbers.from(30, 40)});
    }
  };
  std::size_t merged = 0;
  for (std::uint64_t test = 0; test < 120; ++test) {
    CAPTURE(test);
    Numbers numbers(test);
    Pipeline together = from(Pairs{}) | seed(test), apart = together;
    together = together | resize(everything, {50, 60});
    apart = apart | resize(everything, {50, 60}) | Nothing{};
    const int stages = numbers.from(2, 7);
    for (int n = 0; n < stages; ++n) {
      const Numbers before = numbers;
      together = together | stage(numbers);
      numbers = before;
      apart = apart | stage(numbers) | Nothing{};
      if (numbers.below(6) == 0) {
        together = together | Nothing{};
        apart = apart | Nothing{};
      }
      // A crop may not fit after a turn: back to a size in which all do.
      together = together | resize(everything, {50, 60});
      apart = apart | resize(everything, {50, 60}) | Nothing{};
    }
    together = together | normalize("a");
    apart = apart | normalize("a");
    INFO(together.plan());
    const std::string plan = together.plan();
    for (std::size_t at = 0; (at = plan.find("one operation", at)) != std::string::npos; ++at) ++merged;
    for (std::uint64_t position = test % 3; position < Pairs{}.size(); position += 4) {
      const OwnedSample expected = apart.at(position);
      REQUIRE(same(together.at(position), expected));
      REQUIRE(same((together | check({.fold = false})).at(position), expected));
    }
  }
  CHECK(merged > 300);
}

TEST_CASE("fields fold one by one where the first one leads, and the plan says so") {
  const Pipeline pipeline = from(Pairs{}) | select_fields({"labels", "a"}) |
                            random_resized_crop({"a", "labels"}, {24, 24}) | random_flip({"a", "labels"}) |
                            normalize("a") | batch(3);
  CHECK(pipeline.schema().to_string() == "{labels: u8[24, 24, 1], a: f32[3, 24, 24]}");
  const std::string plan = pipeline.plan();
  INFO(plan);
  CHECK(plan.find("random_resized_crop(a, labels) + random_flip(a, labels) + normalize(a): one operation; resampled by "
                  "interpolation -> a: f32[3, 24, 24]; writes a into the batch") != std::string::npos);
  CHECK(plan.find("random_resized_crop(a, labels) + random_flip(a, labels): one operation; resampled by nearest; draws "
                  "are those of the first field -> labels: u8[24, 24, 1]; writes labels") != std::string::npos);
  Loader loader(pipeline, {.threads = 2});
  std::uint64_t position = 0;
  for (Batch& batch : loader.epoch())
    for (std::uint64_t row = 0; row < batch.size(); ++row, ++position) {
      const OwnedSample sample = pipeline.at(position);
      for (const char* field : {"a", "labels"}) {
        const TensorView all = batch[field], one = sample[field];
        REQUIRE(std::memcmp(all.data + row * one.bytes(), one.data, one.bytes()) == 0);
      }
    }
  CHECK(loader.report().copied_bytes == 0);
}

TEST_CASE("fields of one stage agree in height and width") {
  struct Crooked {
    std::uint64_t size() const { return 3; }
    Schema schema() const {
      return {{"image", DType::u8, {dynamic, dynamic, 3}}, {"mask", DType::u8, {dynamic, dynamic, 1}}};
    }
    void read(std::uint64_t i, SampleBuilder& out) const {
      std::ranges::fill(out.emplace<std::uint8_t, 3>("image", {20, 30, 3}), std::uint8_t{1});
      std::ranges::fill(out.emplace<std::uint8_t, 3>("mask", {20, i == 1 ? 31 : 30, 1}), std::uint8_t{2});
    }
  };
  const Pipeline pipeline = from(Crooked{}) | random_crop({"image", "mask"}, {8, 8});
  CHECK_NOTHROW(pipeline.at(0));
  const Error error = error_of([&] { (void)pipeline.at(1); });
  CHECK(error.code() == Errc::unsupported);
  CHECK(error.stage() == "random_crop(image, mask)");
  CHECK(error.cause().find("\"image\" is [20, 30, 3] and \"mask\" is [20, 31, 1]") == 0);
  CHECK_NOTHROW((pipeline | on_error({.policy = OnError::mask}) | batch(3)));
  // Where the schema shows it, it is said at once.
  const Pipeline known = from(Crooked{}) | resize("image", {20, 30}) | resize(mask("mask"), {20, 31});
  CHECK(error_of([&] { (void)(known | random_flip({"image", "mask"})); }).code() == Errc::schema_mismatch);
}

TEST_CASE("fields are named once, and are there") {
  CHECK(error_of([] { (void)random_flip({"a", "a"}); }).code() == Errc::invalid_argument);
  CHECK(error_of([] { (void)random_flip({}); }).code() == Errc::invalid_argument);
  CHECK(error_of([] { (void)(from(Pairs{}) | random_flip({"a", "nothing"})); }).code() == Errc::schema_mismatch);
  CHECK(error_of([] {
          (void)(from(Pairs{}) | normalize("a") | random_flip({"labels", "a"}));
        }).code() == Errc::schema_mismatch);
  const ImageFields fields{"a", "m", {"b", Filter::linear}, mask("c")};
  CHECK(fields.names() == "a, m, b, c");
  CHECK(fields[0].filter == Filter::linear);
  CHECK(fields[1].filter == Filter::nearest);
  CHECK(fields[2].filter == Filter::linear);
  CHECK(fields[3].filter == Filter::nearest);
}

TEST_CASE("how a field is resampled is in the fingerprint") {
  const auto fingerprint = [](const ImageFields& fields) {
    return (from(Pairs{}) | select_fields({"a", "twin"}) | resize(fields, {8, 8}) | resize({"a", "twin"}, {9, 9}) |
            batch(1))
        .fingerprint();
  };
  CHECK(fingerprint({"a", "twin"}) != fingerprint({"a", {"twin", Filter::linear}}));
  CHECK(fingerprint({"a", "twin"}) != fingerprint({"twin", "a"}));
  CHECK(fingerprint({"a", "twin"}) == fingerprint({{"a", Filter::linear}, mask("twin")}));
}
