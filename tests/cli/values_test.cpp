// SPDX-License-Identifier: Apache-2.0
// Stores the tool has not written: Caffe's Datums, bare values, named tables.
#include "cli/tool.hpp"
#include "sources/lmdb/raw_lmdb.hpp"
#include "support/catch.hpp"

using namespace penstock_test;

namespace {

std::string varint(std::size_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}
// {data: image, label: 1, encoded: true}
std::string datum(const std::string& image) { return "\x22" + varint(image.size()) + image + "\x28\x01\x38\x01"; }

Pairs datums(std::uint64_t count) {
  Pairs pairs;
  for (std::uint64_t i = 0; i < count; ++i) pairs[decimal_key(i)] = datum(jpeg(static_cast<unsigned>(i)));
  return pairs;
}

}  // namespace

TEST_CASE("one bad first Datum is one bad record") {
  const TempFolder folder;
  for (const std::string first : {"garbage", ""}) {
    const std::string store = folder / (first.empty() ? "empty" : "garbage");
    Pairs pairs = datums(30);
    pairs[decimal_key(0)] = first;
    RawLmdb{store}.write(pairs);
    const ToolResult verified = tool({"verify", store, "--values", "datum", "--json"});
    INFO(verified.err);
    REQUIRE(verified.status == 3);
    REQUIRE(verified.json()["bad"].size() == 1);
    CHECK(verified.json()["bad"][0]["index"] == 0);
    CHECK(verified.json()["decoded"] == 29);
    const ToolResult inspected = tool({"inspect", store, "--values", "datum", "--json"});
    REQUIRE(inspected.status == 3);
    CHECK(inspected.json()["unreadable"] == 1);
    CHECK(inspected.json()["schema"] == "{image: u8[?], label: i64[]}");
    for (const std::string policy : {"mask", "replace"}) {
      const ToolResult benched = tool({"bench", store, "--values", "datum", "--on-error", policy, "--stages",
                                       "decode_jpeg | resize 16 | batch 10", "--epochs", "1", "--json"});
      INFO(benched.err);
      REQUIRE(benched.status == 0);
      CHECK(benched.json()["runs"][0]["errors"] == 1);
    }
  }
}

TEST_CASE("every command takes Datums for what they are, and says so") {
  const TempFolder folder;
  RawLmdb{folder / "datum"}.write(datums(40));
  const ToolResult inspected = tool({"inspect", folder / "datum"});
  CHECK(inspected.out.find("Caffe's Datum") != std::string::npos);
  CHECK(inspected.out.find("--values raw") != std::string::npos);
  const auto json = tool({"inspect", folder / "datum", "--json"}).json();
  CHECK(json["values"] == "datum");
  CHECK(json["schema"] == "{image: u8[?], label: i64[]}");
  CHECK(tool({"verify", folder / "datum", "--json"}).json()["decoded"] == 40);
  CHECK(tool({"verify", folder / "datum"}).out.find("Caffe's Datum") != std::string::npos);
  CHECK(tool({"bench", folder / "datum", "--stages", "decode_jpeg | resize 16 | batch 10", "--epochs", "1"}).status ==
        0);
  const ToolResult converted = tool({"convert", folder / "datum", "--out", folder / "x.lmdb"});
  CHECK(converted.status == 0);
  CHECK(converted.out.find("Caffe's Datum") != std::string::npos);
  CHECK(tool({"inspect", folder / "x.lmdb", "--json"}).json()["schema"] == "{image: u8[?], label: i64[]}");
  CHECK(content(folder / "x.lmdb").at(decimal_key(3)) == jpeg(3) + std::string("\1\0\0\0\0\0\0\0", 8));

  CHECK(tool({"inspect", folder / "datum", "--values", "raw", "--json"}).json()["schema"] == "{image: u8[?]}");
  CHECK_FALSE(tool({"inspect", folder / "datum", "--values", "datum", "--json"}).json().contains("hint"));
}

TEST_CASE("values of no known form are taken only by who says so") {
  const TempFolder folder;
  RawLmdb{folder / "other"}.write({{"a", "this is no image"}, {"b", "nor is this one"}});
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"verify"},
                                             {"bench", "--stages", "select_fields image | batch 2"},
                                             {"convert", "--out", folder / "x.lmdb"}}) {
    std::vector<std::string> arguments = command;
    arguments.push_back(folder / "other");
    const ToolResult refused = tool(arguments);
    INFO(command[0] << refused.err);
    CHECK(refused.status == 2);
    CHECK(one_line(refused.err));
    CHECK(refused.err.find("--values raw") != std::string::npos);
  }
  CHECK_FALSE(std::filesystem::exists(folder / "x.lmdb"));
  CHECK(tool({"inspect", folder / "other", "--json"}).json()["hint"].text().find("--values") != std::string::npos);
  CHECK(tool({"convert", folder / "other", "--values", "raw", "--out", folder / "x.lmdb"}).status == 0);
  CHECK(content(folder / "x.lmdb").at("b") == "nor is this one");
}

TEST_CASE("verify calls neither good what it has only read, nor what no loader decodes") {
  const TempFolder folder;
  const std::string avif = std::string("\0\0\0\x20", 4) + "ftypavif";  // and nothing after it
  RawLmdb{folder / "some"}.write({{"a", jpeg(1)}, {"b", avif}, {"c", avif}});
  RawLmdb{folder / "none"}.write({{"b", avif}, {"c", avif}});
  const ToolResult some = tool({"verify", folder / "some"}), none = tool({"verify", folder / "none"}),
                   read = tool({"verify", folder / "none", "--no-decode"});
  CHECK(some.status == 3);
  CHECK(some.out.find("; 2 bad; 2 of kind avif not decoded") != std::string::npos);
  CHECK(none.status == 3);
  CHECK(none.out.find("; 2 bad; 2 of kind avif not decoded") != std::string::npos);
  CHECK(read.status == 0);
  CHECK(read.out.find("bad") == std::string::npos);
  CHECK(read.out.find("2 only read, not checked") != std::string::npos);
  CHECK(tool({"verify", folder / "some", "--json"}).json()["not_checked"] == 0);
  CHECK(tool({"verify", folder / "some", "--json", "--no-decode"}).json()["not_checked"] == 3);
  CHECK(tool({"verify", folder / "some", "--json"}).json()["checksums"] == false);
}

TEST_CASE("a store of named tables is refused") {
  const TempFolder folder;
  MDB_env* env = nullptr;
  std::filesystem::create_directories(folder / "named");
  must(mdb_env_create(&env));
  must(mdb_env_set_maxdbs(env, 2));
  must(mdb_env_open(env, (folder / "named").c_str(), MDB_NOSYNC, 0644));
  MDB_txn* txn = nullptr;
  MDB_dbi table = 0;
  must(mdb_txn_begin(env, nullptr, 0, &txn));
  must(mdb_dbi_open(txn, "images", MDB_CREATE, &table));
  must(mdb_txn_commit(txn));
  mdb_env_close(env);
  for (const std::string command : {"inspect", "verify", "bench"}) {
    const ToolResult result = tool({command, folder / "named"});
    CHECK(result.status == 1);
    CHECK(one_line(result.err));
    CHECK(result.err.find("named tables") != std::string::npos);
  }
}

TEST_CASE("an option of another kind of store is refused, and what to do is said") {
  const TempFolder folder;
  write_images(folder, 2, 6);
  REQUIRE(tool({"pack", folder / "images", "--out", folder / "x.lmdb", "--quiet"}).status == 0);
  REQUIRE(tool({"pack", folder / "images", "--out", folder / "x.tar", "--quiet"}).status == 0);
  REQUIRE(tool({"pack", folder / "images", "--out", folder / "x.h5", "--quiet"}).status == 0);
  const std::string lmdb = folder / "x.lmdb", tar = folder / "x-000000.tar", hdf5 = folder / "x.h5";
  const std::vector<std::string> stages{"--stages", "decode_jpeg | resize 16 | batch 2", "--epochs", "1"};
  const auto line = [&](const std::string& command, const std::string& store, std::vector<std::string> option) {
    std::vector<std::string> words{command, store};
    if (command == "convert") words.insert(words.end(), {"--out", folder / "y.lmdb"});
    if (command == "bench") words.insert(words.end(), stages.begin(), stages.end());
    words.insert(words.end(), option.begin(), option.end());
    return tool(words);
  };
  const auto refused = [&](const std::string& command, const std::string& store,
                           const std::vector<std::string>& option) {
    const ToolResult result = line(command, store, option);
    INFO(command << " " << store << " " << option.front() << ": " << result.err);
    CHECK(result.status == 2);
    CHECK(one_line(result.err));
    CHECK(result.err.find(option.front() + " is of ") != std::string::npos);
  };
  for (const std::string command : {"inspect", "verify", "bench", "convert"}) {
    for (const std::string& store : {tar, hdf5, folder / "images"}) refused(command, store, {"--values", "raw"});
    const std::string option = command == "verify" ? "--no-isolate" : "--isolate";
    for (const std::string& store : {tar, lmdb, folder / "images"}) refused(command, store, {option});
  }
  CHECK(line("inspect", tar, {"--values", "automatic"}).status == 0);
  CHECK(line("verify", lmdb, {"--values", "records"}).status == 0);
  CHECK(line("inspect", hdf5, {"--isolate"}).status == 0);
}
