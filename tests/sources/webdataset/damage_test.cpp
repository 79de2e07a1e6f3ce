// SPDX-License-Identifier: Apache-2.0
// Shards that are damaged, cut short, or made to do harm.
#include <penstock/sources/webdataset.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <penstock/loader.hpp>

#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "sources/webdataset/tar_files.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

// Where a member's data lies in the shard, by the one who laid it there.
struct Laid {
  std::string key;
  std::size_t offset, size;
};

struct TestShard {
  std::string bytes;
  std::vector<Laid> images;
  std::size_t end_mark = 0;
};

TestShard ustar_shard(std::mt19937_64& random) {
  TestShard shard;
  for (int i = 0; i < 6; ++i) {
    const std::string key = "d/" + std::to_string(i);
    std::string data(random() % 1500, '\0');
    for (char& c : data) c = static_cast<char>(random());
    shard.images.push_back({key, shard.bytes.size() + 512, data.size()});
    shard.bytes += tar_member(key + ".jpg", data) + tar_member(key + ".cls", std::to_string(i));
  }
  shard.end_mark = shard.bytes.size();
  shard.bytes += tar_end;
  return shard;
}

std::string mixed_shard(std::mt19937_64& random) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) {
    const std::string key = std::string(120, 'n') + std::to_string(i);
    const std::string data(random() % 900, 'x');
    const std::string path = pax_record("path", key + ".jpg") + pax_record("size", std::to_string(data.size()));
    bytes += tar_member("PaxHeader", path, 'x') + tar_member("short", data);
    bytes += tar_member("././@LongLink", key + ".cls" + std::string(1, '\0'), 'L') + tar_member("short", "7");
  }
  return bytes + tar_end;
}

// Makes a file of its own: one that is cut to nothing and written again waits for the disk on some systems.
void write_anew(const TempFolder& folder, const std::string& bytes) {
  std::filesystem::remove(folder / "a.tar");
  folder.write("a.tar", bytes);
}

const std::vector<WebDatasetField> both{{"image", "jpg"}, {"label", "cls"}};

std::optional<WebDatasetSource> try_open(const std::string& path, FileAccess access) {
  try {
    return WebDatasetSource({.path = path, .fields = both, .threads = 1, .access = access});
  } catch (const Error& error) {
    CHECK(error.file() == path);
    CHECK(error.source() == "webdataset");
    return std::nullopt;
  }
}

Error refusal(const std::string& path) {
  return error_of([&] { WebDatasetSource({.path = path, .fields = both}); });
}

}  // namespace

TEST_CASE("a damaged shard gives errors or exactly what it holds") {
  std::mt19937_64 random(5);
  const TempFolder folder;
  const std::string path = folder / "a.tar";
  int opened = 0, refused = 0;
  for (int round = 0; round < 3000; ++round) {
    TestShard shard = ustar_shard(random);
    // Mostly in headers, and one in each: tar only adds bytes up, so that two can make up for each other.
    std::set<std::size_t> blocks;
    for (std::uint64_t flips = 1 + random() % 3; flips != 0; --flips) {
      std::size_t at = random() % shard.bytes.size();
      if (random() % 4 != 0) at = shard.images[random() % shard.images.size()].offset - 512 + random() % 512;
      if (!blocks.insert(at / 512).second) continue;
      shard.bytes[at] = static_cast<char>(shard.bytes[at] ^ (1 << random() % 8));
    }
    write_anew(folder, shard.bytes);
    const auto source = try_open(path, round % 2 == 0 ? FileAccess::read : FileAccess::map);
    ++(source ? opened : refused);
    if (!source) continue;
    // No header's checksum failed, so none of what they say has changed.
    REQUIRE(source->size() == shard.images.size());
    for (std::uint64_t i = 0; i < source->size(); ++i) {
      const Laid& laid = shard.images[i];
      REQUIRE(source->key(i) == laid.key);
      try {
        const std::string got = read_text(*source, i);
        REQUIRE(got == shard.bytes.substr(laid.offset, laid.size));
      } catch (const Error& error) {
        REQUIRE(error.sample_scoped());
        REQUIRE(error.key() == laid.key);
      }
    }
  }
  CHECK(opened > 100);
  CHECK(refused > 1000);
}

TEST_CASE("damage in extended headers and long names does no harm") {
  std::mt19937_64 random(6);
  const TempFolder folder;
  const std::string path = folder / "a.tar";
  int read = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = mixed_shard(random);
    if (round != 0)
      for (std::uint64_t changes = 1 + random() % 4; changes != 0; --changes)
        bytes[random() % bytes.size()] = static_cast<char>(random());
    if (round % 5 == 4) bytes.resize(random() % bytes.size());
    write_anew(folder, bytes);
    const auto source = try_open(path, round % 2 == 0 ? FileAccess::read : FileAccess::map);
    for (std::uint64_t i = 0; source && i < source->size(); ++i) {
      try {
        const std::string got = read_text(*source, i);
        CHECK(got.size() < 900);
        ++read;
      } catch (const Error& error) {
        CHECK(error.sample_scoped());
      }
    }
  }
  CHECK(read > 1000);
}

TEST_CASE("a shard cut short gives errors or exactly what is left") {
  std::mt19937_64 random(7);
  const TempFolder folder;
  const std::string path = folder / "a.tar";
  const TestShard shard = ustar_shard(random);
  for (std::size_t bytes = 0; bytes < shard.bytes.size(); ++bytes) {
    if (bytes % 512 > 3 && random() % 16 != 0) continue;
    write_anew(folder, shard.bytes.substr(0, bytes));
    const auto source = try_open(path, FileAccess::map);
    if (!source) {
      // At a member's end, or within the padding after it, nothing shows what is missing.
      continue;
    }
    CHECK(source->without_end() == (bytes >= shard.end_mark + 512 ? 0u : 1u));
    for (std::uint64_t i = 0; i < source->size(); ++i) {
      const Laid& laid = shard.images[i];
      REQUIRE(source->key(i) == laid.key);
      if (i + 1 < source->size()) {
        CHECK(read_text(*source, i) == shard.bytes.substr(laid.offset, laid.size));
        continue;
      }
      try {
        const std::string got = read_text(*source, i);
        CHECK(got == shard.bytes.substr(laid.offset, laid.size));
      } catch (const Error& error) {
        CHECK(mentions(error, "no member with the extension cls"));
      }
    }
  }
  // Inside of a header and of data it shows.
  for (const std::size_t bytes :
       {shard.images[2].offset - 1, shard.images[2].offset - 300, shard.images[3].offset + shard.images[3].size / 2}) {
    write_anew(folder, shard.bytes.substr(0, bytes));
    const Error error = refusal(path);
    CHECK(error.code() == Errc::corrupt);
    CHECK(error.offset().has_value());
    CHECK(mentions(error, "truncated"));
  }
  write_anew(folder, "");
  CHECK(refusal(path).code() == Errc::corrupt);
}

TEST_CASE("what can't be read rightly is refused with what to do") {
  const TempFolder folder;
  const auto refused = [&](const std::string& bytes) {
    folder.write("a.tar", bytes);
    return refusal(folder / "a.tar");
  };
  const std::string good = tar_member("a.jpg", "x");
  // Not in a name that is no sample's, nor where two dots are no folder.
  folder.write("b.tar", tar_member("../README", "") + tar_member("..a/..b/c..d.jpg", "") + tar_end);
  CHECK(WebDatasetSource({.path = folder / "b.tar", .fields = both}).key(0) == "..a/..b/c");

  CHECK(mentions(refused("\x1f\x8b\x08" + good), "gunzip"));
  CHECK(mentions(refused("\x28\xb5\x2f\xfd" + good), "unzstd"));
  CHECK(mentions(refused("BZh91AY" + good), "bunzip2"));
  CHECK(mentions(refused(good + tar_end + std::string(512, '\0') + good + tar_end), "--concatenate"));
  CHECK(refused(tar_member("g", pax_record("path", "all.jpg"), 'g') + good).code() == Errc::unsupported);
  CHECK(refused(good + tar_member("link.jpg", "x", '2')).code() == Errc::unsupported);
  CHECK(refused(good + tar_member("h", pax_record("path", "b.jpg"), 'x')).code() == Errc::corrupt);
  CHECK(refused(good + tar_member("h", pax_record("path", "b.jpg"), 'x') + tar_end).code() == Errc::corrupt);
  CHECK(refused(good + std::string(512, 'x')).code() == Errc::corrupt);

  // Trailing bytes of a writer that fills its last record with anything are no members.
  folder.write("c.tar", good + tar_end + std::string(700, '\xaa'));
  CHECK(WebDatasetSource({.path = folder / "c.tar", .fields = both}).size() == 1);
}

TEST_CASE("what is wrong with a member is the fault of its sample, and others are read") {
  const TempFolder folder;
  const auto pax = [](std::string_view key, std::string_view value) {
    return tar_member("h", pax_record(key, value), 'x');
  };
  // A map of holes that goes on in two blocks after the header.
  TarBlock sparse = tar_block("s.jpg", 1, 'S');
  sparse.put(482, "\1").sum();
  const std::string maps = std::string(504, '\0') + "\1" + std::string(7, '\0') + std::string(512, '\0');
  struct Case {
    std::string members, key, says;
    Errc code = Errc::unsupported;
  };
  const std::string away =
                        "has a name that leads out of the folder it would be unpacked in; make the shard with names "
                        "that stay below one folder",
                    absolute = "has a name that is an absolute path", control = "has a name that holds control",
                    holes = "is sparse, so its bytes don't lie in the shard as they are; make the shard without",
                    link = "is a link or a device, without data of its own; make the shard with tar --dereference";
  for (const Case& c : std::vector<Case>{
           {tar_member("/etc/passwd.jpg", "x"), "/etc/passwd", absolute},
           {tar_member("\\\\host\\a.jpg", "x"), "\\\\host\\a", absolute},
           {tar_member(".//etc/passwd.jpg", "x"), "/etc/passwd", absolute},
           {tar_member("../a.jpg", "x"), "../a", away},
           {tar_member("a/../../b.jpg", "x"), "a/../../b", away},
           // Its first dot ends the key.
           {tar_member("a\\..\\b.jpg", "x"), "a\\", "has no member with the extension jpg", Errc::corrupt},
           {tar_member("a\nb.jpg", "x"), "a\nb", control},
           {pax("path", std::string("a\0b.jpg", 7)) + tar_member("h", "x"), std::string("a\0b", 3), control},
           {pax("path", std::string(70'000, 'k') + ".jpg") + tar_member("h", "x"), std::string(65536, 'k'),
            "has a name of more than 65536 bytes", Errc::limit_exceeded},
           {tar_member("s.jpg", "x", 'S'), "s", holes},
           {sparse.bytes + maps + tar_padded("x"), "s", holes},
           {pax("GNU.sparse.name", "s.jpg") + tar_member("GNUSparseFile.7/s.jpg", "x"), "s", holes},
           {pax("GNU.sparse.major", "0") + tar_member("s.jpg", "x"), "s", holes},
           {tar_member("q.jpg", "x", 'Q'), "q", "is of a type that is not known; make the shard of files alone"},
           {tar_member("l.jpg", "", '2'), "l", link},
           {tar_member("p.jpg", "", '6'), "p", link},
           {tar_member("t.jpg", "x") + tar_member("t.jpg", "y"), "t", "has two members", Errc::corrupt},
       }) {
    folder.write("a.tar", tar_member("a.jpg", "x") + c.members + tar_member("b.jpg", "y") + tar_end);
    for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
      const WebDatasetSource source({.path = folder / "a.tar", .fields = {{"image", "jpg"}}, .access = access});
      CAPTURE(c.key.substr(0, 40));
      REQUIRE(source.size() == 3);
      CHECK(source.key(1) == c.key);
      const Error error = error_of([&] { read_text(source, 1); });
      INFO(error.what());
      CHECK(error.code() == c.code);
      CHECK(error.sample_scoped());
      CHECK(error.index() == 1u);
      CHECK(mentions(error, c.says));
      CHECK(read_text(source, 0) == "x");
      CHECK(read_text(source, 2) == "y");
    }
    // So where the fields are found out.
    CHECK(WebDatasetSource({.path = folder / "a.tar"}).size() == 3);
  }
  // A member without a name is no sample's.
  folder.write("a.tar", tar_member("a.jpg", "x") + tar_member("", "x") + tar_member("b.jpg", "y") + tar_end);
  const WebDatasetSource unnamed({.path = folder / "a.tar"});
  CHECK(unnamed.size() == 2);
  CHECK(unnamed.left_out().at("") == 1);
}

TEST_CASE("sizes beyond the file, or beyond any, are found before memory is taken") {
  const TempFolder folder;
  const auto refused = [&](const std::string& bytes) {
    folder.write("a.tar", bytes);
    return refusal(folder / "a.tar");
  };
  const auto sized = [](std::string_view size) {
    TarBlock block;
    block.bytes = tar_block("a.jpg", 0).bytes;
    return block.put(124, size).sum().bytes;
  };
  const std::string rest = tar_padded("x") + tar_end;
  CHECK(mentions(refused(sized(std::string_view("77777777777\0", 12)) + rest), "truncated"));
  const auto binary = [&](std::string_view bytes) { return refused(sized(bytes) + rest); };
  CHECK(mentions(binary(std::string_view("\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff", 12)), "truncated"));
  CHECK(mentions(binary(std::string_view("\x80\0\0\0\x80\0\0\0\0\0\0\0", 12)), "2^63"));
  CHECK(mentions(binary(std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12)), "2^63"));
  CHECK(mentions(binary(std::string_view("\x80\x01\0\0\0\0\0\0\0\0\0\0", 12)), "2^63"));
  CHECK(mentions(binary("00000zz0001"), "2^63"));
  CHECK(mentions(binary("-0000000001"), "2^63"));
  for (const char* const size : {"9223372036854775807", "1000000", "18446744073709551616", "-1", "1x", ""})
    CHECK(refused(tar_member("h", pax_record("size", size), 'x') + tar_member("a.jpg", "x") + tar_end).code() ==
          Errc::corrupt);
  const std::string first = pax_record("path", "b.jpg"), records = first + pax_record("size", "-1");
  CHECK(refused(tar_member("h", records, 'x') + tar_member("a.jpg", "x") + tar_end).offset() == 512 + first.size());
  // An extended header that says it is as large as the shard, and one that is.
  CHECK(refused(tar_block("h", 3u << 20, 'x').bytes + rest).code() == Errc::corrupt);
  CHECK(refused(tar_member("h", std::string(3u << 20, 'x'), 'L') + rest).code() == Errc::limit_exceeded);
  for (const char* const record : {"5 a\n", "99 path=a\n", "9 path=a", "0 path=a\n", "99999999999999999999 a=b\n", "x"})
    CHECK(refused(tar_member("h", record, 'x') + tar_member("a.jpg", "x") + tar_end).code() == Errc::corrupt);
}

TEST_CASE("folders are passed over, however many follow one another") {
  const TempFolder folder;
  std::string bytes;
  const std::string one = tar_member("d/", "", '5');
  bytes.reserve(200'000 * one.size());
  for (int i = 0; i < 200'000; ++i) bytes += one;
  folder.write("a.tar", bytes + tar_member("a.jpg", "x") + tar_end);
  CHECK(WebDatasetSource({.path = folder / "a.tar", .fields = both}).size() == 1);
}

TEST_CASE("with FileAccess::read a shard that is cut short or replaced while it is open is an error") {
  const TempFolder folder;
  const std::string data(100'000, 'd');
  const std::string bytes = tar_member("a.jpg", data) + tar_member("a.cls", "1") + tar_member("b.jpg", data) +
                            tar_member("b.cls", "2") + tar_end;
  folder.write("a.tar", bytes);
  const WebDatasetSource source({.path = folder / "a.tar", .fields = both, .access = FileAccess::read});
  const auto kept = source.open_reader();
  const auto read = [&](std::uint64_t index) {
    OwnedSample sample(source.schema());
    SampleBuilder out = sample.builder();
    kept->read(index, out);
    return text_of(sample["image"]);
  };
  CHECK(read(0) == data);
  std::filesystem::resize_file(folder / "a.tar", 150'000);
  CHECK(read(0) == data);
  const Error cut = error_of([&] { read(1); });
  CHECK(cut.code() == Errc::io);
  CHECK(cut.key() == "b");
  CHECK(error_of([&] { read_text(source, 1); }).code() == Errc::io);

  folder.write("new", bytes);
  std::filesystem::rename(folder / "new", folder / "a.tar");
  CHECK(error_of([&] { read_text(source, 0); }).code() == Errc::io);
  std::filesystem::remove(folder / "a.tar");
  CHECK(error_of([&] { read_text(source, 0); }).code() == Errc::not_found);
}

TEST_CASE("a member larger than a loader allows is refused before memory is taken") {
  const TempFolder folder;
  folder.write("a.tar", tar_member("a.jpg", std::string(5000, 'x')) + tar_end);
  for (const FileAccess access : {FileAccess::map, FileAccess::read}) {
    Loader loader(from(WebDataset{.path = folder / "a.tar", .fields = {{"image", "jpg"}}, .access = access}) |
                      map("image", [](View<const std::uint8_t, 1>, View<std::uint8_t, 1>) {},
                          {.name = "none", .shape = Shape{1}}) |
                      check({.max_sample_bytes = 4999}) | batch(1),
                  {.threads = 1});
    CHECK(error_of([&] { static_cast<void>(loader.next()); }).code() == Errc::limit_exceeded);
  }
}
