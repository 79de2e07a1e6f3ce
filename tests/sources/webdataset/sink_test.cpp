// SPDX-License-Identifier: Apache-2.0
#include <penstock/sources/webdataset_sink.hpp>

#include <cstring>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/memory.hpp>
#include <penstock/sources/webdataset.hpp>

#include "sources/file_limit.hpp"
#include "sources/journal_text.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "sources/webdataset/sink_checks.hpp"
#include "sources/webdataset/tar_files.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

// Samples of every dtype and of any rank, with a key each.
struct AnyFields {
  Schema fields;
  std::vector<std::string> keys;
  std::uint64_t seed = 0;

  std::uint64_t size() const { return keys.size(); }
  Schema schema() const { return fields; }
  std::string key(std::uint64_t i) const { return keys[i]; }
  void read(std::uint64_t i, SampleBuilder& out) const {
    std::mt19937_64 random(seed * 1'000'003 + i);
    for (std::size_t slot = 0; slot < fields.size(); ++slot) {
      Shape shape = fields[slot].shape;
      for (std::size_t axis = 0; axis < shape.rank(); ++axis)
        if (shape[axis] == dynamic) shape[axis] = static_cast<std::int64_t>(random() % 40);
      const TensorView to = out.emplace(slot, shape);
      for (std::size_t k = 0; k < to.bytes(); ++k)
        to.data[k] = static_cast<std::byte>(fields[slot].dtype == DType::boolean ? random() % 2 : random());
      // Some begin like pictures.
      const std::string_view begin = random() % 2 == 0 ? "\xff\xd8\xff\xe0" : "\x89PNG\r\n\x1a\n";
      if (to.dtype == DType::u8 && to.bytes() > 8 && random() % 2 == 0)
        std::memcpy(to.data, begin.data(), begin.size());
    }
  }
};

Schema random_schema(std::mt19937_64& random) {
  constexpr DType dtypes[] = {DType::u8,  DType::i8,  DType::u16, DType::i16, DType::u32, DType::i32,
                              DType::u64, DType::i64, DType::f16, DType::f32, DType::f64, DType::boolean};
  std::vector<Field> fields;
  for (std::uint64_t count = 1 + random() % 4; count != 0; --count) {
    Field field{"f" + std::to_string(count), dtypes[random() % 12], {}};
    if (random() % 3 == 0) {
      field = {field.name, DType::u8, {dynamic}};
    } else if (random() % 3 != 0) {
      std::vector<std::int64_t> dims(random() % 4);
      for (std::int64_t& dim : dims) dim = random() % 3 == 0 ? dynamic : static_cast<std::int64_t>(random() % 5);
      field.shape = Shape(std::span<const std::int64_t>(dims));
    }
    fields.push_back(field);
  }
  return Schema(std::move(fields));
}

std::string random_key(std::mt19937_64& random, std::size_t number) {
  static constexpr const char* parts[] = {"a",    "..",    ".", "",     "x.y",          "k\xc3\xa9y",
                                          "\xff", "tab\t", "%", "b\\c", "\xe4\xb8\xad", "long"};
  std::string key;
  for (std::uint64_t depth = random() % 4; depth != 0; --depth) {
    key += parts[random() % 12];
    if (random() % 8 == 0) key += std::string(random() % 160, 'q');
    key += "/";
  }
  return key + parts[random() % 12] + std::to_string(number);
}

// The extensions a schema's fields get, in the form a source is asked for them.
std::vector<WebDatasetField> fields_of(const Schema& schema) {
  std::vector<WebDatasetField> fields;
  for (const Field& field : schema) {
    const bool image = field.dtype == DType::u8 && field.shape.rank() == 1 && !field.shape.fixed();
    const bool integer = field.dtype == DType::i64 && field.shape.rank() == 0;
    const bool bare = (image && field.name == "image") || (integer && field.name == "label");
    std::string extensions;
    for (const char* const one : {"jpg", "png", "webp", "gif", "bmp", "tif", "bin", "cls", "npy"})
      if (image ? std::string(one) != "cls" && std::string(one) != "npy"
                : std::string(one) == (integer ? "cls" : "npy"))
        extensions += (extensions.empty() ? "" : ";") + (bare ? "" : field.name + ".") + one;
    fields.push_back({field.name, extensions});
  }
  return fields;
}

}  // namespace

TEST_CASE("any samples come back equal, and Python's tarfile sees the same members") {
  const bool has_python = runs(std::string(python) + " -c 'import tarfile'");
  std::mt19937_64 random(23);
  for (int round = 0; round < 60; ++round) {
    const TempFolder folder;
    AnyFields samples{random_schema(random), {}, static_cast<std::uint64_t>(round)};
    const std::size_t count = random() % 60;
    for (std::size_t i = 0; i < count; ++i) samples.keys.push_back(random_key(random, i));
    WebDatasetSinkOptions options{.path = folder / "out/t"};
    options.max_samples = 1 + random() % 40;
    options.max_bytes = 1024 + random() % 100'000;
    options.sync = round % 10 == 0;
    const WriteProgress progress = write(from(samples), WebDatasetSink(options), {.threads = 2});
    REQUIRE(progress.done == count);

    const WebDatasetSource source({.path = folder / "out", .fields = fields_of(samples.fields)});
    REQUIRE(source.size() == count);
    CHECK(source.without_end() == 0);
    std::map<std::size_t, std::uint64_t> in_shard;
    for (std::uint64_t i = 0; i < count; ++i) {
      ++in_shard[source.shard_of(i)];
      REQUIRE(source.file_of(i) == source.shards()[source.shard_of(i)]);
      const OwnedSample wanted = read_sample(samples, i), got = read_sample(source, i);
      for (const Field& field : samples.fields) {
        const TensorView a = wanted[field.name], b = got[field.name];
        REQUIRE(a.dtype == b.dtype);
        REQUIRE(a.shape == b.shape);
        REQUIRE(text_of(a) == text_of(b));
      }
    }
    std::set<std::string> names;
    for (std::size_t shard = 0; shard < source.shards().size(); ++shard) {
      const std::string& path = source.shards()[shard];
      CHECK(in_shard[shard] <= options.max_samples);
      CHECK((std::filesystem::file_size(path) <= options.max_bytes || in_shard[shard] == 1 || count == 0));
      if (!has_python || round % 6 != 0) continue;
      CHECK(runs("tar -tf " + path));
      const auto members = members_by_python(path);
      CHECK(members.size() == in_shard[shard] * samples.fields.size());
      for (const auto& [name, data] : members) {
        CHECK(names.insert(name).second);
        CHECK(("/" + name).find("/../") == std::string::npos);
        CHECK(("/" + name).find("//") == std::string::npos);
      }
    }
  }
  if (!has_python) PENSTOCK_SKIP("no /usr/bin/python3: no shard was compared with Python's tarfile");
}

TEST_CASE("shards hold what WebDataset expects") {
  const TempFolder folder;
  const std::vector<LabelledItem> items{
      {"cat/1.v2", "\xff\xd8\xff", 3}, {"cat/2", "\x89PNG\r\n\x1a\n", -4}, {"", "?", 5}};
  WebDatasetSink sink({.path = folder / "t", .max_samples = 2});
  REQUIRE(run(sink, items));
  CHECK(files_in(folder.path().string()).size() == 3);  // with what made them
  if (!runs(std::string(python) + " -c 'import tarfile'")) PENSTOCK_SKIP("no /usr/bin/python3 to read shards with");
  using Members = std::vector<std::pair<std::string, std::string>>;
  CHECK(members_by_python(folder / "t-000000.tar") == Members{{"cat/1_v2.jpg", items[0].image},
                                                              {"cat/1_v2.cls", "3"},
                                                              {"cat/2.png", items[1].image},
                                                              {"cat/2.cls", "-4"}});
  CHECK(members_by_python(folder / "t-000001.tar") == Members{{"00000002.bin", "?"}, {"00000002.cls", "5"}});
}

TEST_CASE("extensions are given by name, and checked") {
  const TempFolder folder;
  WebDatasetSink sink({.path = folder / "t", .extensions = {{"image", "seg.Bytes"}, {"label", "txt"}}});
  REQUIRE(run(sink, shard_items(3)));
  const WebDatasetSource source(
      {.path = folder / "t-000000.tar", .fields = {{"image", "seg.bytes"}, {"label", "txt", WebDatasetKind::integer}}});
  CHECK(read_text(source, 1) == shard_items(3)[1].image);
  CHECK(read_label(source, 2) == 2);
  const auto refused = [&](const std::vector<WebDatasetExtension>& extensions, const Schema& schema = labelled_schema) {
    return code_of([&] { WebDatasetSink({.path = folder / "u", .extensions = extensions}).open({schema, 1}); });
  };
  for (const char* const extension : {"", ".jpg", "a/b", "a..b", "a.", "x__", "a b", "\xc3\xa9"})
    CHECK(refused({{"image", extension}}) == Errc::invalid_argument);
  CHECK(refused({{"image", "x"}, {"label", "X"}}) == Errc::invalid_argument);
  CHECK(refused({{"mask", "x"}}) == Errc::schema_mismatch);
  CHECK(refused({}, {}) == Errc::invalid_argument);
  CHECK(refused({}, {{"x", DType::bf16, {3}}}) == Errc::unsupported);
  CHECK(refused({}, {{"a b", DType::f32, {}}, {"a_b", DType::f32, {}}}) == Errc::invalid_argument);
  CHECK(refused({}, {{"a/b", DType::f32, {}}, {"a.b", DType::f32, {}}}) == Errc::invalid_argument);  // one extension
  const auto bad = [&](const WebDatasetSinkOptions& options) {
    return code_of([&] { WebDatasetSink(options).open({labelled_schema, 1}); });
  };
  CHECK(bad({.path = ""}) == Errc::invalid_argument);
  CHECK(bad({.path = folder / "x/"}) == Errc::invalid_argument);
  CHECK(bad({.path = folder / "x", .max_samples = 0}) == Errc::invalid_argument);
  CHECK(files_in(folder.path().string()).size() == 2);
}

TEST_CASE("names of fields, and of classes, come back") {
  struct Named {
    Schema fields;
    std::uint64_t size() const { return 3; }
    Schema schema() const { return fields; }
    void read(std::uint64_t, SampleBuilder& out) const {
      for (const Field& field : fields) {
        const auto bytes = out.emplace(fields.slot(field.name), field.shape.fixed() ? field.shape : Shape{4});
        std::memset(bytes.data, 7, bytes.bytes());
        if (field.name == "image") std::memcpy(bytes.data, "\xff\xd8\xff", 3);
      }
    }
  };
  const Schema schema{{"photo", DType::u8, {dynamic}}, {"label", DType::i64, {}, {}, {"cat", "a b", "\xff"}},
                      {"image", DType::u8, {dynamic}}, {"age", DType::i64, {}, {}, {"young", "old"}},
                      {"box", DType::f32, {4}},        {"a/b c", DType::f64, {}},
                      {"Mask", DType::u8, {2, 2}},     {"jpg", DType::u8, {dynamic}},
                      {"cls", DType::i64, {}}};
  const TempFolder folder;
  write(from(Named{schema}), WebDatasetSink({.path = folder / "t"}));
  const WebDatasetSource source({.path = folder / "t-*.tar"});
  REQUIRE(source.schema().size() == schema.size());
  for (std::size_t slot = 0; slot < schema.size(); ++slot) {
    CHECK(source.schema()[slot].name == (schema[slot].name == "image" || schema[slot].name == "label"
                                             ? schema[slot].name
                                             : webdataset_field(schema[slot].name)));
    CHECK(source.schema()[slot].dtype == schema[slot].dtype);
    CHECK(source.schema()[slot].shape == schema[slot].shape);
    CHECK(source.schema()[slot].classes == schema[slot].classes);
  }
  CHECK(files_in(folder.path().string()).at("t-classes-age.txt") == "young\nold\n");
  CHECK(webdataset_field("a/b c") == "a.b_c");
  CHECK(webdataset_field("Mask") == "mask");
  CHECK(webdataset_field("./x..") == "_.x._");
  CHECK(webdataset_key("a.b/c.d") == "a.b/c_d");
}

TEST_CASE("classes belong to the shards beside them") {
  const TempFolder folder;
  const std::vector<LabelledItem> items = shard_items(20);
  const WebDatasetSinkOptions options{.path = folder / "t", .max_samples = 8};
  const auto schema_of = [](ClassNames classes) {
    Field label = labelled_schema.at("label");
    label.classes = std::move(classes);
    return labelled_schema.with(std::move(label));
  };
  const Schema schema = schema_of({"cat", "dog"});
  const auto code = [&](ClassNames classes) {
    return code_of([&] { WebDatasetSink(options).open({schema_of(std::move(classes)), items.size()}); });
  };
  CHECK(code({"a\nb"}) == Errc::invalid_argument);
  // The list of classes that is there may be of other shards, or made by hand.
  folder.write("t-classes.txt", "bird\n");
  CHECK(code({"cat", "dog"}) == Errc::invalid_argument);
  CHECK(code({}) == Errc::invalid_argument);
  CHECK(files_in(folder.path().string()).size() == 1);
  std::filesystem::remove(folder / "t-classes.txt");
  {
    WebDatasetSink part(options);
    REQUIRE_FALSE(run(part, items, 10, schema));
  }
  CHECK(code({"cat", "fox"}) == Errc::state_mismatch);
  CHECK(code({}) == Errc::state_mismatch);
  WebDatasetSink rest(options);
  REQUIRE(run(rest, items, items.size(), schema));
  CHECK(files_in(folder.path().string()).at("t-classes.txt") == "cat\ndog\n");
  CHECK(code({"cat", "fox"}) == Errc::invalid_argument);
  WebDatasetSink again(options);
  REQUIRE(run(again, items, items.size(), schema));
  CHECK(again.was_finished());
}

TEST_CASE("keys that can't be told apart in a shard are refused, positions always can") {
  const TempFolder folder;
  const std::vector<LabelledItem> items{{"a.b", "1", 1}, {"a_b", "2", 2}};
  WebDatasetSink sink({.path = folder / "t"});
  const Error error = error_of([&] { run(sink, items); });
  CHECK(error.code() == Errc::invalid_argument);
  CHECK(error.key() == "a_b");
  CHECK(mentions(error, "position"));
  WebDatasetSink apart({.path = folder / "u", .max_samples = 1});
  CHECK(run(apart, items));
  WebDatasetSink positions({.path = folder / "v", .keys = WebDatasetKeys::position});
  CHECK(run(positions, items));
  CHECK(WebDatasetSource({.path = folder / "v-*.tar"}).key(1) == "00000001");
  WebDatasetSink longest({.path = folder / "w"});
  CHECK(code_of([&] { run(longest, {{std::string(1025, 'k'), "", 0}}); }) == Errc::invalid_argument);
}

TEST_CASE("a stopped run goes on where it was, byte for byte") {
  const std::vector<LabelledItem> items = shard_items(100);
  const WebDatasetSinkOptions shape{.path = {}, .max_samples = 30, .max_bytes = 60'000};
  const auto at = [&](const std::string& path) {
    WebDatasetSinkOptions options = shape;
    options.path = path;
    return options;
  };
  const TempFolder folder;
  WebDatasetSink whole(at(folder / "whole/t"));
  REQUIRE(run(whole, items));
  const auto expected = files_in(folder / "whole");
  REQUIRE(expected.size() > 3);
  for (const std::size_t stop : {0u, 1u, 29u, 30u, 31u, 50u, 99u}) {
    const std::string path = folder / ("part" + std::to_string(stop));
    {
      WebDatasetSink part(at(path + "/t"));
      REQUIRE_FALSE(run(part, items, stop));
    }
    for (const auto& [name, content] : files_in(path)) CHECK_FALSE(name.ends_with(".tar"));
    CHECK(code_of([&] { WebDatasetSource({.path = path}); }) == Errc::not_found);
    // What was not committed, of this shard and of another one, is cut off.
    const std::uint64_t shards = files_in(path).size() - 1;
    const std::string last = path + "/t-00000" + std::to_string(shards - 1) + ".tar.partial";
    std::ofstream(last, std::ios::app) << std::string(5000, 'x');
    std::ofstream(path + "/t-00000" + std::to_string(shards) + ".tar.partial") << "x";
    WebDatasetSink rest(at(path + "/t"));
    REQUIRE(run(rest, items));
    CHECK_FALSE(rest.was_finished());
    CHECK(files_in(path) == expected);
    WebDatasetSink again(at(path + "/t"));
    CHECK(run(again, items));
    CHECK(again.was_finished());
    CHECK(files_in(path) == expected);
  }
}

TEST_CASE("a run killed while it gave its shards their names is finished") {
  const std::vector<LabelledItem> items = shard_items(50);
  const TempFolder folder;
  WebDatasetSink whole({.path = folder / "whole/t", .max_samples = 10});
  REQUIRE(run(whole, items));
  const auto expected = files_in(folder / "whole");
  REQUIRE(expected.size() == 6);  // five shards, and what made them
  for (std::size_t named = 0; named <= 5; ++named) {
    const std::string path = folder / ("part" + std::to_string(named));
    const WebDatasetSinkOptions options{.path = path + "/t", .max_samples = 10};
    {
      WebDatasetSink part(options);
      part.open({labelled_schema, items.size()});
      for (std::size_t i = 0; i < items.size(); ++i) put(part, i, items[i]);
      part.commit();
    }
    const std::string mark = finishing(file_text(path + "/t.tar-unfinished.json"));
    std::ofstream(path + "/t.tar-unfinished.json") << mark;
    std::ofstream(path + "/t-000004.tar.partial", std::ios::app) << tar_end;
    for (std::size_t i = 0; i < named; ++i) {
      const std::string name = path + "/t-00000" + std::to_string(i) + ".tar";
      std::filesystem::rename(name + ".partial", name);
    }
    CHECK_THROWS_AS(WebDatasetSource({.path = path}), Error);
    WebDatasetSink rest(options);
    REQUIRE(run(rest, items));
    CHECK(files_in(path) == expected);
  }
}

TEST_CASE("shards that are being given their names take no more samples") {
  const TempFolder folder;
  const std::vector<LabelledItem> items = shard_items(4);
  {
    WebDatasetSink part({.path = folder / "t"});
    part.open({labelled_schema, unknown_size});
    for (std::size_t i = 0; i < 3; ++i) put(part, i, items[i]);
    part.commit();
  }
  const std::string mark = finishing(file_text(folder / "t.tar-unfinished.json"));
  std::ofstream(folder / "t.tar-unfinished.json") << mark;
  std::ofstream(folder / "t-000000.tar.partial", std::ios::app) << tar_end;
  WebDatasetSink rest({.path = folder / "t"});
  rest.open({labelled_schema, unknown_size});
  for (std::size_t i = 0; i < 3; ++i) REQUIRE(rest.has({.position = i, .index = i, .key = items[i].key}));
  CHECK(code_of([&] { put(rest, 3, items[3]); }) == Errc::state_mismatch);
  rest.finish();
  CHECK(WebDatasetSource({.path = folder / "t-000000.tar"}).size() == 3);
}

TEST_CASE("an unfinished run is continued by the same job alone") {
  const TempFolder folder;
  const std::vector<LabelledItem> items = shard_items(20);
  const WebDatasetSinkOptions options{.path = folder / "t", .max_samples = 8, .job = "one"};
  {
    WebDatasetSink part(options);
    REQUIRE_FALSE(run(part, items, 10));
    CHECK(code_of([&] { WebDatasetSink(options).open({labelled_schema, 20}); }) == Errc::invalid_argument);
  }
  const auto before = files_in(folder.path().string());
  const auto attempt = [&](WebDatasetSinkOptions other, const Schema& schema = labelled_schema,
                           std::uint64_t size = 20) {
    other.path = options.path;
    const Error error = error_of([&] { WebDatasetSink(other).open({schema, size}); });
    CHECK(mentions(error, "delete"));
    return error.code();
  };
  CHECK(attempt({.path = "", .max_samples = 8, .job = "two"}) == Errc::state_mismatch);
  CHECK(attempt({.path = "", .max_samples = 9, .job = "one"}) == Errc::state_mismatch);
  CHECK(attempt({.path = "", .max_samples = 8, .max_bytes = 9, .job = "one"}) == Errc::state_mismatch);
  CHECK(attempt({.path = "", .keys = WebDatasetKeys::position, .max_samples = 8, .job = "one"}) ==
        Errc::state_mismatch);
  CHECK(attempt({.path = "", .extensions = {{"image", "x"}}, .max_samples = 8, .job = "one"}) == Errc::state_mismatch);
  CHECK(attempt(options, labelled_schema, 21) == Errc::state_mismatch);
  CHECK(attempt(options, {{"image", DType::u8, {dynamic}}}) == Errc::state_mismatch);
  WebDatasetSink other_keys(options);
  std::vector<LabelledItem> renamed = items;
  renamed[9].key = "other";
  CHECK(code_of([&] { run(other_keys, renamed); }) == Errc::state_mismatch);
  other_keys = WebDatasetSink(options);
  CHECK(files_in(folder.path().string()) == before);
  WebDatasetSink rest(options);
  CHECK(run(rest, items));
}

TEST_CASE("unfinished shards that were changed are not continued") {
  const std::vector<LabelledItem> items = shard_items(20);
  const auto attempt = [&](const auto& change) {
    const TempFolder folder;
    const WebDatasetSinkOptions options{.path = folder / "t", .max_samples = 4};
    {
      WebDatasetSink part(options);
      REQUIRE_FALSE(run(part, items, 10));
    }
    change(folder);
    const auto before = files_in(folder.path().string());
    CHECK(code_of([&] { WebDatasetSink(options).open({labelled_schema, items.size()}); }) == Errc::state_mismatch);
    CHECK(files_in(folder.path().string()).size() >= before.size());
  };
  namespace fs = std::filesystem;
  attempt([](const TempFolder& f) { fs::remove(f / "t-000000.tar.partial"); });
  attempt([](const TempFolder& f) { fs::remove(f / "t-000001.tar.partial"); });
  attempt([](const TempFolder& f) { fs::remove(f / "t-000002.tar.partial"); });
  attempt([](const TempFolder& f) { fs::resize_file(f / "t-000002.tar.partial", 100); });
  attempt([](const TempFolder& f) { fs::resize_file(f / "t-000001.tar.partial", 2000); });
  attempt([](const TempFolder& f) { f.write("t-000001.tar.partial", tar_member("a.jpg", "x") + tar_end); });
  attempt([](const TempFolder& f) { f.write("t-000001.tar", "x"); });
  attempt([](const TempFolder& f) { f.write("t.tar-unfinished.json", "{\"format\":"); });
  attempt([](const TempFolder& f) { f.write("t.tar-unfinished.json", "{}"); });
}

TEST_CASE("finished shards, and those of others, are never overwritten") {
  const TempFolder folder;
  const std::vector<LabelledItem> items = shard_items(20);
  const WebDatasetSinkOptions options{.path = folder / "t", .max_samples = 8};
  WebDatasetSink first(options);
  REQUIRE(run(first, items));
  const auto before = files_in(folder.path().string());
  const auto refused = [&](const std::vector<LabelledItem>& other) {
    WebDatasetSink sink(options);
    return code_of([&] { run(sink, other); }) == Errc::invalid_argument;
  };
  std::vector<LabelledItem> renamed = items;
  renamed[19].key = "other";
  CHECK(refused(renamed));
  CHECK(refused(shard_items(21)));
  CHECK(refused(shard_items(19)));
  CHECK(code_of([&] { WebDatasetSink(options).open({{{"x", DType::f32, {}}}, 20}); }) == Errc::invalid_argument);
  // Nor are they taken for shards of another size.
  for (const std::uint64_t samples : {std::uint64_t{7}, std::uint64_t{9}, std::uint64_t{1000}})
    CHECK(code_of([&] {
            WebDatasetSink({.path = folder / "t", .max_samples = samples}).open({labelled_schema, 20});
          }) == Errc::invalid_argument);
  CHECK(code_of([&] {
          WebDatasetSink({.path = folder / "t", .max_samples = 8, .max_bytes = 4096}).open({labelled_schema, 20});
        }) == Errc::invalid_argument);
  CHECK(files_in(folder.path().string()) == before);
  std::filesystem::remove(folder / "t-000001.tar");
  CHECK(refused(items));

  folder.write("u-000000.tar", "not a tar");
  folder.write("v-000000.tar.partial", "something");
  for (const char* const name : {"u", "v"})
    CHECK(code_of([&] {
            WebDatasetSink({.path = folder / name}).open({labelled_schema, 20});
          }) == Errc::invalid_argument);
  CHECK(file_text(folder / "u-000000.tar") == "not a tar");
  CHECK(file_text(folder / "v-000000.tar.partial") == "something");
}

TEST_CASE("finished shards are known again wherever their bounds in bytes lie") {
  const TempFolder folder;
  std::vector<LabelledItem> items = shard_items(60);
  for (std::size_t i = 0; i < items.size(); i += 3) items[i].key += std::string(120, 'k');  // needs a header of its own
  for (const std::uint64_t bytes : {1u, 4096u, 10'000u, 30'000u, 65'536u, 1u << 20}) {
    CAPTURE(bytes);
    const WebDatasetSinkOptions options{.path = folder / ("t" + std::to_string(bytes)), .max_bytes = bytes};
    WebDatasetSink first(options);
    REQUIRE(run(first, items));
    const auto before = files_in(folder.path().string());
    WebDatasetSink again(options);
    REQUIRE(run(again, items));
    CHECK(again.was_finished());
    CHECK(files_in(folder.path().string()) == before);
    WebDatasetSinkOptions others = options;
    others.max_bytes = bytes <= 4096 ? 100'000 : 1;
    CHECK(code_of([&] { WebDatasetSink(others).open({labelled_schema, 60}); }) == Errc::invalid_argument);
  }
}

TEST_CASE("shards beside the mark of an unfinished run are refused") {
  const TempFolder folder;
  WebDatasetSink sink({.path = folder / "t"});
  REQUIRE(run(sink, shard_items(3)));
  CHECK(WebDatasetSource({.path = folder.path().string()}).size() == 3);
  folder.write("t.tar-unfinished.json", "{}");
  const Error error = error_of([&] { WebDatasetSource({.path = folder / "t-000000.tar"}); });
  CHECK(error.code() == Errc::invalid_argument);
  CHECK(mentions(error, "unfinished"));
}

TEST_CASE("a full disk is an error, and the run goes on when there is room") {
  const TempFolder folder;
  const std::vector<LabelledItem> items = shard_items(60);
  WebDatasetSink whole({.path = folder / "whole/t"});
  REQUIRE(run(whole, items));

  const WebDatasetSinkOptions options{.path = folder / "part/t"};
  {
    const FileLimit small(50'000);
    WebDatasetSink part(options);
    const Error error = error_of([&] { run(part, items); });
    const Error after = error_of([&] { part.commit(); });
    CHECK(error.code() == Errc::io);
    CHECK(mentions(error, "make room"));
    CHECK(after.code() == Errc::closed);
  }
  WebDatasetSink rest(options);
  CHECK(run(rest, items));
  CHECK(files_in(folder / "part") == files_in(folder / "whole"));
}

TEST_CASE("items out of order, or too few, are refused") {
  const TempFolder folder;
  WebDatasetSink sink({.path = folder / "t"});
  const Error closed = error_of([&] { sink.commit(); });
  CHECK(closed.code() == Errc::invalid_argument);
  CHECK(closed.source() == "webdataset");
  CHECK(closed.cause() == "WebDatasetSink: open() must come first");
  sink.open({labelled_schema, 3});
  const auto items = shard_items(4);
  put(sink, 0, items[0]);
  CHECK(code_of([&] { put(sink, 2, items[2]); }) == Errc::invalid_argument);
  CHECK(code_of([&] { put(sink, 0, items[3]); }) == Errc::invalid_argument);
  CHECK(code_of([&] { sink.finish(); }) == Errc::invalid_argument);
  put(sink, 1, items[1]);
  put(sink, 2, items[2]);
  CHECK(code_of([&] { put(sink, 3, items[3]); }) == Errc::invalid_argument);
  sink.finish();
  CHECK(WebDatasetSource({.path = folder / "t-000000.tar"}).size() == 3);
}
