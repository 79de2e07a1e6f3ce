// SPDX-License-Identifier: Apache-2.0
// What is wrong with a slide is an error of the records that need it, and of no other.
#include <penstock/sources/slide.hpp>

#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/slide/jpeg2000_files.hpp"
#include "sources/slide/slide_files.hpp"
#include "sources/slide/slide_images.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/thrown.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

// 5 x 4 tiles of 64 pixels.
const SlideForm five_by_four{.width = 320, .height = 256, .quality = 90};

std::set<std::string> bad_keys(const SlideSource& source) {
  std::set<std::string> keys;
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    try {
      (void)read_sample(source, i);
    } catch (const Error& error) {
      CHECK(error.sample_scoped());
      keys.insert(source.key(i));
    }
  }
  return keys;
}

// Tile 7, which lies at x 128, y 64, is damaged so.
struct Damage {
  const char* what;
  void (*harm)(const WrittenSlide& slide);
  const char* says;
  bool seen_in_part;  // also where another part of the tile is decoded
};
const std::vector<Damage> damages{
    {"empty", [](const WrittenSlide& slide) { slide.set_size(7, 0); }, "it is empty", true},
    {"beyond the end", [](const WrittenSlide& slide) { slide.set_offset(7, 4'000'000'000); }, "beyond the end", true},
    {"longer than the file", [](const WrittenSlide& slide) { slide.set_size(7, 3'000'000'000); }, "beyond the end",
     true},
    {"garbage",
     [](const WrittenSlide& slide) { slide.overwrite(slide.offsets[7], Bytes(slide.sizes[7], std::byte{0x5a})); }, "",
     true},
    {"cut in half", [](const WrittenSlide& slide) { slide.set_size(7, slide.sizes[7] / 2); }, "", true},
    {"400 bytes changed",
     [](const WrittenSlide& slide) {
       Bytes other(400);
       for (std::size_t i = 0; i < other.size(); ++i) other[i] = static_cast<std::byte>(i * 37 + 11);
       slide.overwrite(slide.offsets[7] + slide.sizes[7] - 500, other);
     },
     "", false},
};

}  // namespace

TEST_CASE("a damaged tile is an error that names it, of the records that need it") {
  const TempFolder folder;
  for (const Damage& damage : damages) {
    const WrittenSlide slide = write_slide(folder / "a.svs", five_by_four);
    damage.harm(slide);
    CAPTURE(damage.what);
    for (const std::size_t kept : {0u, 1u << 20})
      CHECK(bad_keys(SlideSource({.files = folder / "a.svs", .size = 64, .max_kept_bytes = kept})) ==
            std::set<std::string>{"a/000064_000128"});
    const Error error = error_of([&] { (void)read_sample(SlideSource({.files = folder / "a.svs", .size = 64}), 7); });
    CHECK(error.code() == Errc::corrupt);
    CHECK(mentions(error, "the tile at x 128, y 64 of level 0"));
    CHECK(mentions(error, damage.says));
    CHECK(error.file() == folder / "a.svs");
    CHECK(error.source() == "slide");
    if (!damage.seen_in_part) continue;
    // Half a tile off the grid: four records need it.
    const std::set<std::string> four{"a/000032_000096", "a/000032_000160", "a/000096_000096", "a/000096_000160"};
    const SlideSource shifted({.files = folder / "a.svs", .size = 64, .stride = 32});
    std::set<std::string> bad = bad_keys(shifted);
    for (const std::string& key : four) CHECK(bad.erase(key) == 1);
    // Those that are on the grid in one direction at least need it too.
    for (const char* const key :
         {"a/000064_000128", "a/000064_000096", "a/000064_000160", "a/000032_000128", "a/000096_000128"})
      CHECK(bad.erase(key) == 1);
    CHECK(bad.empty());
  }
}

TEST_CASE("damage that a part does not show is found when the tile is verified") {
  const TempFolder folder;
  const WrittenSlide slide = write_slide(folder / "a.svs", five_by_four);
  damages.back().harm(slide);
  const Slides half{.files = folder / "a.svs", .size = 32, .stride = 64};  // the upper left quarters
  const auto bad = [&](bool verify) {
    Loader loader(from(half) | check({.verify = verify}) | on_error({.policy = OnError::drop}) | batch(1),
                  {.threads = 1, .epochs = 1});
    std::uint64_t rows = 0;
    while (const std::optional<Batch> batch = loader.next()) rows += batch->size();
    return SlideSource(half).size() - rows;
  };
  CHECK(bad(false) == 0);
  CHECK(bad(true) == 1);
}

TEST_CASE("what is left over before a tile's end tells of damage, but zeros fill up") {
  const TempFolder folder;
  const WrittenSlide slide = write_slide(folder / "a.svs", five_by_four);
  std::string stored(slide.sizes[7], '\0');
  {
    std::ifstream file(slide.path, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(slide.offsets[7]));
    REQUIRE(file.read(stored.data(), static_cast<std::streamsize>(stored.size())));
  }
  const auto put_before_end = [&](const std::string& bytes) {
    const std::string tile = stored.substr(0, stored.size() - 2) + bytes + stored.substr(stored.size() - 2);
    const auto at = std::filesystem::file_size(slide.path);
    std::ofstream(slide.path, std::ios::binary | std::ios::app) << tile;
    slide.set_offset(7, at);
    slide.set_size(7, tile.size());
  };
  // Whole tiles, as a loader gives them; read_sample looks at each to its end.
  const auto images = [&](bool verify) {
    Loader loader(from(SlideSource({.files = slide.path, .size = 64})) | check({.verify = verify}) |
                      on_error({.policy = OnError::drop}) | batch(1),
                  {.threads = 1, .epochs = 1});
    std::vector<std::string> all;
    while (const std::optional<Batch> batch = loader.next()) all.push_back(text_of((*batch)["image"]));
    return all;
  };
  const std::vector<std::string> sound = images(false);
  REQUIRE(sound.size() == 20);
  put_before_end(std::string(4, '\0'));
  CHECK(images(false) == sound);
  CHECK(images(true) == sound);
  put_before_end("\x12\x34\x56\x78");
  CHECK(images(false).size() == 19);
}

TEST_CASE("a tile without the marker at its end is whole, whoever looks") {
  const TempFolder folder;
  const WrittenSlide slide = write_slide(folder / "a.svs", five_by_four);
  const SlideSource sound({.files = slide.path, .size = 64});
  const std::string wanted = text_of(read_sample(sound, 7)["image"]);
  slide.set_size(7, slide.sizes[7] - 2);
  for (const bool verify : {false, true}) {
    const Pipeline tiles = from(SlideSource({.files = slide.path, .size = 64})) | check({.verify = verify});
    CHECK(text_of(tiles.at(7)["image"]) == wanted);
    // Of a part, too.
    const Pipeline parts = from(SlideSource({.files = slide.path, .size = 32})) | check({.verify = verify});
    for (std::uint64_t i = 0; i < parts.size(); ++i) CHECK_NOTHROW((void)parts.at(i));
  }
}

TEST_CASE("what a tile's JPEG says of its size is held against the file's") {
  const TempFolder folder;
  const WrittenSlide slide = write_slide(folder / "a.svs", five_by_four);
  const WrittenSlide other =
      write_slide(folder / "b.svs", {.width = 320, .height = 256, .tile_width = 32, .tile_height = 32, .quality = 30});
  std::ifstream file(folder / "b.svs", std::ios::binary);
  Bytes stored(other.sizes[0]);
  file.seekg(static_cast<std::streamoff>(other.offsets[0]));
  file.read(reinterpret_cast<char*>(stored.data()), static_cast<std::streamsize>(stored.size()));
  REQUIRE(stored.size() < slide.sizes[3]);
  slide.overwrite(slide.offsets[3], stored);
  slide.set_size(3, stored.size());
  const Error error = error_of([&] { (void)read_sample(SlideSource({.files = folder / "a.svs", .size = 64}), 3); });
  CHECK(error.code() == Errc::corrupt);
  CHECK(mentions(error, "its JPEG has 32x32 pixels, not 64x64"));
}

TEST_CASE("a slide that can't be read is one record, an error by the policy") {
  const TempFolder folder;
  write_slide(folder / "a.svs", five_by_four);
  write_slide(folder / "c.svs", five_by_four);
  struct Bad {
    const char* says;
    Errc code;
    std::function<void(const std::string&)> make;
  };
  const auto form = [](SlideForm changed) {
    return [changed](const std::string& path) { write_slide(path, changed); };
  };
  const std::vector<Bad> bad{
      {"it is no TIFF file: it has less than 4 bytes", Errc::corrupt,
       [](const std::string& p) { std::ofstream(p) << "abc"; }},
      {"it is no TIFF file: it begins with \"hell\"", Errc::corrupt,
       [](const std::string& p) { std::ofstream(p) << "hello, world"; }},
      {"opening the file", Errc::not_found,
       [](const std::string& p) { std::filesystem::create_symlink("nowhere", p); }},
      {"not a regular file", Errc::io, [](const std::string& p) { std::filesystem::create_directory(p); }},
      {"not made of tiles", Errc::unsupported, form({.strips = true})},
      {"stored mirrored or turned (orientation 2)", Errc::unsupported, form({.orientation = 2})},
      // Whoever would read it.
      {"stored mirrored or turned (orientation 3)", Errc::unsupported, form({.compression = 8, .orientation = 3})},
      {"stored mirrored or turned (orientation 5)", Errc::unsupported, form({.bits = 16, .orientation = 5})},
      {"stored mirrored or turned (orientation 6)", Errc::unsupported, form({.samples = 1, .orientation = 6})},
      {"stored mirrored or turned (orientation 7)", Errc::unsupported, form({.planes = 2, .orientation = 7})},
      {"stored mirrored or turned (orientation 8)", Errc::unsupported, form({.strips = true, .orientation = 8})},
      {"stored mirrored or turned (orientation 4)", Errc::unsupported,
       form({.software = "Philips DP v1.0", .orientation = 4})},
      {"its compression is 9999 (unknown)", Errc::unsupported, form({.compression = 9999})},
      {"the file ends in the middle of a directory", Errc::corrupt,
       [](const std::string& p) {
         const WrittenSlide slide = write_slide(p, five_by_four);
         slide.overwrite(4, {std::byte{0xff}, std::byte{0xff}, std::byte{0x7f}, std::byte{0}});
       }},
  };
  for (const Bad& b : bad) {
    std::filesystem::remove_all(folder / "b.svs");
    b.make(folder / "b.svs");
    CAPTURE(b.says);
    const Slides slides{.files = folder / "?.svs", .size = 64};
    const SlideSource source(slides);
    REQUIRE(source.size() == 41);
    REQUIRE(source.slides()[1].failure.has_value());
    const Error error = error_of([&] {
      Loader loader(from(slides) | batch(1), {.threads = 2, .epochs = 1});
      while (loader.next()) {
      }
    });
    CHECK(error.code() == b.code);
    CHECK(std::string(b.says) == (mentions(error, b.says) ? b.says : error.what()));
    CHECK(error.file() == folder / "b.svs");
    CHECK(error.index() == 20);
    CHECK(error.key() == "b/000000_000000");
    for (const OnError policy : {OnError::drop, OnError::replace, OnError::mask}) {
      Loader loader(from(slides) | on_error({.policy = policy}) | batch(41), {.threads = 2, .epochs = 1});
      const std::optional<Batch> batch = loader.next();
      REQUIRE(batch.has_value());
      CHECK(batch->size() == (policy == OnError::drop ? 40u : 41u));
      CHECK_FALSE(loader.next().has_value());
    }
    std::string plan = from(slides).plan();
    CHECK(plan.find("1 slide that can't be read") != std::string::npos);
    CHECK(plan.find(b.says) != std::string::npos);
  }
}

TEST_CASE("a file that changes while it is open is an error, closed meanwhile or not") {
  const TempFolder folder;
  for (const bool replaced : {false, true})
    for (const std::size_t open_files : {1u, 10u}) {
      const WrittenSlide slide = write_slide(folder / "a.svs", five_by_four);
      write_slide(folder / "b.svs", five_by_four);
      const SlideSource source({.files = folder / "?.svs", .size = 64, .max_open_files = open_files});
      (void)read_sample(source, 0);
      (void)read_sample(source, 30);
      if (replaced) {
        write_slide(folder / "c", {.width = 320, .height = 256, .seed = 9});
        std::filesystem::rename(folder / "c", folder / "a.svs");
      } else {
        slide.overwrite(slide.offsets[1], {std::byte{1}});
      }
      // What is still open of a file that was replaced is the old one, whole.
      if (replaced && open_files == 10) {
        CHECK(text_of(read_sample(source, 0)["image"]) == text_of(read_sample(source, 20)["image"]));
      } else {
        const Error error = error_of([&] { (void)read_sample(source, 0); });
        CHECK(error.code() == Errc::io);
        CHECK(mentions(error, "changed or replaced"));
      }
      (void)read_sample(source, 30);
    }
}

TEST_CASE("more slides than files may be open") {
  const TempFolder folder;
  constexpr int slides = 60;
  for (int i = 0; i < slides; ++i)
    write_slide(folder / std::to_string(100 + i), {.width = 64, .height = 64, .seed = static_cast<std::uint64_t>(i)});
  const SlideSource source({.files = folder / "1*", .size = 64, .max_open_files = 4});
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit low = before;
  low.rlim_cur = 40;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
  std::vector<std::string> images;
  for (int pass = 0; pass < 2; ++pass)
    for (std::uint64_t i = 0; i < slides; ++i) {
      const std::string image = text_of(read_sample(source, i)["image"]);
      if (pass == 0)
        images.push_back(image);
      else
        CHECK(images[i] == image);
    }
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
}

TEST_CASE("a tile without bytes above level 0 is an error of its records, and of no other level's") {
  const TempFolder folder;
  SlideForm form{.width = 256, .height = 192, .lower = {{128, 96}}};
  form.compression = 33005;
  int tiles = 0;
  constexpr int of_level_0 = 4 * 3, second = of_level_0 + 1;
  form.encode = [&](const Image& tile) {
    StoredTile stored = encode_jpeg2000(tile, {.mixed = true, .lossless = true});
    if (tiles++ == second) stored.stream.clear();
    return stored;
  };
  write_slide(folder / "a.tif", form);
  REQUIRE(tiles == of_level_0 + 4);
  for_each_record({.files = folder / "a.tif", .size = 64}, [](const Image&, std::int64_t, std::int64_t) {});
  const SlideSource lower({.files = folder / "a.tif", .level = 1, .size = 64, .edges = SlideEdges::pad});
  REQUIRE(lower.size() == 4);
  for (std::uint64_t i = 0; i < 4; ++i) {
    if (i != 1) {
      CHECK_NOTHROW(read_sample(lower, i));
      continue;
    }
    const Error error = error_of([&] { (void)read_sample(lower, i); });
    CHECK(error.code() == Errc::corrupt);
    CHECK(mentions(error, "it is empty"));
  }
}
