// SPDX-License-Identifier: Apache-2.0
// Index files beside shards on a server: the samples of the shards, or an error that says what differs.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/remote.hpp>
#include <penstock/sources/webdataset.hpp>

#include "sources/remote/shards.hpp"
#include "sources/webdataset/tar_files.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/thrown.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;
using namespace penstock_test::on_server;

namespace {

// Makes the index file of a shard by Python, and returns it.
std::string make_index(const TempFolder& folder, const std::string& shard) {
  const std::string tar = folder / (shard + ".tar"), index = folder / (shard + ".idx");
  if (!runs(std::string(python) + " " + path_of("wds2idx.py") + " " + tar + " " + index))
    throw std::runtime_error("there is no index file of " + tar);
  return file_text(index);
}

struct IndexedShards : Shards {
  IndexedShards() {
    for (const char* shard : {"train-000000", "train-000001", "train-000002"})
      index_bytes += make_index(folder, shard).size();
  }
  std::uint64_t index_bytes = 0;
};

const std::vector<WebDatasetField> no_arrays{{"bin", "bin"}, {"label", "cls"}};

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  const std::size_t at = text.find(what);
  if (at == std::string::npos) throw std::runtime_error("the text has no " + std::string(what));
  return text.replace(at, what.size(), by);
}

// Every sample of a source, as text.
std::string all_samples(const WebDatasetSource& source) {
  std::string all;
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    const OwnedSample sample = read_sample(source, i);
    all += source.key(i);
    for (const Field& field : source.schema()) {
      const auto& value = sample[field.name];
      all.append(reinterpret_cast<const char*>(value.data), value.bytes());
    }
  }
  return all;
}

void read_by_blocks(const WebDatasetSource& source, std::uint64_t index) {
  std::vector<std::uint64_t> ids;
  source.blocks_of(index, ids);
  std::vector<std::vector<std::byte>> bytes;
  for (const std::uint64_t id : ids) source.load(id, bytes.emplace_back(source.block_bytes(id)));
  const std::vector<std::span<const std::byte>> blocks(bytes.begin(), bytes.end());
  OwnedSample sample(source.schema());
  SampleBuilder out = sample.builder();
  source.read(index, blocks, out);
}

// Members of names and bytes as a shard.
std::string tar_of(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string tar;
  for (const auto& [name, data] : members) tar += tar_member(name, data);
  return tar + tar_end;
}

}  // namespace

TEST_CASE("with index files, opening transfers nothing else, and an epoch each range once") {
  const IndexedShards shards;
  const auto client = quick_client();
  shards.server.plan(ServerJson::array());
  WebDataset plain = shards.there(client);
  plain.fields = no_arrays;
  const WebDatasetSource opened(plain);
  // Each file's size is asked for by a range of one byte.
  // A byte to ask for each size, and the texts that say that there are no files with names of classes.
  CHECK(shards.server.bytes() >= shards.index_bytes + 6);
  CHECK(shards.server.bytes() < shards.index_bytes + 200);
  for (const auto& request : shards.server.requests())
    if (request.at("path").get<std::string>().ends_with(".tar")) CHECK(request.at("bytes") == 1);
  CHECK(opened.notes().empty());

  const WebDatasetSource here(shards.here()), there(shards.there(client));
  CHECK(there.identity() == here.identity());
  CHECK(there.schema() == here.schema());
  CHECK(there.block_ends() == here.block_ends());
  CHECK(there.left_out() == here.left_out());
  CHECK(there.without_end() == here.without_end());
  CHECK(all_samples(there) == all_samples(here));

  shards.server.plan(ServerJson::array());
  Loader loader(batches(from(there)), {.threads = 2, .epochs = 1});
  Loader local(batches(from(here)), {.threads = 1, .epochs = 1});
  CHECK((bytes_of(loader) == bytes_of(local)));
  std::uint64_t bytes = 0;
  for (const std::string& shard : here.shards()) bytes += std::filesystem::file_size(shard);
  CHECK(shards.server.bytes() == bytes);
  CHECK(shards.server.requests().size() == there.blocks());

  // A state of one continues with the other.
  const auto shuffled = [](const auto& source) { return batches(from(source) | shuffle({.seed = 4})); };
  Loader one(shuffled(here), {.threads = 1}), begun(shuffled(here), {.threads = 2});
  const std::string whole = bytes_of(one);
  for (int i = 0; i < 4; ++i) (void)begun.next();
  Loader other(shuffled(there), {.threads = 2});
  other.resume(begun.state());
  const std::string rest = bytes_of(other);
  CHECK((!rest.empty() && whole.ends_with(rest)));
}

TEST_CASE("a shard without an index file, or with one that can't be understood, is looked through") {
  const IndexedShards shards;
  const WebDatasetSource here(shards.here());
  const std::string index = file_text(shards.folder / "train-000001.idx");
  const auto open = [&](bool use_index = true) {
    WebDataset options = shards.there(quick_client());
    options.use_index = use_index;
    return WebDatasetSource(options);
  };
  const auto same = [&](const WebDatasetSource& source) {
    CHECK(source.identity() == here.identity());
    CHECK(all_samples(source) == all_samples(here));
  };
  struct Case {
    const char* name;
    std::string text;
    const char* note;
  };
  const std::string name = "k/1060.bin", spaced = "k/10 60.bin";
  for (const auto& [what, text, note] :
       {Case{"another version", replaced(index, "v1.2", "v1.1"), "version v1.1"},
        Case{"a later version", replaced(index, "v1.2", "v1.3"), "version v1.3"},
        Case{"garbage",
             std::string("\x7f"
                         "ELF\0\1\2\n\n",
                         9),
             "line 0: it does not begin like"},
        Case{"no lines", "v1.2 0\n", "no samples"},
        Case{"a name with a space", replaced(index, name, spaced), "line 2"},
        Case{"other extension", replaced(index, "bin ", "jpg "), "\"jpg\" is not the extension of \"k/1060.bin\""},
        Case{"two spaces", replaced(index, " " + name, "  " + name), "line 2"},
        Case{"CRLF", replaced(index, "\n", "\r\n"), "line 1"}}) {
    INFO(what);
    shards.folder.write("train-000001.idx", text);
    if (std::string_view(what) == "CRLF") {
      CHECK(error_of([&] { open(); }).code() == Errc::corrupt);  // the number of samples has a carriage return
      continue;
    }
    const WebDatasetSource source = open();
    REQUIRE(source.notes().size() == 1);
    CAPTURE(source.notes()[0]);
    CHECK(source.notes()[0].find("train-000001.idx") != std::string::npos);
    CHECK(source.notes()[0].find(note) != std::string::npos);
    same(source);
  }
  // Wrong numbers are an error, and the option turns the index files off.
  shards.folder.write("train-000001.idx", replaced(index, "v1.2 60", "v1.2 61"));
  CHECK(code_of([&] { open(); }) == Errc::corrupt);
  same(open(false));
  CHECK(open(false).notes().empty());

  // Missing ones: status 404, and 403 as from a server that lists no files.
  std::filesystem::remove(shards.folder.path() / "train-000001.idx");
  CHECK(open().notes() == std::vector<std::string>{"shards without an index file, whose headers were read: 1"});
  same(open());
  for (const ServerJson& rule :
       {ServerJson{{"do", "status"}, {"code", 403}}, ServerJson{{"do", "status"}, {"code", 400}},
        ServerJson{{"do", "status"}, {"code", 501}}, ServerJson{{"do", "whole"}}}) {
    ServerJson index_files = rule, classes = rule;
    index_files["path"] = "*.idx", classes["path"] = "*classes.txt";
    shards.server.plan({index_files, classes});
    same(open());
    CHECK(open().notes().empty());
  }
  shards.server.plan({{{"do", "status"}, {"code", 401}, {"path", "*.idx"}}});
  const Error refused = error_of([&] { open(); });
  CHECK(refused.code() == Errc::network);
  CHECK(refused.file() == shards.server.url("train-000000.idx"));
}

TEST_CASE("index files and manifests larger than a range are read in ranges, and stay in the cache") {
  const IndexedShards shards;
  const TempFolder cache;
  std::string list = "# " + std::string(9000, 'x') + "\n";
  for (int i = 0; i < 3; ++i) list += "train-00000" + std::to_string(i) + ".tar\n";
  shards.folder.write("set.txt", list);
  constexpr std::uint64_t range = 4096;
  const WebDatasetSource here(shards.here());
  const auto transferred = [&] {
    Remote remote;
    remote.range_bytes = range;
    remote.cache = cache.path().string();
    WebDataset options{.path = shards.server.url("set.txt")};
    options.fields = no_arrays;
    options.client = std::make_shared<const RemoteClient>(remote);
    shards.server.plan(ServerJson::array());
    CHECK(WebDatasetSource(options).size() == here.size());
    CHECK(options.client->counts().not_kept == 0);
    std::uint64_t bytes = 0;
    for (const ServerJson& request : shards.server.requests()) {
      const auto path = request.at("path").get<std::string>();
      if (!path.ends_with(".idx") && path != "/set.txt") continue;
      CHECK(request.at("bytes").get<std::uint64_t>() <= range);
      bytes += request.at("bytes").get<std::uint64_t>();
    }
    return bytes;
  };
  for (const char* index : {"train-000000.idx", "train-000001.idx"})
    REQUIRE(std::filesystem::file_size(shards.folder.path() / index) > range);
  // Of each file, a byte is fetched to ask for its size.
  CHECK(transferred() == shards.index_bytes + list.size() + 4);
  CHECK(transferred() == 4);
}

TEST_CASE("an index file is asked for where the URL's path ends in .tar, with the same query") {
  const IndexedShards shards;
  std::filesystem::copy_file(shards.folder.path() / "train-000000.tar", shards.folder.path() / "train.tar.bin");
  const auto paths_asked = [&](const std::string& path) {
    shards.server.plan(ServerJson::array());
    WebDataset options = shards.there(quick_client());
    options.path = shards.server.url(path);
    options.fields = no_arrays;
    const WebDatasetSource source(options);
    std::vector<std::string> paths;
    for (const auto& request : shards.server.requests())
      if (const auto asked = request.at("path").get<std::string>() + "?" + request.value("query", "");
          asked.find(".idx") != std::string::npos && std::ranges::find(paths, asked) == paths.end())
        paths.push_back(asked);
    return paths;
  };
  CHECK(paths_asked("train-000001.tar?key=a.tar") == std::vector<std::string>{"/train-000001.idx?key=a.tar"});
  CHECK(paths_asked("train.tar.bin?key=a.tar").empty());
}

TEST_CASE("an index file that can't be right is an error that names it and the line") {
  const IndexedShards shards;
  const std::string index = file_text(shards.folder / "train-000001.idx");
  const auto line_of = [&](std::size_t number) {
    std::size_t at = 0;
    for (; number > 1; --number) at = index.find('\n', at) + 1;
    return index.substr(at, index.find('\n', at) + 1 - at);
  };
  const std::string second = line_of(2), third = line_of(3), last = line_of(61);
  const std::string first = second.substr(0, second.find(" k/"));  // the first member, without its name
  struct Case {
    const char* name;
    std::string text;
    const char* says;
  };
  for (const auto& [what, text, says] :
       {Case{"an empty file", "", "begin"}, Case{"cut at the end", index.substr(0, index.size() - 1), "line 1"},
        Case{"cut in its middle", index.substr(0, index.size() / 2), "60 further lines"},
        Case{"a line less", replaced(index, third, ""), "60 further lines, and there are 59"},
        Case{"fewer samples, all told", replaced(replaced(index, last, ""), "v1.2 60", "v1.2 59"), ""},
        Case{"swapped lines", replaced(replaced(index, third, ""), second, third + second), "line 3"},
        Case{"off by 512", replaced(index, " 512 ", " 1024 "), "line 2"},
        Case{"the first member's header gone", replaced(index, " 512 ", " 0 "), "line 2"},
        Case{"no multiple of 512", replaced(index, " 512 ", " 513 "), "multiple of 512"},
        Case{"a huge offset", replaced(index, " 512 ", " 18446744073709551104 "), "ends after the shard"},
        Case{"a number past 2^64", replaced(index, " 512 ", " 18446744073709551616 "), "not a number"},
        Case{"a negative offset", replaced(index, " 512 ", " -512 "), "not a number"},
        Case{"a huge size", replaced(index, " 512 ", " 512 1844674407370955161"), "line 2"},
        Case{"a size past the end", replaced(index, first, "bin 512 99999999"), "ends after the shard"},
        Case{"the largest size", replaced(index, first, "bin 512 18446744073709551615"), "ends after the shard"},
        Case{"no number", replaced(index, "v1.2 60", "v1.2 many"), "line 1"},
        Case{"more than a number", replaced(index, "v1.2 60", "v1.2 60 60"), "line 1"},
        Case{"no number of samples", replaced(index, "v1.2 60", "v1.2"), "line 1"}}) {
    INFO(what);
    shards.folder.write("train-000001.idx", text);
    if (std::string_view(what) == "an empty file") {
      CHECK(WebDatasetSource(shards.there(quick_client())).notes().size() == 1);
      continue;
    }
    if (std::string_view(what) == "fewer samples, all told") {
      const WebDatasetSource source(shards.there(quick_client()));
      REQUIRE(source.size() == samples - 1);
      const Error more = error_of([&] { read_sample(source, 118); });
      CHECK(more.code() == Errc::corrupt);
      CHECK(mentions(more, "which the index file does not list"));
      continue;
    }
    const Error error = error_of([&] { const WebDatasetSource source(shards.there(quick_client())); });
    CHECK(error.code() == Errc::corrupt);
    CHECK(error.file() == shards.server.url("train-000001.idx"));
    CHECK(mentions(error, says));
    CHECK(mentions(error, "penstock index"));
    CHECK(mentions(error, "use_index"));
  }
}

TEST_CASE("a shard that its index file does not describe is an error of the samples that differ") {
  const TempFolder folder;
  const Server server(folder);
  const auto open = [&](bool use_index = true) {
    WebDataset options{.path = server.url("a.tar"), .fields = {{"txt", "txt"}, {"cls", "cls"}}};
    options.client = quick_client();
    options.use_index = use_index;
    return WebDatasetSource(options);
  };
  using Members = std::vector<std::pair<std::string, std::string>>;
  const Members before{{"a.txt", "one"}, {"a.cls", "1"},   {"b.txt", "two"},
                       {"b.cls", "2"},   {"c.txt", "six"}, {"c.cls", "3"}};
  const auto make = [&](const std::string& tar) { folder.write("a.tar", tar); };
  make(tar_of(before));
  const std::string index = make_index(folder, "a");
  CHECK(all_samples(open()) == all_samples(open(false)));

  // `good`: how many samples from the beginning are those of the shard.
  struct Case {
    const char* name;
    std::string tar;
    std::uint64_t good;
    const char* says;
  };
  Members renamed = before, longer = before, other_case = before, other_key = before;
  renamed[2].first = "b.png", longer[2].second = "twenty", other_case[2].first = "B.txt",
  other_key[2].first = "d/b.txt";
  std::string bad_sum = tar_of(before), link = tar_of(before);
  bad_sum[4 * 512 + 3] ^= 1;
  link.replace(4 * 512, 512, tar_block("b.txt", 0, '2').put(157, "a.txt").sum().bytes);
  const std::string whole = tar_of(before), members = whole.substr(0, whole.size() - tar_end.size());
  for (const auto& [what, tar, good, says] :
       {Case{"renamed", tar_of(renamed), 1, "b.png"}, Case{"another size", tar_of(longer), 1, "of 6 bytes"},
        Case{"another key", tar_of(other_case), 1, "B.txt"}, Case{"another folder", tar_of(other_key), 1, "d/b.txt"},
        Case{"a header's checksum", bad_sum, 1, "checksum"}, Case{"a link", link, 1, "b.txt"},
        Case{"its bytes are another file's", std::string(whole.size(), 'x'), 0, "checksum"},
        Case{"it has grown", members + tar_member("d.txt", "") + tar_end, 2, "d.txt"},
        Case{"it was joined", members + tar_end + tar_member("d.txt", "") + tar_end, 2, "after the end of the archive"},
        Case{"it ends early", members.substr(0, 8 * 512) + std::string(whole.size() - 8 * 512, '\0'), 2,
             "ends before the member"},
        Case{"garbage follows", members + std::string(512, 'x') + tar_end, 2, "checksum"}}) {
    INFO(what);
    make(tar);
    const WebDatasetSource source = open();
    REQUIRE(source.size() == 3);
    CAPTURE(good);
    for (std::uint64_t i = 0; i < 3; ++i) {
      // By itself, and of its blocks.
      for (const bool by_blocks : {false, true}) {
        const auto read = [&] {
          if (by_blocks)
            read_by_blocks(source, i);
          else
            read_sample(source, i);
        };
        if (i < good) {
          CHECK_NOTHROW(read());
        } else if (i == good) {
          const Error error = error_of(read);
          CHECK(error.code() == Errc::corrupt);
          CHECK(mentions(error, says));
          CHECK(error.file() == server.url("a.tar"));
          CHECK(error.index() == i);
          CHECK(error.key() == std::string(1, static_cast<char>('a' + i)));
          CHECK(error.offset().has_value());
          CHECK(mentions(error, server.url("a.idx")));
          CHECK(mentions(error, "penstock index"));
          CHECK(mentions(error, "use_index"));
        }
      }
    }
  }
  // Much has come after the last member.
  make(members + tar_member("d.txt", std::string(2 << 20, 'x')) + tar_end);
  const Error grown = error_of([&] { open(); });
  CHECK(grown.code() == Errc::corrupt);
  CHECK(mentions(grown, "follow the last member"));
  make(tar_of(before).substr(0, 3072));
  CHECK(code_of([&] { open(); }) == Errc::corrupt);
}

TEST_CASE("large members of an index file are read after their headers were compared") {
  const TempFolder folder;
  const Server server(folder);
  constexpr std::size_t large = 5 << 20;
  std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (" + std::to_string(large) + ",), }";
  header.resize(117, ' ');
  const std::string array = std::string("\x93NUMPY\1\0\x76\0", 10) + header + "\n" + std::string(large, 'n');
  folder.write("a.tar", tar_member("a.txt", std::string(large, 't')) + tar_member("a.npy", array) + tar_end);
  (void)make_index(folder, "a");
  const auto open = [&](bool use_index = true) {
    WebDataset options{.path = server.url("a.tar"), .fields = {{"txt", "txt"}, {"npy", "npy"}}};
    options.client = quick_client();
    options.use_index = use_index;
    return WebDatasetSource(options);
  };
  const WebDatasetSource right = open();
  CHECK(right.notes().empty());
  server.plan(ServerJson::array());
  CHECK((all_samples(right) == all_samples(open(false))));

  // The index file says that a small member has all bytes of the shard.
  const std::string small = tar_member("a.txt", "one") + tar_member(".b", std::string(large, 'x')) + tar_end;
  folder.write("a.tar", small);
  const std::size_t claimed = small.size() - 512 - 1024;
  folder.write("a.idx", "v1.2 1\ntxt 512 " + std::to_string(claimed) + " a.txt\n");
  WebDataset options{.path = server.url("a.tar"), .fields = {{"txt", "txt"}}};
  options.client = quick_client();
  const WebDatasetSource wrong(options);
  server.plan(ServerJson::array());
  const Error error = error_of([&] { (void)read_sample(wrong, 0); });
  CHECK(error.code() == Errc::corrupt);
  CHECK(mentions(error, "of 3 bytes"));
  CHECK(server.bytes() < 200'000);
}

TEST_CASE("an index file of a shard with long names, folders, hidden files and holes between members") {
  const TempFolder folder;
  const Server server(folder);
  const std::string deep = "a/" + std::string(120, 'b') + "/" + std::string(140, 'c');
  std::string tar = tar_member("./", "", '5') + tar_member("./.hidden", "secret");
  tar += tar_member("x", pax_record("path", deep + ".txt") + pax_record("mtime", "1700000000.25"), 'x');
  tar += tar_member(deep.substr(0, 90), "long");
  tar += tar_member("././@LongLink", deep + "d.txt" + std::string(1, '\0'), 'L') + tar_member(deep, "gnu");
  tar += tar_member("x", pax_record("mtime", "1700000000.25"), 'x') + tar_member("e.JPG.txt", "");
  tar += tar_member("./f.txt", "last") + tar_member("g/", "", '5') + tar_end + std::string(8192, '\0');
  folder.write("a.tar", tar);
  WebDataset options{.path = server.url("a.tar"), .fields = {{"txt", "txt;jpg.txt"}}};
  options.client = quick_client();
  const WebDatasetSource scanned(options);
  (void)make_index(folder, "a");
  const WebDatasetSource indexed(options);
  CHECK(indexed.notes().empty());
  CHECK(indexed.identity() == scanned.identity());
  CHECK(indexed.size() == 4);
  CHECK(all_samples(indexed) == all_samples(scanned));
  // A large file that is not listed.
  const std::string big =
      tar_member("a.txt", "one") + tar_member(".b", std::string(2 << 20, 'x')) + tar_member("c.txt", "two") + tar_end;
  folder.write("a.tar", big);
  (void)make_index(folder, "a");
  const WebDatasetSource looked_through(options);
  REQUIRE(looked_through.notes().size() == 1);
  CHECK(looked_through.notes()[0].find("more than 1048576 bytes before \"c.txt\"") != std::string::npos);
  CHECK(all_samples(looked_through) == "aonectwo");
  folder.write("a.tar", tar);
  (void)make_index(folder, "a");
  // What the long name is shows in the blocks before the header alone.
  for (const std::size_t at : {tar.find("bbbb"), tar.find("ccccd.txt") + 4}) {
    std::string other = tar;
    other[at] = 'z';
    folder.write("a.tar", other);
    const WebDatasetSource source(options);
    CHECK(code_of([&] { all_samples(source); }) == Errc::corrupt);
  }
}

}  // namespace PENSTOCK_TEST_FILE
