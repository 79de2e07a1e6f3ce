// SPDX-License-Identifier: Apache-2.0
#include <penstock/sources/files_sink.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/files.hpp>

#include "sources/file_limit.hpp"
#include "sources/files/sink_checks.hpp"
#include "sources/journal_text.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

const std::string jpeg = "\xff\xd8\xff\xe0jpeg", png = "\x89PNG\r\n\x1a\npng";

using Tree = std::map<std::string, std::string>;

// What a finished folder is, by the plainest means: of items whose keys need no change.
Tree expected_of(const std::vector<LabelledItem>& items) {
  Tree tree{{"records.csv", "file,label\n"}};
  for (const LabelledItem& item : items) {
    const std::string begin = item.image.substr(0, 3);
    const std::string extension = begin == "\xff\xd8\xff" ? "jpg"
                                  : begin == "\x89PN"     ? "png"
                                  : begin == "GIF"        ? "gif"
                                                          : "bin";
    const std::string file = item.key + "." + extension;
    if (file.find('/') != std::string::npos) tree[file.substr(0, file.find('/') + 1)] = "";
    tree[file] = item.image;
    tree["records.csv"] += file + "," + std::to_string(item.label) + "\n";
  }
  return tree;
}

Error put_error(const std::vector<LabelledItem>& items, FilesSinkOptions options = {}) {
  const TempFolder folder;
  options.path = folder / "t";
  options.sync = false;
  FilesSink sink(options);
  return error_of([&] { run(sink, items); });
}

}  // namespace

TEST_CASE("records become files that come back with their labels") {
  const TempFolder folder;
  const std::vector<LabelledItem> items = file_items(100);
  FilesSink sink({.path = folder / "out/t/"});
  REQUIRE(run(sink, items));
  CHECK_FALSE(sink.was_finished());
  CHECK(sink.name() == "files");
  CHECK(tree_of(folder / "out/t") == expected_of(items));

  const FilesSource source({.root = folder / "out/t", .labels = folder / "out/t/records.csv"});
  CHECK(source.notes().empty());
  REQUIRE(source.size() == items.size());
  std::map<std::string, LabelledItem> by_key;
  for (const LabelledItem& item : items) by_key[item.key] = item;
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    std::string key = source.key(i);
    if (key.ends_with(".bin")) key.resize(key.size() - 4);
    REQUIRE(by_key.contains(key));
    CHECK(read_text(source, i) == by_key[key].image);
    CHECK(read_label(source, i) == by_key[key].label);
  }
  // The table is not told as left out, whatever tells the labels; other files are.
  const auto one = [](const std::string&) { return 1; };
  CHECK(FilesSource({.root = folder / "out/t",
                     .extensions = {"jpg", "png", "gif", "bin"},
                     .label = [&](std::string_view path) { return one(std::string(path)); }})
            .notes()
            .empty());
  folder.write("out/t/class1/records.csv", "");
  CHECK(FilesSource({.root = folder / "out/t", .labels = folder / "out/t/records.csv"}).ignored() == 1);
}

TEST_CASE("files have the extension that their bytes begin like") {
  const TempFolder folder;
  using namespace std::string_literals;
  const std::pair<std::string, std::string> kinds[] = {{"jpg", jpeg},
                                                       {"png", png},
                                                       {"webp", "RIFF....WEBP"s},
                                                       {"gif", "GIF87a"s},
                                                       {"bmp", "BM....\0\0\0\0.."s},
                                                       {"tif", "II*\0..."s},
                                                       {"tif", "MM\0*..."s},
                                                       {"bin", "RIFF"s},
                                                       {"bin", ""s}};
  std::vector<LabelledItem> items;
  for (const auto& [extension, bytes] : kinds) items.push_back({std::to_string(items.size()), bytes, 0});
  FilesSink sink({.path = folder / "t", .sync = false});
  REQUIRE(run(sink, items));
  for (std::size_t i = 0; i < items.size(); ++i)
    CHECK(tree_of(folder / "t").at(std::to_string(i) + "." + kinds[i].first) == items[i].image);
}

TEST_CASE("keys of any bytes become names of their own") {
  CHECK(files_key("cat/7.v2") == "cat/7.v2");
  CHECK(files_key("") == "");
  CHECK(files_key("a//b") == "a/%2F/b");
  CHECK(files_key("/a/") == "%2F/a/%2F");
  CHECK(files_key("../.x/./..") == "%2E%2E/%2Ex/%2E/%2E%2E");
  CHECK(files_key(".hidden.tar") == "%2Ehidden.tar");
  CHECK(files_key(std::string_view("\0\n\x7f\\%", 5)) == "%00%0A%7F%5C%25");
  CHECK(files_key("k\xc3\xa9y \xe4\xb8\xad\xff\xc3") == "k\xc3\xa9y \xe4\xb8\xad%FF%C3");

  std::mt19937_64 random(41);
  static constexpr const char* parts[] = {"a", "..",   ".",   "",      ".x.y",         "k\xc3\xa9y", "\xff", "tab\t",
                                          "%", "b\\c", "a,b", "\"q\"", "\xe4\xb8\xad", " a ",        "x.",   "\r\n"};
  for (int round = 0; round < 20; ++round) {
    const TempFolder folder;
    std::set<std::string> keys;
    while (keys.size() < 60) {
      std::string key;
      for (std::uint64_t depth = random() % 4; depth != 0; --depth) key += std::string(parts[random() % 16]) + "/";
      keys.insert(key + parts[random() % 16] + std::to_string(random() % 10));
    }
    std::vector<LabelledItem> items;
    for (const std::string& key : keys) items.push_back({key, jpeg + key, static_cast<std::int64_t>(items.size())});
    FilesSink sink({.path = folder / "t", .sync = false});
    REQUIRE(run(sink, items));
    const FilesSource source({.root = folder / "t", .labels = folder / "t/records.csv"});
    REQUIRE(source.size() == items.size());
    CHECK(FilesSource({.root = folder / "t", .label = [](std::string_view) { return 0; }}).size() == items.size());
    std::set<std::string> seen;
    for (std::uint64_t i = 0; i < source.size(); ++i) {
      const LabelledItem& item = items[static_cast<std::size_t>(read_label(source, i))];
      CHECK(source.path(i) == files_key(item.key) + ".jpg");
      CHECK(read_text(source, i) == item.image);
      CHECK(seen.insert(item.key).second);
    }
    FilesSink again({.path = folder / "t", .sync = false});
    REQUIRE(run(again, items));
    CHECK(again.was_finished());
  }
}

TEST_CASE("records without keys, and those that ask for it, are named by position") {
  const TempFolder folder;
  FilesSink sink({.path = folder / "t", .keys = FilesKeys::position, .sync = false});
  REQUIRE(run(sink, {{"same", jpeg, 1}, {"same", png, 2}, {"", "?", 3}}));
  CHECK(tree_of(folder / "t") == Tree{{"00000000.jpg", jpeg},
                                      {"00000001.png", png},
                                      {"00000002.bin", "?"},
                                      {"records.csv", "file,label\n00000000.jpg,1\n00000001.png,2\n00000002.bin,3\n"}});
  FilesSink none({.path = folder / "u", .sync = false});
  REQUIRE(run(none, {{"a", jpeg, 1}, {"", jpeg, 2}}));
  CHECK(tree_of(folder / "u").contains("00000001.jpg"));
}

TEST_CASE("keys that can't be told apart as files are refused") {
  const std::vector<std::string> pairs[] = {{"a", "a"}, {"a", "a.jpg/b"}, {"a.jpg.jpg/b", "a.jpg"}, {"x/y", "x/y"}};
  for (const bool committed : {false, true})
    for (const std::string& second_image : {jpeg, png})
      for (const std::vector<std::string>& keys : pairs) {
        const std::string &first = keys[0], &second = keys[1];
        if (second == "a.jpg" && second_image == png) continue;  // that is a name of its own
        const TempFolder folder;
        FilesSink sink({.path = folder / "t", .sync = false});
        sink.open({labelled_schema, 3});
        put(sink, 0, {first, jpeg, 0});
        if (committed) sink.commit();
        const Error error = error_of([&] { put(sink, 1, {second, second_image, 1}); });
        CAPTURE(first, second, committed, error.what());
        CHECK(error.code() == Errc::invalid_argument);
        CHECK(error.key() == second);
        CHECK(mentions(error, "set keys to position"));
        // It has done nothing, so the sink goes on.
        put(sink, 1, {"other", jpeg, 1});
        sink.commit();
        CHECK(code_of([&] { put(sink, 2, {"other", png, 2}); }) == Errc::invalid_argument);
        put(sink, 2, {"another", png, 2});
        sink.finish();
        CHECK(tree_of(folder / "t").at("records.csv") ==
              "file,label\n" + first + ".jpg,0\nother.jpg,1\nanother.png,2\n");
      }
  // Names of their own.
  const TempFolder folder;
  FilesSink sink({.path = folder / "t", .sync = false});
  CHECK(run(sink, {{"a", jpeg, 0}, {"a.png/b", jpeg, 1}, {"a.jpg", jpeg, 2}, {"a/b", jpeg, 3}, {"A", jpeg, 4}}));
}

TEST_CASE("a key is told apart from those of an earlier run") {
  const TempFolder folder;
  {
    FilesSink sink({.path = folder / "t", .sync = false});
    sink.open({labelled_schema, 3});
    put(sink, 0, {"a", png, 0});
    sink.commit();
  }
  FilesSink sink({.path = folder / "t", .sync = false});
  sink.open({labelled_schema, 3});
  CHECK(sink.has({.position = 0, .index = 0, .key = "a"}));
  const Error error = error_of([&] { put(sink, 1, {"a", jpeg, 1}); });
  CHECK(error.code() == Errc::invalid_argument);
  CHECK(mentions(error, "a.png"));
}

TEST_CASE("names that no folder can have are refused") {
  const auto refused = [](const std::string& key, const std::string& why) {
    const Error error = put_error({{key, jpeg, 0}});
    INFO(error.what());
    return error.code() == Errc::invalid_argument && error.key() == key && mentions(error, why);
  };
  CHECK(refused(std::string(252, 'k'), "256 bytes"));
  CHECK(refused("a/" + std::string(100, '\xff') + "/b", "300 bytes"));
  std::string deep = "x";
  while (deep.size() < 4200) deep += "/" + std::string(100, 'd');
  CHECK(refused(deep, "set keys to position"));
  CHECK(refused("records.csv/a", "are the table's"));
  CHECK(refused("records.csv-unfinished.json/a", "are the table's"));
  const TempFolder folder;
  FilesSink sink({.path = folder / "t", .sync = false});
  CHECK(run(sink, {{std::string(251, 'k'), jpeg, 0},
                   {std::string(255, 'd') + "/k", jpeg, 1},
                   {"records.csv", jpeg, 2},
                   {"a/records.csv/b", jpeg, 3}}));
  CHECK(tree_of(folder / "t").contains("records.csv.jpg"));
}

TEST_CASE("what somebody else puts in the way is not overwritten") {
  const TempFolder folder;
  FilesSink sink({.path = folder / "t", .sync = false});
  sink.open({labelled_schema, 2});
  folder.write("t/a.jpg", "theirs");
  folder.write("t/f", "theirs");
  CHECK(code_of([&] { put(sink, 0, {"a", jpeg, 0}); }) == Errc::invalid_argument);
  CHECK(code_of([&] { put(sink, 0, {"f/a", jpeg, 0}); }) == Errc::invalid_argument);
  put(sink, 0, {"b", jpeg, 0});
  folder.write("t/b.jpg", "theirs");
  CHECK(code_of([&] { sink.commit(); }) == Errc::invalid_argument);
  CHECK(code_of([&] { sink.commit(); }) == Errc::closed);
  CHECK(tree_of(folder / "t").at("b.jpg") == "theirs");
}

TEST_CASE("fields that the table can't have are refused") {
  const TempFolder folder;
  const auto refused = [&](const Schema& schema, const std::string& why, const std::string& field = "image") {
    const Error error = error_of([&] { FilesSink({.path = folder / "t", .field = field}).open({schema, 1}); });
    INFO(error.what());
    CHECK(mentions(error, why));
    CHECK(error.file() == folder / "t");
    return error.code();
  };
  const Field image{"image", DType::u8, {dynamic}};
  CHECK(refused({{"label", DType::i64, {}}}, "image") == Errc::schema_mismatch);
  CHECK(refused({image}, "photo", "photo") == Errc::schema_mismatch);
  CHECK(refused({{"image", DType::u8, {dynamic, dynamic, 3}}}, "encode") == Errc::schema_mismatch);
  CHECK(refused({{"image", DType::u8, {7}}}, "u8[?]") == Errc::schema_mismatch);
  CHECK(refused({{"image", DType::f32, {dynamic}}}, "u8[?]") == Errc::schema_mismatch);
  CHECK(refused({image, {"coords", DType::i64, {2}}}, "drop_fields") == Errc::unsupported);
  CHECK(refused({image, {"text", DType::u8, {dynamic}}}, "\"text\"") == Errc::unsupported);
  CHECK(refused({image, {"file", DType::i64, {}}}, "rename") == Errc::invalid_argument);
  CHECK(refused({image, {"label", DType::i64, {}, {}, {"cat", "dog", "cat"}}}, "name_classes") ==
        Errc::invalid_argument);
  CHECK(refused({image, {"label", DType::i64, {}, {}, {"cat", " "}}}, "class 1") == Errc::invalid_argument);
  CHECK(code_of([&] { FilesSink({.path = ""}).open({labelled_schema, 1}); }) == Errc::invalid_argument);
  CHECK(code_of([&] {
          FilesSink({.path = std::string("a\0b", 3)}).open({labelled_schema, 1});
        }) == Errc::invalid_argument);
  CHECK(tree_of(folder.path()).empty());
}

TEST_CASE("classes are in the table by their names") {
  const TempFolder folder;
  const Schema schema{{"image", DType::u8, {dynamic}},
                      {"label", DType::i64, {}, {}, {"dog", "a \"b\", c", "label", "7"}}};
  const std::vector<LabelledItem> items{
      {"0", jpeg, 0}, {"1", jpeg, 1}, {"2", jpeg, 2}, {"3", jpeg, -1}, {"4", jpeg, 3}};
  FilesSink sink({.path = folder / "t", .sync = false});
  REQUIRE(run(sink, items, items.size(), schema));
  CHECK(tree_of(folder / "t").at("records.csv") ==
        "file,label\n0.jpg,dog\n1.jpg,\"a \"\"b\"\", c\"\n2.jpg,label\n3.jpg,-1\n4.jpg,7\n");
  const FilesSource source({.root = folder / "t", .labels = folder / "t/records.csv"});
  REQUIRE(source.size() == items.size());
  const ClassNames classes = source.schema().at("label").classes;
  CHECK(classes[static_cast<std::size_t>(read_label(source, 1))] == "a \"b\", c");
  CHECK(classes[static_cast<std::size_t>(read_label(source, 2))] == "label");
  // A number without a name must not look like the name of another.
  FilesSink other({.path = folder / "u", .sync = false});
  const Error error = error_of([&] { run(other, {{"0", jpeg, 7}}, 1, schema); });
  CHECK(error.code() == Errc::invalid_argument);
  CHECK(error.key() == "0");
}

TEST_CASE("a stopped run goes on where it was, byte for byte") {
  const std::vector<LabelledItem> items = file_items(40);
  const Tree expected = expected_of(items);
  for (const bool sync : {true, false})
    for (std::size_t stop = 0; stop < items.size(); stop += sync ? 13 : 1) {
      CAPTURE(stop, sync);
      const TempFolder folder;
      const FilesSinkOptions options{.path = folder / "t", .sync = sync};
      {
        FilesSink part(options);
        REQUIRE_FALSE(run(part, items, stop));
        CHECK(code_of([&] { FilesSource({.root = folder / "t"}); }) == Errc::invalid_argument);
        // What was put and not committed is lost.
        if (stop + 1 < items.size()) put(part, stop, items[stop]);
      }
      for (const auto& [name, content] : tree_of(folder / "t"))
        if (expected.contains(name)) CHECK(content == expected.at(name));
      FilesSink rest(options);
      REQUIRE(run(rest, items));
      CHECK_FALSE(rest.was_finished());
      CHECK(tree_of(folder / "t") == expected);
      FilesSink again(options);
      CHECK(run(again, items));
      CHECK(again.was_finished());
      CHECK(tree_of(folder / "t") == expected);
    }
}

TEST_CASE("files that got their names and were not committed are taken away") {
  const std::vector<LabelledItem> items = file_items(20);
  const Tree expected = expected_of(items);
  for (std::size_t stop = 0; stop < items.size(); ++stop)
    for (std::size_t named = 0; named <= 4; ++named) {
      CAPTURE(stop, named);
      const TempFolder folder;
      const FilesSinkOptions options{.path = folder / "t", .sync = false};
      {
        FilesSink part(options);
        REQUIRE_FALSE(run(part, items, stop));
      }
      // As if it had been killed in the next commit.
      std::ofstream table(folder / "t/records.csv.partial", std::ios::app);
      if (stop == 0) table << "file,label\n";
      for (std::size_t i = 0; i < 4; ++i) {
        const std::string name = "c" + std::to_string(i % 2) + "/d/next" + std::to_string(i) + ".jpg";
        table << name << "," << i << "\n";
        if (i < named) folder.write("t/" + name, "not counted");
        if (i >= named) folder.write("t/.unfinished/" + std::to_string(i), "staged");
      }
      table << "class0/torn.jp";
      table.close();
      if (named == 0) std::filesystem::create_directories(folder / "t/c0/d");
      FilesSink rest(options);
      rest.open({labelled_schema, items.size()});
      for (const auto& [name, content] : tree_of(folder / "t"))
        CHECK((expected.contains(name) || name == ".unfinished/" || name.starts_with("records.csv")));
      rest = FilesSink(options);
      REQUIRE(run(rest, items));
      CHECK(tree_of(folder / "t") == expected);
    }
}

TEST_CASE("a run killed while it gave its table the name is finished") {
  const std::vector<LabelledItem> items = file_items(20);
  const Tree expected = expected_of(items);
  for (const std::uint64_t size : {std::uint64_t{20}, unknown_size})
    for (const int step : {0, 1, 2}) {
      const TempFolder folder;
      const FilesSinkOptions options{.path = folder / "t", .sync = false};
      {
        FilesSink part(options);
        part.open({labelled_schema, size});
        for (std::size_t i = 0; i < items.size(); ++i) put(part, i, items[i]);
        part.commit();
      }
      const std::string mark = finishing(tree_of(folder / "t").at("records.csv-unfinished.json"));
      std::ofstream(folder / "t/records.csv-unfinished.json") << mark;
      if (step >= 1) std::filesystem::rename(folder / "t/records.csv.partial", folder / "t/records.csv");
      if (step >= 2) std::filesystem::remove(folder / "t/.unfinished");
      CHECK_THROWS_AS(FilesSource({.root = folder / "t"}), Error);
      FilesSink rest(options);
      rest.open({labelled_schema, size});
      for (std::size_t i = 0; i < items.size(); ++i)
        REQUIRE(rest.has({.position = i, .index = i, .key = items[i].key}));
      // All its records are there, so one more is of another run.
      if (size == unknown_size)
        CHECK(code_of([&] { put(rest, items.size(), {"more", jpeg, 1}); }) == Errc::state_mismatch);
      rest.finish();
      CHECK(tree_of(folder / "t") == expected);
    }
}

TEST_CASE("an unfinished folder is continued by the same job alone") {
  const TempFolder folder;
  const std::vector<LabelledItem> items = file_items(20);
  const FilesSinkOptions options{.path = folder / "t", .job = "one", .sync = false};
  const Schema named{{"image", DType::u8, {dynamic}}, {"label", DType::i64, {}, {}, {"cat", "dog"}}};
  {
    FilesSink part(options);
    REQUIRE_FALSE(run(part, items, 10));
    const Error error = error_of([&] { FilesSink(options).open({labelled_schema, 20}); });
    CHECK(error.code() == Errc::invalid_argument);
    CHECK(mentions(error, "another sink"));
  }
  const Tree before = tree_of(folder / "t");
  const auto attempt = [&](const FilesSinkOptions& other, const Schema& schema = labelled_schema,
                           std::uint64_t size = 20) {
    const Error error = error_of([&] { FilesSink(other).open({schema, size}); });
    CHECK(mentions(error, "delete the folder " + (folder / "t")));
    return error.code();
  };
  FilesSinkOptions other = options;
  other.job = "two";
  CHECK(attempt(other) == Errc::state_mismatch);
  other = options;
  other.keys = FilesKeys::position;
  CHECK(attempt(other) == Errc::state_mismatch);
  CHECK(attempt(options, labelled_schema, 21) == Errc::state_mismatch);
  CHECK(attempt(options, labelled_schema, unknown_size) == Errc::state_mismatch);
  CHECK(attempt(options, {{"image", DType::u8, {dynamic}}}) == Errc::state_mismatch);
  CHECK(attempt(options, named) == Errc::state_mismatch);
  FilesSink other_keys(options);
  std::vector<LabelledItem> renamed = items;
  renamed[9].key = "other";
  const Error error = error_of([&] { run(other_keys, renamed); });
  CHECK(error.code() == Errc::state_mismatch);
  CHECK(mentions(error, items[9].key));
  other_keys = FilesSink(options);
  CHECK(tree_of(folder / "t") == before);
  FilesSink rest(options);
  CHECK(run(rest, items));
}

TEST_CASE("an unfinished folder that was changed is not continued") {
  const std::vector<LabelledItem> items = file_items(20);
  namespace fs = std::filesystem;
  const auto attempt = [&](const auto& change) {
    const TempFolder folder;
    const FilesSinkOptions options{.path = folder / "t", .sync = false};
    {
      FilesSink part(options);
      REQUIRE_FALSE(run(part, items, 10));
    }
    std::ofstream(folder / "t/records.csv.partial", std::ios::app) << "class0/next.jpg,7\n";
    folder.write("t/class0/next.jpg", "not committed");
    change(folder / "t");
    const Tree before = tree_of(folder / "t");
    CHECK(code_of([&] { FilesSink(options).open({labelled_schema, items.size()}); }) == Errc::state_mismatch);
    CHECK(tree_of(folder / "t") == before);
  };
  const auto edit = [](const std::string& file, const std::string& from, const std::string& to) {
    std::string text = text_in(file);
    REQUIRE(text.find(from) != std::string::npos);
    text.replace(text.find(from), from.size(), to);
    std::ofstream(file) << text;
  };
  attempt([](const std::string& t) { fs::remove(t + "/0.jpg"); });
  attempt([](const std::string& t) { fs::remove_all(t + "/class1"); });
  attempt([](const std::string& t) { fs::remove(t + "/records.csv.partial"); });
  attempt([](const std::string& t) { fs::resize_file(t + "/records.csv.partial", 100); });
  attempt([](const std::string& t) { std::ofstream(t + "/records.csv") << "x"; });
  attempt([&](const std::string& t) { edit(t + "/records.csv.partial", "file,label\n0.jpg", "file,labe1\n0.jpg"); });
  attempt([&](const std::string& t) { edit(t + "/records.csv.partial", "0.jpg,0\n", "../0.j,\n"); });
  attempt([&](const std::string& t) { edit(t + "/records.csv.partial", "0.jpg,0\n", "0.jpg,01"); });
  attempt([&](const std::string& t) { edit(t + "/records.csv-unfinished.json", "\"samples\": 10", "\"samples\": 9"); });
  attempt([](const std::string& t) { std::ofstream(t + "/records.csv-unfinished.json") << "{\"format\":"; });
  attempt([](const std::string& t) { std::ofstream(t + "/records.csv-unfinished.json") << "{}"; });
}

TEST_CASE("a folder of others, or of other samples, is never written to") {
  const std::vector<LabelledItem> items = file_items(20);
  for (const char* const name : {"notes.txt", "records.csv.partial", "records.csv", ".hidden", "cat/1.jpg"}) {
    const TempFolder folder;
    folder.write(std::string("t/") + name, "theirs");
    const Tree before = tree_of(folder.path());
    const Error error = error_of([&] { FilesSink({.path = folder / "t"}).open({labelled_schema, 20}); });
    CAPTURE(name, error.what());
    CHECK(error.code() == Errc::invalid_argument);
    CHECK(tree_of(folder.path()) == before);
  }
  const TempFolder folder;
  // What a run leaves that was killed before it had begun.
  folder.write("t/records.csv-unfinished.json.lock", "");
  folder.write("t/records.csv-unfinished.json.new", "{");
  const FilesSinkOptions options{.path = folder / "t", .sync = false};
  FilesSink first(options);
  REQUIRE(run(first, items));
  const Tree before = tree_of(folder / "t");
  CHECK(before == expected_of(items));
  const auto refused = [&](const std::vector<LabelledItem>& other) {
    FilesSink sink(options);
    return code_of([&] { run(sink, other); }) == Errc::invalid_argument;
  };
  std::vector<LabelledItem> renamed = items;
  renamed[19].key = "other";
  CHECK(refused(renamed));
  CHECK(refused(file_items(21)));
  CHECK(refused(file_items(19)));
  CHECK(code_of([&] {
          FilesSink(options).open({{{"image", DType::u8, {dynamic}}, {"x", DType::f32, {}}}, 20});
        }) == Errc::invalid_argument);
  CHECK(tree_of(folder / "t") == before);
  // A file of one's own beside them is no matter, one of them that is gone is.
  folder.write("t/notes.txt", "mine");
  FilesSink again(options);
  CHECK(run(again, items));
  CHECK(again.was_finished());
  std::filesystem::remove(folder / "t/0.jpg");
  const Error error = error_of([&] { FilesSink(options).open({labelled_schema, 20}); });
  CHECK(error.code() == Errc::invalid_argument);
  CHECK(mentions(error, "0.jpg"));
}

namespace {

// Records of which a filter keeps some, or all.
struct Numbers {
  std::uint64_t count = 100;
  std::uint64_t size() const { return count; }
  Schema schema() const { return labelled_schema; }
  std::string key(std::uint64_t i) const { return "n" + std::to_string(i); }
  void read(std::uint64_t i, SampleBuilder& out) const {
    const std::string bytes = jpeg + std::to_string(i);
    std::memcpy(out.emplace<std::uint8_t, 1>(0, {static_cast<std::int64_t>(bytes.size())}).data(), bytes.data(),
                bytes.size());
    out.scalar<std::int64_t>(1, static_cast<std::int64_t>(i));
  }
};

Pipeline every(std::uint64_t count, std::int64_t divisor) {
  return from(Numbers{count}) |
         filter("label", [=](View<const std::int64_t, 0> label) { return label() % divisor == 0; },
                {.name = "every", .version = 1});
}

}  // namespace

TEST_CASE("where a filter stands samples are known by their names") {
  const TempFolder folder;
  const FilesSinkOptions whole{.path = folder / "whole", .sync = false};
  write(every(100, 3), FilesSink(whole), {.threads = 2});
  const Tree expected = tree_of(folder / "whole");
  REQUIRE(expected.size() == 34 + 1);
  for (std::uint64_t commit_every = 2; commit_every < 34; commit_every += 3) {
    const FilesSinkOptions options{.path = folder / ("part" + std::to_string(commit_every)), .sync = false};
    std::stop_source stop;
    WriteOptions first{.threads = 2, .commit_every = commit_every};
    first.stop = stop.get_token();
    first.progress = [&](const WriteProgress&) { stop.request_stop(); };
    write(every(100, 3), FilesSink(options), first);
    // Another filter has samples that are not there between those that are.
    CHECK(code_of([&] { write(every(100, 2), FilesSink(options)); }) == Errc::state_mismatch);
    FilesSink rest(options);
    const WriteProgress done = write(every(100, 3), rest, {.threads = 2});
    CHECK(done.skipped >= commit_every);
    CHECK(tree_of(options.path) == expected);
  }
  FilesSink again(whole);
  CHECK(write(every(100, 3), again).skipped == 34);
  CHECK(again.was_finished());
  for (const Pipeline& other : {every(100, 2), every(90, 3), every(130, 3)})
    CHECK(code_of([&] { write(other, FilesSink(whole)); }) == Errc::invalid_argument);
  CHECK(tree_of(folder / "whole") == expected);
}

TEST_CASE("a run that never commits commits by itself") {
  const TempFolder folder;
  constexpr std::uint64_t most = 65'536;
  const FilesSinkOptions options{.path = folder / "t", .sync = false};
  {
    FilesSink sink(options);
    sink.open({labelled_schema, most + 10});
    for (std::uint64_t i = 0; i < most + 5; ++i) put(sink, i, {std::to_string(i), "", 0});
    const std::filesystem::directory_iterator staged(folder / "t/.unfinished");
    CHECK(std::distance(begin(staged), end(staged)) == 5);
  }
  FilesSink rest(options);
  rest.open({labelled_schema, most + 10});
  CHECK(rest.has({.position = most - 1, .index = 0, .key = std::to_string(most - 1)}));
  CHECK_FALSE(rest.has({.position = most, .index = 0, .key = std::to_string(most)}));
}

TEST_CASE("a folder below which one is unfinished is refused") {
  const TempFolder folder;
  {
    FilesSink sink({.path = folder / "all/train", .sync = false});
    REQUIRE_FALSE(run(sink, file_items(20), 10));
  }
  folder.write("all/test/1.jpg", jpeg);
  folder.write("labels.csv", "test/1.jpg,1\n");
  for (const Files& files :
       {Files{.root = folder / "all"}, Files{.root = folder / "all", .labels = folder / "labels.csv"},
        Files{.root = folder / "all/train"},
        Files{.root = folder / "all/train", .labels = folder / "all/train/records.csv"}}) {
    const Error error = error_of([&] { FilesSource{files}; });
    CHECK(error.code() == Errc::invalid_argument);
    CHECK(mentions(error, "unfinished"));
  }
  FilesSink rest({.path = folder / "all/train", .sync = false});
  REQUIRE(run(rest, file_items(20)));
  CHECK(FilesSource({.root = folder / "all", .extensions = {"jpg", "png", "gif", "bin"}}).size() == 21);
}

TEST_CASE("a full disk is an error, and the run goes on when there is room") {
  const TempFolder folder;
  std::vector<LabelledItem> items = file_items(60);
  items[45].image = jpeg + std::string(60'000, 'l');
  const FilesSinkOptions options{.path = folder / "t", .sync = false};
  {
    const FileLimit small(50'000);
    FilesSink part(options);
    const Error error = error_of([&] { run(part, items); });
    const Error after = error_of([&] { part.commit(); });
    CHECK(error.code() == Errc::io);
    CHECK(mentions(error, "make room"));
    CHECK(error.file() == folder / ("t/" + items[45].key + ".jpg"));
    CHECK(after.code() == Errc::closed);
  }
  FilesSink rest(options);
  CHECK(run(rest, items));
  CHECK(tree_of(folder / "t") == expected_of(items));
}

TEST_CASE("items out of order, or too few, are refused") {
  const TempFolder folder;
  FilesSink sink({.path = folder / "t", .sync = false});
  const Error closed = error_of([&] { sink.commit(); });
  CHECK(closed.code() == Errc::invalid_argument);
  CHECK(closed.source() == "files");
  CHECK(closed.cause() == "FilesSink: open() must come first");
  sink.open({labelled_schema, 3});
  const auto items = file_items(4);
  put(sink, 0, items[0]);
  CHECK(code_of([&] { put(sink, 2, items[2]); }) == Errc::invalid_argument);
  CHECK(code_of([&] { put(sink, 0, items[3]); }) == Errc::invalid_argument);
  CHECK(code_of([&] { sink.finish(); }) == Errc::invalid_argument);
  put(sink, 1, items[1]);
  put(sink, 2, items[2]);
  CHECK(code_of([&] { put(sink, 3, items[3]); }) == Errc::invalid_argument);
  sink.finish();
  CHECK(tree_of(folder / "t") == expected_of({items[0], items[1], items[2]}));
  FilesSink none({.path = folder / "u", .sync = false});
  REQUIRE(run(none, {}));
  CHECK(tree_of(folder / "u") == expected_of({}));
  CHECK(FilesSource({.root = folder / "u", .labels = folder / "u/records.csv"}).size() == 0);
}
