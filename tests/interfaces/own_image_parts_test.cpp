// SPDX-License-Identifier: Apache-2.0
// An image stage, an executor and a decoder of a user's own.
#include "support/catch.hpp"

#include "core/chain/fake_images.hpp"

namespace ps = penstock;

namespace {

static_assert(ps::ImageStage<fake::RandomCrop> && ps::ImageStage<fake::RandomFlip> && ps::ImageStage<fake::RandomTurn>);

struct NoCompose {
  struct Params {};
  Params draw(const ps::ImageShape&, ps::Rng&) const { return {}; }
};
static_assert(!ps::ImageStage<NoCompose>);

// Takes whatever shape comes, with no optional member at all.
struct Upside {
  struct Params {};
  Params draw(const ps::ImageShape&, ps::Rng&) const { return {}; }
  void compose(const Params&, const ps::ImageShape&, ps::ImageOp& op) const { op.flip_vertical(); }
};
static_assert(ps::ImageStage<Upside>);

struct Photos {
  std::uint64_t size() const { return 6; }
  ps::Schema schema() const { return {{"image", ps::DType::u8, {ps::dynamic}}}; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    const auto bytes = fake::encode(4, 4, 3, [&](int k) { return static_cast<int>(i) * 10 + k; });
    std::memcpy(out.emplace<std::uint8_t, 1>("image", {static_cast<std::int64_t>(bytes.size())}).data(), bytes.data(),
                bytes.size());
  }
};

}  // namespace

TEST_CASE("a user's decoder, stage and executor run through a loader") {
  const ps::Pipeline p = ps::from(Photos{}) | fake::decode("image") | fake::image_stage("image", Upside{}) |
                         fake::image_stage("image", fake::RandomCrop{4, 4}) | ps::batch(3);
  CHECK(p.schema().to_string() == "{image: u8[4, 4, 3]}");
  CHECK(p.plan().find("decode_raw(image) + image_stage(image) + random_crop(image)") != std::string::npos);
  ps::Loader loader(p, {.threads = 2});
  std::uint64_t i = 0;
  for (ps::Batch& b : loader.epoch())
    for (std::uint64_t row = 0; row < b.size(); ++row, ++i)
      for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 4; ++x)
          CHECK(b.view<std::uint8_t, 4>("image")(row, y, x, 1) == static_cast<int>(i) * 10 + ((3 - y) * 4 + x) * 3 + 1);
  CHECK(i == 6);
}

TEST_CASE("an executor follows the operation's normal form") {
  // Flip, turn and convert one after the other on pixels, against the same as one ImageOp.
  std::vector<std::uint8_t> pixels(3 * 5 * 2);
  for (std::size_t k = 0; k < pixels.size(); ++k) pixels[k] = static_cast<std::uint8_t>(k);
  const ps::ImageShape shape{3, 5, 2};
  struct NoScratch final : ps::Scratch {
    std::byte* allocate(std::size_t) override { throw ps::Error(ps::Errc::out_of_memory, "none"); }
  } scratch;
  for (int turns = 0; turns < 4; ++turns)
    for (const bool flip : {false, true})
      for (const bool upside : {false, true}) {
        ps::ImageOp op(shape);
        if (flip) op.flip_horizontal();
        op.rot90(turns);
        if (upside) op.flip_vertical();
        const ps::ImageShape out_shape = op.shape();
        std::vector<std::uint8_t> out(pixels.size());
        fake::executor().run({pixels.data(), 10, shape}, op, reinterpret_cast<std::byte*>(out.data()), scratch);
        for (int y = 0; y < 3; ++y)
          for (int x = 0; x < 5; ++x) {
            int to_y = y, to_x = flip ? 4 - x : x, h = 3, w = 5;
            for (int t = 0; t < turns; ++t) {  // counter-clockwise: (y, x) goes to (w - 1 - x, y)
              const int ny = w - 1 - to_x;
              to_x = to_y;
              to_y = ny;
              std::swap(h, w);
            }
            if (upside) to_y = h - 1 - to_y;
            CAPTURE(turns, flip, upside, y, x);
            CHECK(out_shape.height == h);
            CHECK(out[static_cast<std::size_t>((to_y * w + to_x) * 2)] ==
                  pixels[static_cast<std::size_t>((y * 5 + x) * 2)]);
          }
      }
}
