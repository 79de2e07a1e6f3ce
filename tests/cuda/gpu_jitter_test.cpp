// Changes of colour on a GPU: the host's bits.
#include "support/catch.hpp"

#include <algorithm>

#include <penstock/error.hpp>
#include <penstock/stages/on_error.hpp>
#include <penstock/transforms/image.hpp>

#include "cuda/gpu_help.hpp"
#include "support/test_images.hpp"

using namespace help;

namespace {

struct Photos {
  std::int32_t height = 67, width = 45, channels = 3;
  std::uint64_t count = 50;
  std::vector<std::uint64_t> bad = {};
  std::uint64_t size() const { return count; }
  ps::Schema schema() const { return {{"image", ps::DType::u8, {height, width, channels}}}; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    if (std::find(bad.begin(), bad.end(), i) != bad.end()) throw ps::Error(ps::Errc::corrupt, "a bad photo");
    const ps::ImageShape shape{height, width, channels};
    const penstock_test::Image image =
        i % 3 == 0 ? penstock_test::photo(shape, i) : penstock_test::static_noise(shape, i);
    std::copy(image.pixels.begin(), image.pixels.end(),
              out.emplace<std::uint8_t, 3>("image", {height, width, channels}).data());
  }
};

ps::Stage color() {
  return ps::color_jitter("image", {.brightness = 0.5, .contrast = 0.5, .saturation = 0.5, .hue = 0.3});
}
ps::Stage stain() { return ps::stain_jitter("image", {.alpha = 0.3, .beta = 0.2}); }

// After batch on a GPU, after it on the host, and before it.
void check_on_gpu(const Photos& photos, const std::function<ps::Pipeline(ps::Pipeline)>& stages,
                  std::uint64_t rows = 8) {
  INFO(photos.height << "x" << photos.width << "x" << photos.channels << ", " << photos.count);
  const ps::Pipeline source = ps::from(photos) | ps::shuffle({.seed = 4}) | ps::on_error({.policy = ps::OnError::mask});
  const ps::Pipeline after = stages(source | ps::batch(rows));
  const std::vector<Got> expected = collect(stages(source) | ps::batch(rows), {.threads = 2}, 2);
  CHECK(collect(after, {.threads = 2}, 2) == expected);
  ps::Loader loader(after, {.device = ps::gpu(0), .threads = 2});
  CHECK(train(loader, 2) == expected);
}

}  // namespace

TEST_CASE("color_jitter and stain_jitter have the host's bits on a GPU") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(240s);
  const auto with_color = [](const ps::Pipeline& p) { return p | color(); };
  const auto with_stain = [](const ps::Pipeline& p) { return p | stain(); };
  for (const auto& [height, width] : {std::pair{1, 1}, {67, 45}, {16, 32}, {1, 513}, {130, 121}}) {
    const Photos photos{.height = height, .width = width};
    check_on_gpu(photos, with_color);
    check_on_gpu(photos, with_stain);
    check_on_gpu({.height = height, .width = width, .channels = 1}, with_color);
  }
  check_on_gpu({}, [](const ps::Pipeline& p) { return p | color() | stain() | color(); });
}

TEST_CASE("every operation of color_jitter alone has the host's bits on a GPU") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(240s);
  for (const ps::ColorJitterOptions& options :
       {ps::ColorJitterOptions{.brightness = 3}, ps::ColorJitterOptions{.contrast = 3},
        ps::ColorJitterOptions{.saturation = 3}, ps::ColorJitterOptions{.hue = 0.5}, ps::ColorJitterOptions{}})
    check_on_gpu({}, [&](const ps::Pipeline& p) { return p | ps::color_jitter("image", options); });
}

TEST_CASE("colour changes on a GPU stand between folds and leave masked rows as zeros") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(240s);
  const Photos photos{.bad = {0, 3, 4, 20, 49}};
  check_on_gpu(photos, [](const ps::Pipeline& p) {
    return p | ps::random_crop("image", {31, 29}) | color() | ps::random_flip("image") | stain() |
           ps::normalize("image", {.mean = {0.5}, .std = {0.2}, .dtype = ps::DType::f16});
  });
  check_on_gpu(photos, [](const ps::Pipeline& p) { return p | color(); });
  check_on_gpu(photos, [](const ps::Pipeline& p) { return p | stain(); });
}

TEST_CASE("colour changes of more images than a grid is high have the host's bits on a GPU") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(240s);
  const Photos photos{.height = 3, .width = 2, .count = 70'000};
  check_on_gpu(
      photos, [](const ps::Pipeline& p) { return p | stain() | color(); }, photos.count);
}
