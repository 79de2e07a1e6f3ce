// SPDX-License-Identifier: Apache-2.0
// Encoders at the end and in the middle of folds: what they make is what each makes of the pixels alone, and what is
// stored is taken where nothing was done to the image, and only there.
#include "support/catch.hpp"

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "core/chain/album.hpp"
#include "core/write/write_help.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace album;

namespace {

// What may stand before an encoder.
const std::vector<std::pair<const char*, MakePipeline>>& ways() {
  static const std::vector<std::pair<const char*, MakePipeline>> all{
      {"nothing", [](const Album& a) { return images(a); }},
      {"shuffled", [](const Album& a) { return images(a) | ps::shuffle({.seed = 3}); }},
      {"crop", [](const Album& a) { return images(a) | crop(); }},
      {"crop and flip", [](const Album& a) { return images(a) | crop() | maybe_flip(); }},
      {"flip, perhaps", [](const Album& a) { return images(a) | maybe_flip(); }},
      {"crop of everything", [](const Album& a) { return images(a) | crop(12, 10); }},
      {"two flips", [](const Album& a) { return images(a) | flip() | flip(); }},
      {"filter on pixels", [](const Album& a) { return images(a) | bright(); }},
      {"filter after a flip, perhaps", [](const Album& a) { return images(a) | maybe_flip() | bright(); }},
      {"changed in place", [](const Album& a) { return images(a) | invert(); }},
      {"changed in place, then cropped", [](const Album& a) { return images(a) | invert() | crop() | flip(); }},
      {"two children each", [](const Album& a) { return images(a) | ps::flat_map(Twice{}) | maybe_flip(); }},
      {"cached", [](const Album& a) { return images(a) | ps::cache({.max_bytes = 1u << 20}) | maybe_flip(); }},
      {"renamed",
       [](const Album& a) { return images(a) | ps::rename("image", "other") | ps::rename("other", "image"); }},
      {"other fields gone", [](const Album& a) { return images(a) | ps::drop_fields({"label"}); }},
  };
  return all;
}

ps::Pipeline ragged(const ps::Pipeline& p) { return p | ps::ragged("image"); }

const std::vector<Album::How> hows{Album::pixels, Album::promises, Album::files};

}  // namespace

TEST_CASE("an encoder makes of each image what it makes of the pixels alone, whatever stands before it") {
  const Watchdog dog(120s);
  for (const auto& [what, make] : ways()) {
    const std::vector<Got> expected =
        collect(ragged(make(Album(Album::pixels)) | by_map()) | ps::batch(7), {.threads = 1}, 2);
    REQUIRE_FALSE(expected.empty());
    for (const Album::How how : hows) {
      const Album album(how);
      for (const bool fold : {true, false}) {
        for (const bool verify : {false, true}) {
          const bool cached = std::string(what) == "cached";
          if (verify && cached) continue;  // what a cache keeps must be verified before it
          const ps::Pipeline p =
              ragged(make(album) | fake::encode_stage("image") | ps::check({.verify = verify, .fold = fold}));
          CAPTURE(what, int{how}, fold, verify);
          CHECK(p.schema().at("image").shape == ps::Shape{ps::dynamic});
          for (const unsigned threads : {1u, 2u, 5u})
            CHECK(collect(p | ps::batch(7), {.threads = threads}, 2) == expected);
        }
      }
      const ps::Pipeline one = make(album) | fake::encode_stage("image"), other = make(Album(Album::pixels)) | by_map();
      for (std::uint64_t position = 0; position < 20; ++position) {
        CAPTURE(what, position);
        std::optional<ps::OwnedSample> a, b;
        const auto failed = error_of([&] { a.emplace(one.at(position)); });
        CHECK(error_of([&] { b.emplace(other.at(position)); }).has_value() == failed.has_value());
        if (failed) continue;
        REQUIRE((*a)["image"].bytes() == (*b)["image"].bytes());
        CHECK(std::memcmp((*a)["image"].data, (*b)["image"].data, (*a)["image"].bytes()) == 0);
      }
      Disk written, disk;
      Sink sink{.disk = &written}, other_sink{.disk = &disk};
      ps::write(one, sink, {.threads = 2});
      ps::write(other, other_sink, {.threads = 1});
      CHECK(written.kept == disk.kept);
      CHECK_FALSE(written.kept.empty());
    }
  }
}

TEST_CASE("what is stored is taken where nothing was done to the image, and only there") {
  const Watchdog dog(120s);
  // What is kept: all images, none, or those that a draw says.
  enum Kept : std::uint8_t { all, none, some };
  const std::map<std::string, Kept> kept_by{{"nothing", all},
                                            {"shuffled", all},
                                            {"crop", none},
                                            {"crop and flip", none},
                                            {"flip, perhaps", some},
                                            {"crop of everything", all},
                                            {"two flips", none},
                                            {"filter on pixels", all},
                                            {"filter after a flip, perhaps", some},
                                            {"changed in place", none},
                                            {"changed in place, then cropped", none},
                                            {"two children each", none},
                                            {"cached", none},
                                            {"renamed", all},
                                            {"other fields gone", all}};
  for (const auto& [what, make] : ways()) {
    for (const Album::How how : hows) {
      const Album album(how);
      CAPTURE(what, int{how});
      const auto kept = make(album) | fake::encode_stage("image", true);
      const std::vector<Got> expected = collect(ragged(kept) | ps::batch(7), {.threads = 1}, 2);
      for (const bool fold : {true, false})
        for (const bool verify : {false, true}) {
          if (verify && std::string(what) == "cached") continue;
          const ps::Pipeline p = ragged(kept | ps::check({.verify = verify, .fold = fold}));
          CAPTURE(fold, verify);
          for (const unsigned threads : {1u, 3u}) CHECK(collect(p | ps::batch(7), {.threads = threads}, 2) == expected);
        }
      // Which they are, by the pixels that the pipeline has without the encoder.
      std::uint64_t taken = 0, made = 0;
      for (std::uint64_t position = 0; position < 30; ++position) {
        std::optional<ps::OwnedSample> a, b;
        if (error_of([&] { a.emplace(kept.at(position)); })) continue;
        b.emplace(make(album).at(position));
        std::uint64_t index = 0;
        kept.fill(0, position, {&index, 1});
        const ps::TensorView file = (*a)["image"], image = (*b)["image"];
        const std::span<const std::byte> bytes(file.data, file.bytes());
        // It always decodes to the image.
        REQUIRE(std::memcmp(bytes.data() + 6, image.data, image.bytes()) == 0);
        const File& original = (*album.file)[index];
        const bool same_pixels =
            image.bytes() == 12 * 10 * 3 && std::memcmp(image.data, original.data() + 6, image.bytes()) == 0;
        const Kept rule = kept_by.at(what);
        const bool taken_here = album.stores(index) && (rule == all || (rule == some && same_pixels));
        CAPTURE(position);
        CHECK(is_stored(bytes) == taken_here);
        if (taken_here) CHECK(std::memcmp(bytes.data(), original.data(), original.size()) == 0);
        ++(taken_here ? taken : made);
      }
      CHECK((taken > 0) == (how != Album::pixels && kept_by.at(what) != none));
      CHECK((made > 0) == (how != Album::files || kept_by.at(what) != all));
      Disk written;
      Sink sink{.disk = &written};
      ps::write(kept, sink, {.threads = 3});
      Disk one_thread;
      Sink other{.disk = &one_thread};
      ps::write(kept | ps::check({.fold = false}), other, {.threads = 1});
      CHECK(written.kept == one_thread.kept);
    }
  }
}

}  // namespace PENSTOCK_TEST_FILE
