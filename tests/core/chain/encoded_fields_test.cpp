// SPDX-License-Identifier: Apache-2.0
// Encoders that make a field of their own, several of them, what they cost, and what they refuse.
#include "support/catch.hpp"

#include <cstring>
#include <string>
#include <vector>

#include <penstock/join.hpp>

#include "core/chain/album.hpp"
#include "core/write/write_help.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace album;

namespace {

using Rows = std::vector<std::vector<std::byte>>;

// A field of all samples, one after the other.
Rows rows_of(const ps::Pipeline& p, const std::string& field, std::uint64_t count = 30) {
  Rows rows;
  for (std::uint64_t position = 0; position < count; ++position) {
    const ps::OwnedSample sample = p.at(position);
    const ps::TensorView value = sample[field];
    rows.emplace_back(value.data, value.data + value.bytes());
  }
  return rows;
}

ps::Stage encode(bool keeps = false, const std::string& out = {}) { return fake::encode_stage("image", keeps, out); }

struct Work {
  std::uint64_t decodes, pixels;
  friend bool operator==(const Work&, const Work&) = default;
};

}  // namespace

TEST_CASE("several encoders of one image make what each makes alone, and the image stays") {
  const Watchdog dog(120s);
  const std::vector<std::pair<const char*, std::function<ps::Pipeline(const ps::Pipeline&)>>> before{
      {"nothing", [](const ps::Pipeline& p) { return p; }},
      {"crop", [](const ps::Pipeline& p) { return p | crop(); }},
      {"flip, perhaps", [](const ps::Pipeline& p) { return p | maybe_flip(); }},
      {"changed in place", [](const ps::Pipeline& p) { return p | invert(); }}};
  for (const Album::How how : {Album::pixels, Album::promises, Album::files}) {
    const Album album(how);
    for (const auto& [what, then] : before) {
      const ps::Pipeline start = then(images(album));
      const Rows made = rows_of(start | encode(), "image"), kept = rows_of(start | encode(true), "image"),
                 pixels = rows_of(start, "image"), flipped = rows_of(start | flip() | flip() | flip(), "image"),
                 of_flipped = rows_of(start | flip() | encode(true), "image");
      for (const bool fold : {true, false}) {
        for (const bool verify : {false, true}) {
          CAPTURE(int{how}, what, fold, verify);
          const ps::Pipeline p = start | ps::check({.verify = verify, .fold = fold});
          const ps::Pipeline two = p | encode(false, "a") | encode(true, "b");
          CHECK(two.schema().slot("a") == 2);
          CHECK(two.schema().slot("b") == 3);
          CHECK(rows_of(two, "a") == made);
          CHECK(rows_of(two, "b") == kept);
          CHECK(rows_of(two, "image") == pixels);
          const ps::Pipeline other = p | encode(true, "b") | encode(false, "a") | encode(true);
          CHECK(rows_of(other, "a") == made);
          CHECK(rows_of(other, "b") == kept);
          CHECK(rows_of(other, "image") == kept);
          // In the middle of a fold, with steps between, and with another name.
          const ps::Pipeline among = p | encode(true, "b") | flip() | encode(true, "c") | ps::drop_fields({"label"}) |
                                     flip() | encode(false, "d") | flip() | ps::rename("b", "e");
          CHECK(rows_of(among, "e") == kept);
          CHECK(rows_of(among, "c") == of_flipped);
          CHECK(rows_of(among, "d") == made);
          CHECK(rows_of(among, "image") == flipped);
          const ps::Pipeline apart = p | encode(true, "b") | ps::drop_fields({"label"}) | encode(false, "a") |
                                     ps::rename("a", "c") | encode(true, "a");
          CHECK(rows_of(apart, "a") == kept);
          CHECK(rows_of(apart, "b") == kept);
          CHECK(rows_of(apart, "c") == made);
          CHECK(rows_of(apart, "image") == pixels);
          // A file that was made is decoded again.
          const ps::Pipeline again = p | encode(true, "b") | fake::decode("b") | flip() |
                                     fake::image_stage("b", Flip{}) | encode() | fake::decode("image");
          CHECK(rows_of(again, "image") == rows_of(start | flip(), "image"));
          CHECK(rows_of(again, "b") == rows_of(start | flip(), "image"));
        }
      }
    }
  }
}

TEST_CASE("encoders of an image and its mask, which share draws, keep the order of fields") {
  const Album album(Album::files), other(Album::files);
  const ps::Pipeline both = ps::from(ps::zip({ps::ZipPart(album), {other, "b_"}})) |
                            ps::drop_fields({"label", "b_label"}) | fake::decode("image") | fake::decode("b_image");
  const auto turn = [] {
    return ps::detail::make_image_stage(
        {"image", "b_image"}, std::make_shared<const ps::detail::ImageStageOf<fake::RandomFlip>>(fake::RandomFlip{}),
        fake::executor());
  };
  const auto encode_b = [](const std::string& out) { return fake::encode_stage("b_image", false, out); };
  const auto make = [&](bool fold) {
    return both | turn() | encode(false, "a") | turn() | encode_b("b") | encode(true, "c") | turn() | encode() |
           ps::check({.fold = fold});
  };
  const ps::Pipeline p = make(true);
  INFO(p.plan());
  CHECK(p.schema().to_string() == "{image: u8[?], b_image: u8[?, ?, 3], a: u8[?], b: u8[?], c: u8[?]}");
  const ps::Pipeline by_hand = both | turn() | turn() | turn();
  CHECK(rows_of(p, "b_image") == rows_of(by_hand, "b_image"));
  CHECK(rows_of(p, "image") == rows_of(by_hand | by_map(), "image"));
  CHECK(rows_of(p, "a") == rows_of(both | turn() | by_map(), "image"));
  CHECK(rows_of(p, "b") == rows_of(both | turn() | turn() | by_map("b_image", "b"), "b"));
  for (const char* field : {"image", "b_image", "a", "b", "c"}) CHECK(rows_of(make(false), field) == rows_of(p, field));
  ps::Pipeline ready = p;
  for (const char* field : {"image", "b_image", "a", "b", "c"}) ready = ready | ps::ragged(field);
  const auto expected = collect(ready | ps::batch(7), {.threads = 1});
  CHECK(collect(ready | ps::batch(7), {.threads = 3}) == expected);
}

TEST_CASE("an image is decoded once, and not at all where its file is kept") {
  const auto work = [](const std::function<ps::Pipeline(const ps::Pipeline&)>& then, bool verify = false) {
    Album album(Album::promises);
    album.count = 50;
    // The third ones have nothing stored.
    ps::Pipeline p = then(ps::from(album) | ps::filter("label", [](ps::View<const std::int64_t, 0>) { return true; })) |
                     ps::check({.verify = verify});
    const ps::Schema fields = p.schema();
    for (const ps::Field& field : fields)
      if (!field.shape.fixed()) p = p | ps::ragged(field.name);
    ps::Loader loader(p | ps::batch(10), {.threads = 2, .epochs = 1});
    while (loader.next()) {
    }
    CHECK(album.counts->verified == (verify ? album.counts->decodes.load() : 0));
    return Work{album.counts->decodes, album.counts->pixels};
  };
  constexpr std::uint64_t all = 50, unstored = 16, each = 120, part = 20;
  CHECK(work([](const auto& p) { return p | encode(); }) == Work{all, all * each});
  CHECK(work([](const auto& p) { return p | crop() | encode(); }) == Work{all, all * part});
  CHECK(work([](const auto& p) { return p | encode(true); }) == Work{unstored, unstored * each});
  CHECK(work([](const auto& p) { return p | encode(true); }, true) == Work{all, all * each});
  const auto dropped = [](const auto& p) { return p | encode(true, "file") | ps::drop_fields({"image"}); };
  CHECK(work(dropped) == Work{unstored, unstored * each});
  CHECK(work(dropped, true) == Work{all, all * each});
  const auto and_whole = [](const auto& p) { return p | encode(true, "a") | encode(false, "b"); };
  CHECK(work(and_whole) == Work{all, all * each});
  CHECK(work(and_whole, true) == Work{all, all * each});
  // A crop that follows goes on from what an encoder had decoded, else from its box.
  const auto and_crop = [](const auto& p) { return p | encode(true, "a") | crop(); };
  CHECK(work(and_crop) == Work{all, unstored * each + (all - unstored) * part});
  CHECK(work(and_crop, true) == Work{all, all * each});
  CHECK(work([](const auto& p) { return p | encode(false, "a") | crop() | encode(false, "b") | flip() | encode(); }) ==
        Work{all, all * each});
}

TEST_CASE("what an encoder makes is written where it belongs, and a file that is kept is copied once") {
  for (const Album::How how : {Album::pixels, Album::promises, Album::files}) {
    for (const bool padded : {false, true}) {
      const auto copied = [&](const ps::Pipeline& p) {
        ps::Loader loader(p | (padded ? ps::pad("image", {.to = 400}) : ps::ragged("image")) | ps::batch(10),
                          {.threads = 1, .epochs = 1});
        while (loader.next()) {
        }
        return loader.report().copied_bytes;
      };
      const Album album(how);
      CAPTURE(int{how}, padded);
      CHECK(copied(images(album) | encode()) == 0);
      CHECK(copied(images(album) | crop() | encode()) == 0);
      std::uint64_t kept = 0;
      for (std::uint64_t i = 0; i < album.count; ++i)
        if (album.stores(i)) kept += (*album.file)[i].size();
      CHECK(copied(images(album) | encode(true)) == kept);
      CHECK(copied(images(album) | crop() | encode(true)) == 0);
    }
  }
}

TEST_CASE("files of images of any size are ragged, padded, bucketed, bounded and filtered as other fields") {
  const Watchdog dog(60s);
  using Then = std::function<ps::Pipeline(const ps::Pipeline&)>;
  const auto size_of_file = [](ps::View<const std::uint8_t, 1> file) { return file.extent(0) % 3 != 0; };
  const std::vector<std::pair<const char*, Then>> thens{
      {"ragged", [](const ps::Pipeline& p) { return p | ps::ragged("image") | ps::batch(7); }},
      {"padded", [](const ps::Pipeline& p) { return p | ps::pad("image") | ps::batch(7); }},
      {"bounded", [](const ps::Pipeline& p) { return p | ps::ragged("image") | ps::batch(20, {.max_bytes = 9000}); }},
      {"bucketed",
       [](const ps::Pipeline& p) { return p | ps::pad("image") | ps::bucket("image", {.window = 28}) | ps::batch(7); }},
      {"filtered",
       [&](const ps::Pipeline& p) {
         return p | ps::filter("image", size_of_file) | ps::ragged("image") | ps::batch(7);
       }},
      {"changed in place", [](const ps::Pipeline& p) {
         return p | ps::map("image", [](ps::View<std::uint8_t, 1> file) { file(0) = 7; }) | ps::ragged("image") |
                ps::batch(7);
       }}};
  for (const auto& [what, then] : thens) {
    const std::vector<Got> expected = collect(then(images(Album(Album::pixels, true)) | by_map()), {.threads = 1}, 2);
    REQUIRE_FALSE(expected.empty());
    for (const Album::How how : {Album::pixels, Album::promises, Album::files}) {
      const Album album(how, true);
      const auto kept = collect(then(images(album) | encode(true)), {.threads = 1}, 2);
      for (const unsigned threads : {1u, 4u}) {
        CAPTURE(what, int{how}, threads);
        CHECK(collect(then(images(album) | encode()), {.threads = threads}, 2) == expected);
        CHECK(collect(then(images(album) | encode(true)), {.threads = threads}, 2) == kept);
        CHECK(collect(then(images(album) | encode(true) | ps::check({.verify = true, .fold = false})),
                      {.threads = threads}, 2) == kept);
      }
    }
  }
}

namespace {

// One record after the other.
struct AlbumStream {
  Album album;
  std::uint64_t at = 0;
  ps::Schema schema() const { return album.schema(); }
  void reset(std::uint64_t) { at = 0; }
  bool next(ps::SampleBuilder& out) {
    if (at == album.size()) return false;
    album.read(at++, out);
    return true;
  }
};

}  // namespace

TEST_CASE("a stream keeps what it promises as pixels, and files that are decoded as they are") {
  for (const Album::How how : {Album::promises, Album::files}) {
    const Album album(how);
    const auto pipeline = [&](const ps::Pipeline& start) {
      return (how == Album::files ? start | fake::decode("image") : start) | encode(true) | ps::ragged("image") |
             ps::batch(7);
    };
    std::vector<std::vector<Got>> all;
    for (const unsigned threads : {1u, 4u})
      all.push_back(collect(pipeline(ps::from(AlbumStream{album})), {.threads = threads}, 2));
    CHECK(all[0] == all[1]);
    std::uint64_t bytes = 0, expected = 0;
    for (const Got& got : all[0]) bytes += got.bytes.size();
    const ps::Pipeline made = ps::from(Album(Album::pixels)) | encode() | ps::ragged("image") | ps::batch(7);
    for (const Got& got : collect(made, {.threads = 1}, 2)) expected += got.bytes.size();
    const std::uint64_t of_file = how == Album::files ? stored_end.size() : 0;
    CHECK(bytes == expected + 2 * album.count * of_file);
  }
}

TEST_CASE("joined sources promise files, too") {
  const Album album(Album::promises), other(Album::promises);
  const ps::Pipeline zipped =
      ps::from(ps::zip({ps::ZipPart(album), {other, "b_"}})) | fake::encode_stage("b_image", true);
  const ps::Pipeline joined = ps::from(ps::concat(album, other)) | encode(true);
  const Rows alone = rows_of(ps::from(album) | encode(true), "image");
  CHECK(rows_of(zipped, "b_image") == alone);
  CHECK(rows_of(joined, "image") == alone);
}

}  // namespace PENSTOCK_TEST_FILE
