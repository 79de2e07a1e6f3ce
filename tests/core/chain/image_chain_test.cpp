// SPDX-License-Identifier: Apache-2.0
// Image stages in the engine: folding, draws, errors. With a format and an executor that are the test's own.
#include "support/catch.hpp"

#include "core/chain/fake_images.hpp"
#include "core/help.hpp"

using namespace help;

namespace {

// image: u8[?] in the tests' format, of different sizes.
struct Photos {
  std::shared_ptr<std::vector<std::vector<std::uint8_t>>> files =
      std::make_shared<std::vector<std::vector<std::uint8_t>>>();
  explicit Photos(std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i)
      files->push_back(fake::encode(8 + static_cast<int>(i % 5), 9 + static_cast<int>(i % 7), 3,
                                    [&](int k) { return mix(i * 10'000 + static_cast<std::uint64_t>(k)); }));
  }
  std::uint64_t size() const { return files->size(); }
  ps::Schema schema() const { return {{"image", ps::DType::u8, {ps::dynamic}}}; }
  std::string key(std::uint64_t i) const { return "photo" + std::to_string(i); }
  void read(std::uint64_t i, ps::SampleBuilder& out) const { out.view("image", std::as_bytes(std::span((*files)[i]))); }
};

struct Floats {
  struct Params {};
  Params draw(const ps::ImageShape&, ps::Rng&) const { return {}; }
  void compose(const Params&, const ps::ImageShape&, ps::ImageOp& op) const {
    op.convert(ps::DType::f32, ps::Layout::chw, {2, 2, 2, 2}, {1, 2, 3, 4});
  }
  ps::Shape schema(const ps::Shape& in, ps::DType& dtype) const {
    dtype = ps::DType::f32;
    return {in[2], in[0], in[1]};
  }
  std::string name() const { return "floats"; }
};

}  // namespace

TEST_CASE("image stages do what they draw, decoded region or not, folded or not") {
  const Photos photos(40);
  std::vector<std::vector<Got>> all;
  for (const bool fold : {true, false})
    for (const bool verify : {false, true}) {
      const ps::Pipeline p =
          ps::from(photos) | ps::seed(3) | fake::decode("image") | fake::image_stage("image", fake::RandomCrop{6, 6}) |
          fake::image_stage("image", fake::RandomFlip{}) | fake::image_stage("image", fake::RandomTurn{}) |
          fake::image_stage("image", fake::RandomCrop{4, 5}) | ps::check({.verify = verify, .fold = fold}) |
          ps::batch(8);
      CHECK(p.schema().to_string() == "{image: u8[4, 5, 3]}");
      all.push_back(collect(p, {.threads = 2}));
    }
  for (const auto& got : all) CHECK(got == all[0]);
  // One sample by hand.
  const ps::Pipeline one =
      ps::from(photos) | ps::seed(3) | fake::decode("image") | fake::image_stage("image", fake::RandomCrop{6, 6});
  const auto crop = one.at(7);
  const auto& file = (*photos.files)[7];
  const auto pixels = crop["image"].as<std::uint8_t, 3>();
  const int width = file[4];
  int matches = 0;
  for (int top = 0; top + 6 <= file[3]; ++top)
    for (int left = 0; left + 6 <= width; ++left) {
      bool same = true;
      for (int y = 0; y < 6; ++y)
        for (int x = 0; x < 6; ++x)
          for (int c = 0; c < 3; ++c)
            same &= pixels(y, x, c) == file[6 + static_cast<std::size_t>(((top + y) * width + left + x) * 3 + c)];
      matches += same;
    }
  CHECK(matches == 1);
}

TEST_CASE("a stage that ends the 8-bit part writes its type and layout into the batch, without a copy") {
  const ps::Pipeline p = ps::from(Photos(10)) | fake::decode("image") |
                         fake::image_stage("image", fake::RandomCrop{4, 4}) | fake::image_stage("image", Floats{}) |
                         ps::batch(5);
  CHECK(p.schema().to_string() == "{image: f32[3, 4, 4]}");
  const ps::Pipeline bytes =
      ps::from(Photos(10)) | fake::decode("image") | fake::image_stage("image", fake::RandomCrop{4, 4}) | ps::batch(5);
  ps::Loader loader(p, {.threads = 1}), raw(bytes, {.threads = 1});
  while (auto b = loader.next()) {
    auto r = raw.next();
    REQUIRE(r);
    for (int n = 0; n < 5; ++n)
      for (int c = 0; c < 3; ++c)
        for (int y = 0; y < 4; ++y)
          for (int x = 0; x < 4; ++x)
            REQUIRE(b->view<float, 4>("image")(n, c, y, x) ==
                    static_cast<float>(r->view<std::uint8_t, 4>("image")(n, y, x, c)) * 2 + static_cast<float>(c + 1));
  }
  CHECK(loader.report().copied_bytes == 0);
}

TEST_CASE("image errors name the stage and carry the decoder's offset") {
  Photos photos(6);
  (*photos.files)[2] = {'B', 'A', 'D', 1, 1, 1, 0};
  (*photos.files)[4].resize(20);
  const ps::Pipeline p =
      ps::from(photos) | fake::decode("image") | fake::image_stage("image", fake::RandomCrop{4, 4}) | ps::batch(1);
  ps::Loader loader(p, {.threads = 2});
  std::vector<ps::Error> errors;
  while (errors.size() < 2) {
    const ps::State s = loader.state();
    const auto error = error_of([&] {
      while (loader.next()) {
      }
    });
    REQUIRE(error);
    errors.push_back(*error);
    if (errors.size() == 2) break;
    ps::State after = loader.state();
    CHECK(after.position == 2);
    CHECK(s.epoch == after.epoch);
    (*photos.files)[2] = (*photos.files)[1];
    loader.resume(after);
  }
  CHECK(errors[0].code() == ps::Errc::corrupt);
  CHECK(errors[0].stage() == "decode_raw(image)");
  CHECK(errors[0].cause() == "no RAW image");
  CHECK(*errors[0].offset() == 0);
  CHECK(*errors[0].index() == 2);
  CHECK(errors[0].key() == "photo2");
  CHECK(errors[1].cause() == "the image ends early");
  CHECK(*errors[1].offset() == 20);
  CHECK(*errors[1].index() == 4);
}

TEST_CASE("only verify sees damage after the region that is read") {
  Photos photos(1);
  (*photos.files)[0].back() ^= 1;
  const ps::Pipeline p = ps::from(photos) | fake::decode("image") | fake::image_stage("image", fake::RandomCrop{2, 2});
  CHECK_NOTHROW(p.at(0));
  const auto error = error_of([&] { (void)(p | ps::check({.verify = true})).at(0); });
  REQUIRE(error);
  CHECK(error->cause() == "the sum differs");
}

TEST_CASE("an exception of an image stage names that stage") {
  const ps::Pipeline p = ps::from(Photos(3)) | fake::decode("image") | fake::image_stage("image", fake::RandomFlip{}) |
                         fake::image_stage("image", fake::RandomCrop{50, 50});
  const auto error = error_of([&] { (void)p.at(1); });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::unsupported);
  CHECK(error->stage() == "random_crop(image)");
}

TEST_CASE("an image that can't be worked on is one bad sample") {
  struct Pixels {
    std::uint64_t size() const { return 6; }
    ps::Schema schema() const { return {{"image", ps::DType::u8, {ps::dynamic, ps::dynamic, ps::dynamic}}}; }
    void read(std::uint64_t i, ps::SampleBuilder& out) const {
      const ps::Shape shapes[] = {{9, 8, 3}, {0, 8, 3}, {8, 0, 3}, {8, 8, 5}, {8, 8, 0}, {5, 5, 3}};
      const ps::TensorView to = out.emplace(0, shapes[i]);
      std::fill_n(to.data, to.bytes(), std::byte{7});
    }
  };
  struct Corner {  // of its own making, without a word about images that are too small
    struct Params {};
    Params draw(const ps::ImageShape&, ps::Rng&) const { return {}; }
    void compose(const Params&, const ps::ImageShape&, ps::ImageOp& op) const { op.crop({2, 2, 6, 6}); }
    ps::Shape schema(const ps::Shape&) const { return {6, 6, 3}; }
    std::string name() const { return "corner"; }
  };
  const ps::Pipeline p = ps::from(Pixels{}) | fake::image_stage("image", Corner{}) |
                         ps::on_error({.policy = ps::OnError::mask}) | ps::batch(6);
  const auto got = collect(p, {.threads = 1});
  REQUIRE(got.size() == 1);
  CHECK(got[0].mask == std::vector<std::uint8_t>{1, 0, 0, 0, 0, 0});
}

TEST_CASE("an image larger than max_sample_bytes is refused before it is decoded") {
  const ps::Pipeline p = ps::from(Photos(1)) | fake::decode("image") | ps::check({.max_sample_bytes = 100});
  const auto error = error_of([&] { (void)p.at(0); });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::limit_exceeded);
  // The converted result alone may be too large: 4 x 4 x 3 bytes become 192.
  struct Small : Photos {
    using Photos::Photos;
  };
  Photos tiny(0);
  tiny.files->push_back(fake::encode(4, 4, 3, [](int k) { return k; }));
  const ps::Pipeline grows = ps::from(tiny) | fake::decode("image") | fake::image_stage("image", Floats{}) |
                             ps::check({.max_sample_bytes = 100});
  CHECK_NOTHROW((ps::from(tiny) | fake::decode("image") | ps::check({.max_sample_bytes = 100})).at(0));
  const auto grown = error_of([&] { (void)grows.at(0); });
  REQUIRE(grown);
  CHECK(grown->code() == ps::Errc::limit_exceeded);
}
