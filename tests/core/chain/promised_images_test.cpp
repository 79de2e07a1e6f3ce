// SPDX-License-Identifier: Apache-2.0
// Images that a source promises: the same bits as pixels, whatever is made of them, and nothing decoded that nobody
// asks for.
#include "support/catch.hpp"

#include <atomic>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <penstock/join.hpp>
#include <penstock/windows.hpp>

#include "core/chain/fake_images.hpp"
#include "core/help.hpp"
#include "core/write/write_help.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;

namespace {

struct DecodeCounts {
  std::atomic<std::uint64_t> decodes{0}, pixels{0}, verified{0}, into{0};
};

// What images are made of. A record of 12 x 10 pixels, or, where they vary, of some more.
struct Scene {
  std::uint64_t count = 60;
  bool varies = false;
  std::set<std::uint64_t> damaged = {};  ///< records
  std::shared_ptr<DecodeCounts> counts = std::make_shared<DecodeCounts>();

  ps::ImageShape shape(std::uint64_t i) const {
    const auto more = varies ? static_cast<std::int32_t>(i % 5) : 0;
    return {12 + more, 10 + 2 * more, 3};
  }
  static std::uint8_t value(std::uint64_t i, std::int32_t y, std::int32_t x, std::int32_t c) {
    return static_cast<std::uint8_t>(mix(i * 7919 + static_cast<std::uint64_t>(y * 1000 + x * 4 + c)));
  }
  void draw(std::uint64_t i, const ps::Box& box, std::uint8_t* out) const {
    if (damaged.contains(i)) throw ps::Error(ps::Errc::corrupt, "the image is damaged").with_offset(i);
    for (std::int32_t y = box.top; y < box.top + box.height; ++y)
      for (std::int32_t x = box.left; x < box.left + box.width; ++x)
        for (std::int32_t c = 0; c < 3; ++c) *out++ = value(i, y, x, c);
  }
};

class Drawn final : public ps::PromisedImage {
 public:
  Drawn(const Scene& scene, std::uint64_t record) : scene_(&scene), record_(record) {}
  ps::ImageShape shape() const override { return scene_->shape(record_); }
  ps::Pixels decode(const ps::Box& box, bool verify, std::byte* into, ps::Scratch& scratch) override {
    const std::size_t row = static_cast<std::size_t>(box.width) * 3;
    std::byte* const out = into != nullptr ? into : scratch.allocate(row * static_cast<std::size_t>(box.height));
    ++scene_->counts->decodes;
    scene_->counts->pixels += static_cast<std::uint64_t>(box.height * box.width);
    scene_->counts->verified += verify ? 1 : 0;
    scene_->counts->into += into != nullptr ? 1 : 0;
    auto* const pixels = reinterpret_cast<std::uint8_t*>(out);
    scene_->draw(record_, box, pixels);
    return {pixels, static_cast<std::ptrdiff_t>(row), {box.height, box.width, 3}};
  }

 private:
  const Scene* scene_;
  std::uint64_t record_;
};

// Fields image, u8 [H, W, 3], and label. `promises`: images instead of pixels.
struct Pictures {
  Scene scene;
  bool promises = false;

  std::uint64_t size() const { return scene.count; }
  ps::Schema schema() const {
    return {{"image", ps::DType::u8, scene.varies ? ps::Shape{ps::dynamic, ps::dynamic, 3} : ps::Shape{12, 10, 3}},
            {"label", ps::DType::i64, {}}};
  }
  std::string name() const { return "pictures"; }
  std::string key(std::uint64_t i) const { return "picture " + std::to_string(i); }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    out.scalar<std::int64_t>("label", static_cast<std::int64_t>(i % 7));
    if (promises) return out.promise("image", Drawn(scene, i));
    const ps::ImageShape shape = scene.shape(i);
    scene.draw(i, {0, 0, shape.height, shape.width},
               out.emplace<std::uint8_t, 3>("image", {shape.height, shape.width, 3}).data());
  }
};

// Both children are what their parent is.
struct Twice {
  std::uint32_t count(const ps::Sample&, ps::Context&) const { return 2; }
  void child(const ps::Sample&, std::uint32_t, ps::Sample&, ps::Context&) const {}
};

using Make = std::function<ps::Pipeline(const Pictures&)>;
using Bytes = ps::View<const std::uint8_t, 3>;

ps::Stage crop(std::string field = "image") { return fake::image_stage(std::move(field), fake::RandomCrop{5, 4}); }
ps::Stage flip(std::string field = "image") { return fake::image_stage(std::move(field), fake::RandomFlip{}); }
ps::Stage invert() {
  return ps::map("image", [](ps::View<std::uint8_t, 3> image) {
    for (std::uint8_t& v : image.flat()) v = static_cast<std::uint8_t>(255 - v);
  });
}
ps::Stage bright() {
  return ps::filter("image", [](Bytes image) { return image(0, 0, 0) % 3 != 0; });
}

// Pipelines before `batch`, of images of one size.
const std::vector<std::pair<const char*, Make>>& ways() {
  static const std::vector<std::pair<const char*, Make>> all{
      {"as it is", [](const Pictures& s) { return ps::from(s); }},
      {"shuffled", [](const Pictures& s) { return ps::from(s) | ps::shuffle({.seed = 3}); }},
      {"crop", [](const Pictures& s) { return ps::from(s) | crop(); }},
      {"crop and flip", [](const Pictures& s) { return ps::from(s) | crop() | flip(); }},
      {"filter on pixels", [](const Pictures& s) { return ps::from(s) | bright() | crop(); }},
      {"filter after a crop", [](const Pictures& s) { return ps::from(s) | crop() | bright(); }},
      {"filter on numbers",
       [](const Pictures& s) {
         return ps::from(s) | ps::filter("label", [](ps::View<const std::int64_t, 0> label) { return label() < 3; }) |
                crop();
       }},
      {"changed in place", [](const Pictures& s) { return ps::from(s) | invert(); }},
      {"changed in place, then cropped", [](const Pictures& s) { return ps::from(s) | invert() | crop() | flip(); }},
      {"cropped, then changed in place", [](const Pictures& s) { return ps::from(s) | crop() | invert(); }},
      {"another dtype",
       [](const Pictures& s) {
         return ps::from(s) | ps::map("image", [](Bytes in, ps::View<float, 3> out) {
                  for (std::size_t j = 0; j < in.flat().size(); ++j)
                    out.flat()[j] = static_cast<float>(in.flat()[j]) / 255;
                });
       }},
      {"two children each", [](const Pictures& s) { return ps::from(s) | ps::flat_map(Twice{}) | crop(); }},
      {"zipped",
       [](const Pictures& s) {
         return ps::from(ps::zip({ps::ZipPart(s), {s, "second_"}})) | crop("second_image") | flip();
       }},
      {"one after the other", [](const Pictures& s) { return ps::from(ps::concat(s, s)) | crop() | flip(); }},
      {"cached", [](const Pictures& s) { return ps::from(s) | ps::cache({.max_bytes = 1u << 20}) | crop() | flip(); }},
      {"cropped, then cached",
       [](const Pictures& s) {
         return ps::from(s) | fake::image_stage("image", fake::RandomCrop{12, 10}) |
                ps::cache({.max_bytes = 1u << 20, .allows = {.random = true, .unversioned = true}});
       }},
      {"windows of records", [](const Pictures& s) { return ps::from(ps::windows(s, {.length = 4})); }},
      {"only labels", [](const Pictures& s) { return ps::from(s) | ps::drop_fields({"image"}); }},
  };
  return all;
}

}  // namespace

TEST_CASE("promised images are the same bits as pixels, whatever becomes of them") {
  const Watchdog dog(120s);
  for (const auto& [what, make] : ways()) {
    const Pictures plain{.scene = {}}, promising{.scene = {}, .promises = true};
    for (const bool fold : {true, false}) {
      for (const bool verify : {false, true}) {
        // What a cache keeps must be verified before it.
        if (verify && std::string(what).find("cached") != std::string::npos) continue;
        const auto pipeline = [&](const Pictures& source) {
          return make(source) | ps::check({.verify = verify, .fold = fold}) | ps::batch(7);
        };
        const std::vector<Got> expected = collect(pipeline(plain), {.threads = 1}, 2);
        REQUIRE_FALSE(expected.empty());
        DecodeCounts& counts = *promising.scene.counts;
        counts.decodes = counts.verified = 0;
        for (const unsigned threads : {1u, 2u, 5u}) {
          CAPTURE(what, fold, verify, threads);
          CHECK(collect(pipeline(promising), {.threads = threads}, 2) == expected);
        }
        CAPTURE(what, fold, verify);
        // Windows are made of whole images, whose ends are seen anyway.
        if (verify || std::string(what) != "windows of records")
          CHECK(counts.verified == (verify ? counts.decodes.load() : 0));
      }
    }
    const ps::Pipeline one = make(promising), other = make(plain);
    for (std::uint64_t position = 0; position < 20; ++position) {
      CAPTURE(what, position);
      std::optional<ps::OwnedSample> a, b;
      const auto failed = error_of([&] { a.emplace(one.at(position)); });
      CHECK(error_of([&] { b.emplace(other.at(position)); }).has_value() == failed.has_value());
      if (failed) continue;
      for (const ps::Field& field : one.schema()) {
        const ps::TensorView x = (*a)[field.name], y = (*b)[field.name];
        REQUIRE(x.bytes() == y.bytes());
        CHECK(std::memcmp(x.data, y.data, x.bytes()) == 0);
      }
    }
    Disk written, expected;
    Sink sink{.disk = &written}, other_sink{.disk = &expected};
    // Records of a join of one source with itself have keys twice.
    if (std::string(what) == "one after the other") continue;
    ps::write(one, sink, {.threads = 2});
    ps::write(other, other_sink, {.threads = 1});
    CHECK(written.kept == expected.kept);
    CHECK_FALSE(written.kept.empty());
  }
}

TEST_CASE("images of any size are promised, too") {
  const Watchdog dog(60s);
  const Pictures plain{.scene = {.varies = true}}, promising{.scene = {.varies = true}, .promises = true};
  for (const bool fold : {true, false}) {
    for (const bool ragged : {false, true}) {
      const auto pipeline = [&](const Pictures& source) {
        const ps::Pipeline p = ps::from(source) | ps::check({.fold = fold});
        return (ragged ? p | ps::ragged("image") : p | crop() | flip()) | ps::batch(8);
      };
      const std::vector<Got> expected = collect(pipeline(plain), {.threads = 1});
      CAPTURE(fold, ragged);
      CHECK(collect(pipeline(promising), {.threads = 3}) == expected);
    }
  }
}

TEST_CASE("of a promised image no more is decoded than is asked for") {
  const auto decoded = [](const Make& make) {
    const Pictures source{.scene = {}, .promises = true};
    ps::Loader loader(make(source) | ps::batch(10), {.threads = 2, .epochs = 1});
    while (loader.next()) {
    }
    return std::pair(source.scene.counts->decodes.load(), source.scene.counts->pixels.load());
  };
  using Work = std::pair<std::uint64_t, std::uint64_t>;
  CHECK(decoded([](const Pictures& s) { return ps::from(s) | ps::drop_fields({"image"}); }) == Work(0, 0));
  CHECK(decoded([](const Pictures& s) { return ps::from(s); }) == Work(60, 60 * 120));
  CHECK(decoded([](const Pictures& s) { return ps::from(s) | crop() | flip(); }) == Work(60, 60 * 20));
  CHECK(decoded([](const Pictures& s) { return ps::from(s) | crop() | ps::check({.fold = false}); }) ==
        Work(60, 60 * 120));
  CHECK(decoded([](const Pictures& s) {
          return ps::from(s) | ps::filter("label", [](ps::View<const std::int64_t, 0> label) { return label() == 0; }) |
                 crop();
        }) == Work(9, 9 * 20));
  const Pictures source{.scene = {}, .promises = true};
  CHECK(ps::labels_of(ps::AnySource(source), "label").size() == 60);
  CHECK(source.scene.counts->decodes == 0);
}

TEST_CASE("a promised image that nobody changes is decoded into its row of the batch") {
  const Pictures source{.scene = {}, .promises = true};
  ps::Loader loader(ps::from(source) | ps::batch(10), {.threads = 1, .epochs = 1});
  while (loader.next()) {
  }
  CHECK(source.scene.counts->into == 60);
  CHECK(loader.report().copied_bytes == 0);
}

TEST_CASE("what is wrong with a promised image is an error of reading it, by the policy") {
  const Watchdog dog(60s);
  for (const bool fold : {true, false}) {
    for (const auto& [what, make] : ways()) {
      if (std::string(what) == "only labels") continue;
      const Pictures source{.scene = {.damaged = {0}}, .promises = true};
      CAPTURE(what, fold);
      const ps::Pipeline p = make(source) | ps::check({.fold = fold});
      const auto error = error_of([&] { collect(p | ps::batch(7), {.threads = 2}); });
      REQUIRE(error.has_value());
      CHECK(error->code() == ps::Errc::corrupt);
      CHECK(error->stage() == "read");
      CHECK(error->offset() == 0);
      const ps::Pipeline plain = make({.scene = {.damaged = {0}}});
      const auto expected = error_of([&] { collect(plain | ps::batch(7), {.threads = 1}); });
      CHECK(std::string(error->what()) == expected->what());
      CHECK(error->key() == expected->key());
      CHECK(error->index() == expected->index());
      // A filter on numbers leaves bad images out that nobody sees.
      if (std::string(what) == "filter on numbers") continue;
      for (const ps::OnError policy : {ps::OnError::drop, ps::OnError::replace, ps::OnError::mask}) {
        const Pictures whole{.scene = {.damaged = {0, 7, 31}}},
            promising{.scene = {.damaged = {0, 7, 31}}, .promises = true};
        const auto with_policy = [&](const Pictures& s) {
          return make(s) | ps::check({.fold = fold}) | ps::on_error({.policy = policy}) | ps::batch(7);
        };
        CHECK(collect(with_policy(promising), {.threads = 3}) == collect(with_policy(whole), {.threads = 1}));
      }
    }
  }
}

TEST_CASE("a promise that does not fit its field is refused") {
  struct Wrong : Pictures {
    ps::Schema schema() const { return {{"image", ps::DType::u8, {12, 11, 3}}, {"label", ps::DType::i64, {}}}; }
  };
  Wrong wrong;
  wrong.promises = true;
  const auto error = error_of([&] { collect(ps::from(wrong) | ps::batch(2), {.threads = 1}); });
  REQUIRE(error.has_value());
  CHECK(error->code() == ps::Errc::schema_mismatch);
  CHECK(error->cause().find("promised image of shape [12, 10, 3]") != std::string::npos);
}

namespace {

// Six images a block, of 5 x 4 pixels; a record's promise refers to the blocks that it was lent. With `spare`, records
// can do without them.
struct Tiles {
  std::uint64_t count = 90;
  bool promises = false, spare = false;
  std::shared_ptr<std::atomic<std::uint64_t>> loads = std::make_shared<std::atomic<std::uint64_t>>(0);
  static constexpr std::size_t image_bytes = 5 * 4 * 3;

  static std::byte value(std::uint64_t i, std::size_t at) { return static_cast<std::byte>(mix(i * 60 + at)); }

  class Tile final : public ps::PromisedImage {
   public:
    Tile(const std::byte* pixels, std::uint64_t record) : pixels_(pixels), record_(record) {}
    ps::ImageShape shape() const override { return {5, 4, 3}; }
    ps::Pixels decode(const ps::Box& box, bool, std::byte* into, ps::Scratch& scratch) override {
      if (pixels_ != nullptr && into == nullptr)
        return {reinterpret_cast<const std::uint8_t*>(pixels_) + (box.top * 4 + box.left) * 3,
                12,
                {box.height, box.width, 3}};
      const auto row = static_cast<std::size_t>(box.width) * 3;
      std::byte* const out = into != nullptr ? into : scratch.allocate(row * static_cast<std::size_t>(box.height));
      for (std::size_t y = 0; y < static_cast<std::size_t>(box.height); ++y)
        for (std::size_t x = 0; x < row; ++x) {
          const std::size_t at =
              (static_cast<std::size_t>(box.top) + y) * 12 + static_cast<std::size_t>(box.left) * 3 + x;
          out[y * row + x] = pixels_ != nullptr ? pixels_[at] : value(record_, at);
        }
      return {reinterpret_cast<const std::uint8_t*>(out), static_cast<std::ptrdiff_t>(row), {box.height, box.width, 3}};
    }

   private:
    const std::byte* pixels_;
    std::uint64_t record_;
  };

  std::uint64_t size() const { return count; }
  ps::Schema schema() const { return {{"image", ps::DType::u8, {5, 4, 3}}}; }
  std::uint64_t blocks() const { return count / 6; }
  std::uint64_t block_bytes(std::uint64_t) const { return 6 * image_bytes; }
  bool can_do_without(std::uint64_t) const { return spare; }
  void blocks_of(std::uint64_t i, std::vector<std::uint64_t>& ids) const { ids.push_back(i / 6); }
  void load(std::uint64_t b, std::span<std::byte> bytes) const {
    ++*loads;
    for (std::size_t at = 0; at < bytes.size(); ++at) bytes[at] = value(b * 6 + at / image_bytes, at % image_bytes);
  }
  void read(std::uint64_t i, std::span<const std::span<const std::byte>> lent, ps::SampleBuilder& out) const {
    const std::byte* const pixels = lent[0].empty() ? nullptr : lent[0].data() + i % 6 * image_bytes;
    if (promises) return out.promise(0, Tile(pixels, i));
    const std::byte* to_copy = pixels;
    auto* const to = reinterpret_cast<std::byte*>(out.emplace<std::uint8_t, 3>(0, {5, 4, 3}).data());
    for (std::size_t at = 0; at < image_bytes; ++at) to[at] = to_copy != nullptr ? to_copy[at] : value(i, at);
  }
};

}  // namespace

TEST_CASE("promised images may refer to lent blocks, whose memory is another block's soon") {
  const Watchdog dog(60s);
  const auto small = [](std::string field) { return fake::image_stage(std::move(field), fake::RandomCrop{2, 3}); };
  using MakeTiles = std::function<ps::Pipeline(const Tiles&)>;
  const std::vector<std::pair<const char*, MakeTiles>> ways{
      {"as they are", [](const Tiles& s) { return ps::from(s) | ps::shuffle(); }},
      {"cropped", [&](const Tiles& s) { return ps::from(s) | ps::shuffle() | small("image"); }},
      {"two children each",
       [&](const Tiles& s) { return ps::from(s) | ps::shuffle() | ps::flat_map(Twice{}) | small("image"); }},
      {"filtered",
       [&](const Tiles& s) {
         return ps::from(s) | ps::shuffle() | ps::filter("image", [](Bytes image) { return image(0, 0, 0) > 80; }) |
                small("image");
       }},
      {"in windows", [](const Tiles& s) { return ps::from(ps::windows(s, {.length = 5, .stride = 3})); }},
      {"zipped",
       [&](const Tiles& s) {
         return ps::from(ps::zip({ps::ZipPart(s), {s, "b_"}})) | small("b_image");
       }},
      {"one after the other", [](const Tiles& s) { return ps::from(ps::concat(s, s)) | ps::shuffle(); }},
  };
  for (const auto& [what, make] : ways) {
    for (const bool spare : {false, true}) {
      const Tiles plain{.spare = spare}, promising{.promises = true, .spare = spare};
      const ps::LoaderOptions one{.threads = 1, .max_block_bytes = 5 * 6 * Tiles::image_bytes};
      const std::vector<Got> expected = collect(make(plain) | ps::batch(8), one, 2);
      for (const unsigned threads : {1u, 2u, 5u}) {
        CAPTURE(what, spare, threads);
        ps::LoaderOptions options = one;
        options.threads = threads;
        CHECK(collect(make(promising) | ps::batch(8), options, 2) == expected);
      }
      const ps::OwnedSample a = make(plain).at(3), b = make(promising).at(3);
      for (const ps::Field& field : a.schema())
        CHECK(std::memcmp(a[field.name].data, b[field.name].data, a[field.name].bytes()) == 0);
    }
  }
}

TEST_CASE("a record outside of a loader has no block decoded that it can do without") {
  for (const bool spare : {false, true}) {
    const Tiles source{.spare = spare};
    const ps::Pipeline p = ps::from(source);
    static_cast<void>(p.at(3));
    CHECK(*source.loads == (spare ? 0 : 1));
  }
}

}  // namespace PENSTOCK_TEST_FILE
