// SPDX-License-Identifier: Apache-2.0
// What a directory of a TIFF file says: values in each form that they have, and in forms that they can't have.
#include <penstock/sources/slide.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/slide/slide_files.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

enum Type : std::uint16_t {
  u8 = 1,
  ascii,
  u16,
  u32,
  rational,
  i8,
  bytes,
  i16,
  i32,
  srational,
  f32,
  f64,
  ifd,
  u64 = 16,
  i64,
  ifd8 = 18
};

bool is_of_two(std::uint16_t type) { return type == rational || type == srational; }

int bytes_of(std::uint16_t type) {
  return type <= ascii || type == i8 || type == bytes                                  ? 1
         : type == u16 || type == i16                                                  ? 2
         : type == u32 || type == i32 || is_of_two(type) || type == f32 || type == ifd ? 4
                                                                                       : 8;
}

// The first directory of a file, to be changed and written at its end.
class ChangedDirectory {
 public:
  struct Entry {
    std::uint16_t tag, type;
    std::uint64_t count;
    std::string value;  // or where it lies
  };

  explicit ChangedDirectory(std::string file) : file_(std::move(file)) {
    big_endian_ = file_[0] == 'M';
    room_ = number_at(2, 2) == 43 ? 8 : 4;
    std::size_t at = number_at(room_, room_);
    const std::size_t count = number_at(at, room_ == 8 ? 8 : 2);
    at += room_ == 8 ? 8 : 2;
    for (std::size_t i = 0; i < count; ++i, at += 4 + 2 * room_)
      entries.push_back({static_cast<std::uint16_t>(number_at(at, 2)), static_cast<std::uint16_t>(number_at(at + 2, 2)),
                         number_at(at + 4, room_), file_.substr(at + 4 + room_, room_)});
    next_ = number_at(at, room_);
  }

  // A rational is two values.
  void set(std::uint16_t tag, std::uint16_t type, const std::vector<std::uint64_t>& values) {
    std::string stored;
    for (const std::uint64_t value : values) stored += text_of(value, static_cast<std::size_t>(bytes_of(type)));
    if (stored.size() > room_) {
      const std::string at = text_of(file_.size(), room_);
      file_ += stored;
      stored = at;
    }
    stored.resize(room_);
    put({tag, type, is_of_two(type) ? values.size() / 2 : values.size(), stored});
  }
  // Says that so many values lie there.
  void set_place(std::uint16_t tag, std::uint16_t type, std::uint64_t count, std::uint64_t at) {
    put({tag, type, count, text_of(at, room_)});
  }
  std::string text_of(std::uint64_t value, std::size_t size) const {
    std::string text;
    for (std::size_t i = 0; i < size; ++i) text += static_cast<char>(value >> 8 * (big_endian_ ? size - 1 - i : i));
    return text;
  }
  std::string written() const {
    std::string text = file_;
    text.replace(room_, room_, text_of(text.size(), room_));
    text += text_of(entries.size(), room_ == 8 ? 8 : 2);
    for (const Entry& one : entries)
      text += text_of(one.tag, 2) + text_of(one.type, 2) + text_of(one.count, room_) + one.value;
    return text + text_of(next_, room_);
  }
  std::uint64_t file_bytes() const { return file_.size(); }
  std::size_t room() const { return room_; }

  std::vector<Entry> entries;

 private:
  void put(Entry entry) {
    const auto found = std::ranges::find(entries, entry.tag, &Entry::tag);
    if (found != entries.end())
      *found = std::move(entry);
    else
      entries.push_back(std::move(entry));
    std::ranges::sort(entries, {}, &Entry::tag);
  }
  std::uint64_t number_at(std::size_t at, std::size_t size) const {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
      value = value << 8 | static_cast<unsigned char>(file_.at(at + (big_endian_ ? i : size - 1 - i)));
    return value;
  }

  std::string file_;
  bool big_endian_ = false;
  std::size_t room_ = 4;
  std::uint64_t next_ = 0;
};

using Change = std::function<void(ChangedDirectory&)>;

// A slide of each form of numbers, with its directory changed.
void for_each_form(const Change& change, const std::function<void(const SlideInfo&)>& check) {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  for (const bool big_tiff : {false, true})
    for (const bool big_endian : {false, true}) {
      CAPTURE(big_tiff, big_endian);
      write_slide(path, {.big_tiff = big_tiff, .big_endian = big_endian, .lower = {{100, 70}}});
      ChangedDirectory directory(text_in(path));
      change(directory);
      folder.write("a.tif", directory.written());
      check(SlideSource({.files = path, .size = 64}).slides().front());
    }
}

void check_same(const SlideInfo& info) {
  INFO((info.failure ? info.failure->what() : ""));
  REQUIRE_FALSE(info.failure.has_value());
  CHECK(info.levels == std::vector<SlideLevel>{{200, 140, 64, 64}, {100, 70, 64, 64}});
  CHECK(info.missing_levels.empty());
}

void check_refused(const SlideInfo& info, const std::string& says) {
  REQUIRE(info.failure.has_value());
  CAPTURE(says);
  CHECK(info.failure->code() == Errc::corrupt);
  CHECK(says == (std::string(info.failure->what()).find(says) != std::string::npos ? says : info.failure->what()));
  CHECK(info.failure->offset().has_value());
}

}  // namespace

TEST_CASE("whole numbers of a directory are read in each type, alone or several that agree") {
  for (const std::uint16_t type : {u8, u16, u32, i16, i32, ifd, u64, i64, ifd8})
    for (const std::size_t count : {1u, 2u, 3u, 7u}) {
      CAPTURE(type, count);
      for_each_form(
          [&](ChangedDirectory& directory) {
            for (const auto& [tag, value] : {std::pair{256, 200},
                                             {257, 140},
                                             {258, 8},
                                             {259, 7},
                                             {262, 6},
                                             {274, 1},
                                             {277, 3},
                                             {284, 1},
                                             {322, 64},
                                             {339, 1}})
              directory.set(static_cast<std::uint16_t>(tag), type,
                            std::vector<std::uint64_t>(count, static_cast<std::uint64_t>(value)));
          },
          check_same);
    }
  for (const auto& [type, below] : {std::pair{i16, 0xffff}, {i32, -1}})
    for_each_form([&, type = type, below = below](
                      ChangedDirectory& directory) { directory.set(256, type, {static_cast<std::uint64_t>(below)}); },
                  [](const SlideInfo& info) { check_refused(info, "tag 256 has a value below 0"); });
  for (const int tag : {256, 258, 259, 262, 274, 277, 284, 322, 339}) {
    CAPTURE(tag);
    const auto number = static_cast<std::uint16_t>(tag);
    const std::string name = "tag " + std::to_string(tag);
    for_each_form(
        [&](ChangedDirectory& directory) {
          directory.set(number, u16, {8, 8, 16});
        },
        [&](const SlideInfo& info) { check_refused(info, name + " has values that differ"); });
    for_each_form(
        [&](ChangedDirectory& directory) {
          directory.set(number, ascii, {8, 0});
        },
        [&](const SlideInfo& info) { check_refused(info, name + " has the type 2, which is no whole number"); });
  }
}

TEST_CASE("what a directory leaves out, or says beyond what can be, is as TIFF 6 has it") {
  // None of these says that the image is turned, or that its values are of another kind.
  for (const std::vector<std::uint64_t>& orientation : {std::vector<std::uint64_t>{}, {0}, {9}, {60'000}})
    for_each_form([&](ChangedDirectory& directory) { directory.set(274, u16, orientation); }, check_same);
  const auto without = [](std::vector<std::uint16_t> tags) {
    return [tags](ChangedDirectory& directory) {
      std::erase_if(directory.entries, [&](const auto& entry) { return std::ranges::count(tags, entry.tag) != 0; });
    };
  };
  for_each_form(without({274, 284, 339}), check_same);
  for (const auto& [tag, says] : {std::pair<std::uint16_t, const char*>{256, "its width is 0 pixels"},
                                  {257, "its height is 0 pixels"},
                                  {323, "the height of a tile is 0 pixels"},
                                  {324, "it says the places of 0 tiles"}})
    for_each_form(without({tag}), [&](const SlideInfo& info) {
      REQUIRE(info.failure.has_value());
      CHECK(info.failure->code() == Errc::corrupt);
      CHECK(std::string(info.failure->what()).find(says) != std::string::npos);
    });
  // The old way to say that an image is a smaller one: level 0 is one whatever it says.
  for (const std::uint64_t old : {1u, 2u, 3u})
    for_each_form([&](ChangedDirectory& directory) { directory.set(255, u16, {old}); }, check_same);
}

TEST_CASE("resolutions are read as rationals, floats and whole numbers") {
  const auto f = [](float value) { return std::uint64_t{std::bit_cast<std::uint32_t>(value)}; };
  const auto d = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  struct Way {
    std::uint16_t type;
    std::vector<std::uint64_t> stored;
    double mpp;  // 0: none
  };
  const std::vector<Way> ways{{rational, {40'000, 2}, 0.5},
                              {srational, {40'000, 2}, 0.5},
                              {srational, {0xffff0000, 2}, 0},
                              {f32, {f(20'000)}, 0.5},
                              {f64, {d(20'000)}, 0.5},
                              {u16, {20'000}, 0.5},
                              {u64, {20'000}, 0.5},
                              {rational, {20'000, 0}, 0},
                              {f32, {f(-20'000)}, 0},
                              {f64, {d(-1)}, 0},
                              {f64, {d(1e300)}, 0},
                              {f32, {0x7fc00000}, 0}};
  for (const Way& way : ways)
    for (const std::uint64_t unit : {3u, 7u}) {
      CAPTURE(way.type, way.stored, unit);
      for_each_form(
          [&](ChangedDirectory& directory) {
            directory.set(282, way.type, way.stored);
            directory.set(283, way.type, way.stored);
            directory.set(296, u16, {unit});
          },
          [&](const SlideInfo& info) {
            check_same(info);
            // Units that there aren't count as inches.
            CHECK(std::abs(info.mpp_x - way.mpp * (unit == 3 ? 1 : 2.54)) < 1e-6);
          });
    }
  for_each_form(
      [](ChangedDirectory& directory) {
        directory.set(282, ascii, {'4', '0', 0});
      },
      [](const SlideInfo& info) {
        check_same(info);
        CHECK(info.mpp_x == 0);
      });
}

TEST_CASE("text of a directory ends at its first 0, and may be said to be bytes") {
  const std::string aperio = "Aperio Image|AppMag = 20|MPP = 0.5";
  for (const std::uint16_t type : {u8, ascii, i8, bytes})
    for (const std::string& after : {std::string(), std::string(1, '\0'), std::string("\0|MPP = 0.25", 12)})
      for_each_form(
          [&](ChangedDirectory& directory) {
            std::vector<std::uint64_t> stored;
            for (const char c : aperio + after) stored.push_back(static_cast<unsigned char>(c));
            directory.set(270, type, stored);
          },
          [&](const SlideInfo& info) {
            check_same(info);
            CHECK(info.mpp_x == 0.5);
          });
  for_each_form([](ChangedDirectory& directory) { directory.set(270, u16, {65, 66, 67, 68, 69}); }, check_same);
}

TEST_CASE("a value that reaches beyond the file, or is longer than any, is damage") {
  for (const int tag : {258, 270, 305, 347, 700})
    for (const std::int64_t from_end : {-9, 0, 1'000'000})
      for_each_form(
          [&](ChangedDirectory& directory) {
            // What is written then is a directory, of fewer bytes than a thousand.
            const auto at = static_cast<std::uint64_t>(static_cast<std::int64_t>(directory.file_bytes()) + from_end);
            directory.set_place(static_cast<std::uint16_t>(tag), tag == 258 ? u16 : u8, 10'000, at);
          },
          [&](const SlideInfo& info) {
            check_refused(info, "the file ends in the middle of the value of tag " + std::to_string(tag));
          });
  for_each_form(
      [](ChangedDirectory& directory) {
        directory.set_place(270, u8, directory.room() == 8 ? ~std::uint64_t{0} : ~std::uint32_t{0}, 16);
      },
      [](const SlideInfo& info) { check_refused(info, "in the middle of the value of tag 270: it is cut off"); });
  // In holes of a file.
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  constexpr std::uint64_t mebibyte = 1 << 20;
  for (const std::uint64_t each : {40u, 65u}) {
    write_slide(path);
    ChangedDirectory directory(text_in(path));
    for (const int tag : {270, 305, 700})
      directory.set_place(static_cast<std::uint16_t>(tag), u8, each * mebibyte, 100);
    folder.write("a.tif", directory.written());
    std::filesystem::resize_file(path, 80 * mebibyte);
    check_refused(
        SlideSource({.files = path, .size = 64}).slides().front(),
        each == 40 ? "it says that its values have more than 96 MiB" : "it says that a value has more than 64 MiB");
  }
}

TEST_CASE("offsets of a BigTIFF file have 8 bytes, or it is damaged") {
  const TempFolder folder;
  for (const std::size_t at : {4u, 6u}) {
    const WrittenSlide slide = write_slide(folder / "a.tif", {.big_tiff = true});
    slide.overwrite(at, {std::byte{4}});
    check_refused(SlideSource({.files = slide.path, .size = 64}).slides().front(), "its offsets don't have 8 bytes");
  }
}

TEST_CASE("directories of which entries were changed are read, or refused") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  Numbers random(5);
  constexpr std::uint64_t values[] = {0, 1, 2, 3, 7, 8, 64, 140, 200, 65'535, 65'536, 0x7fffffff, 0xffffffff, ~0ull};
  constexpr std::uint16_t tags[] = {254, 255, 256, 258, 259, 262, 270, 274, 277, 282, 284,
                                    296, 305, 322, 323, 324, 325, 330, 339, 347, 700, 40'000};
  std::uint64_t read = 0, refused = 0;
  for (const bool big_tiff : {false, true}) {
    write_slide(path, {.big_tiff = big_tiff, .big_endian = big_tiff, .lower = {{100, 70}}, .per_unit = 20'000});
    const std::string good = text_in(path);
    for (int round = 0; round < 500; ++round) {
      ChangedDirectory directory(good);
      bool size_changed = false;
      for (int changes = 1 + random.below(2); changes > 0; --changes) {
        auto& entry =
            directory
                .entries[static_cast<std::size_t>(random.below(static_cast<std::int32_t>(directory.entries.size())))];
        const auto value = random.below(3) == 0 ? static_cast<std::uint64_t>(random.below(30'000))
                                                : values[static_cast<std::size_t>(random.below(14))];
        const std::uint16_t before = entry.tag;
        const int how = random.below(4);
        if (how == 0) entry.tag = tags[static_cast<std::size_t>(random.below(22))];
        if (how == 1) entry.type = static_cast<std::uint16_t>(random.below(20));
        if (how == 2) entry.count = value;
        if (how == 3) entry.value = directory.text_of(value, directory.room());
        for (const std::uint16_t tag : {before, entry.tag}) size_changed = size_changed || tag == 256 || tag == 257;
      }
      folder.write("a.tif", directory.written());
      const SlideInfo info = SlideSource({.files = path, .size = 64}).slides().front();
      if (info.failure) {
        ++refused;
        CHECK(info.failure->sample_scoped());
        CHECK(info.failure->code() != Errc::io);
        CHECK(info.failure->file() == path);
        continue;
      }
      ++read;
      if (!size_changed && (info.levels.front().width != 200 || info.levels.front().height != 140))
        FAIL("level 0 has " << info.levels.front().width << 'x' << info.levels.front().height << " pixels");
    }
  }
  CHECK(read > 100);
  CHECK(refused > 100);
}

}  // namespace PENSTOCK_TEST_FILE
