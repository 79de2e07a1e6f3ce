// SPDX-License-Identifier: Apache-2.0
// A few records that become many samples, into real stores: whole, killed and continued.
#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/lmdb.hpp>
#include <penstock/sources/lmdb_sink.hpp>
#include <penstock/sources/memory.hpp>
#include <penstock/sources/webdataset.hpp>
#include <penstock/sources/webdataset_sink.hpp>

#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "sources/webdataset/sink_checks.hpp"
#include "sources/webdataset/tar_files.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

// Slide s has 40 + 30 * s tiles; without keys where `named` is false.
struct Slides {
  bool named = true;
  std::uint64_t size() const { return 4; }
  Schema schema() const { return {{"tiles", DType::i64, {}}}; }
  std::string key(std::uint64_t i) const { return named ? "case-" + std::to_string(i) + ".svs" : ""; }
  void read(std::uint64_t i, SampleBuilder& out) const {
    out.scalar<std::int64_t>("tiles", static_cast<std::int64_t>(40 + 30 * i));
  }
};
// The slides as a stream, one after the other.
struct SlideStream {
  std::uint64_t at = 0;
  Schema schema() const { return Slides{}.schema(); }
  void reset(std::uint64_t) { at = 0; }
  bool next(SampleBuilder& out) {
    if (at == 4) return false;
    Slides{}.read(at++, out);
    return true;
  }
};

// Tiles of any length.
struct Tile {
  std::atomic<std::uint64_t>* made = nullptr;
  Schema schema(const Schema&) const { return {{"image", DType::u8, {dynamic}}, {"label", DType::i64, {}}}; }
  std::string name() const { return "tile"; }
  std::uint32_t count(const Sample& slide, Context&) const {
    return static_cast<std::uint32_t>(slide.scalar<std::int64_t>("tiles"));
  }
  static std::string text(std::uint64_t slide, std::uint32_t tile) {
    return std::string((slide * 131 + tile * 17) % 900, static_cast<char>('a' + (slide + tile) % 26));
  }
  void child(const Sample&, std::uint32_t number, Sample& out, Context& context) const {
    if (made != nullptr) ++*made;
    const std::string bytes = text(context.index(), number);
    auto to = out.emplace<std::uint8_t, 1>("image", {static_cast<std::int64_t>(bytes.size())});
    std::copy(bytes.begin(), bytes.end(), to.data());
    out.emplace<std::int64_t, 0>("label", {})() = number;
  }
};

// The first three of ten tiles in a row are background.
bool has_tissue(std::int64_t tile) { return tile % 10 >= 3; }
Stage tissue() {
  return filter("label", [](View<const std::int64_t, 0> label) { return has_tissue(label()); });
}
Stage all_but_one() {
  return filter("label", [](View<const std::int64_t, 0> label) { return label() % 10 != 0; });
}
Pipeline tiles(std::atomic<std::uint64_t>* made = nullptr) { return from(Slides{}) | Tile{made} | tissue(); }

std::string child_key(const std::string& record, std::uint32_t child) {
  const std::string digits = std::to_string(child);
  return record + "/" + std::string(10 - digits.size(), '0') + digits;
}

using Store = std::map<std::string, std::pair<std::string, std::int64_t>>;  // by key: image, label

Store expected(const std::function<std::string(std::uint64_t, std::uint32_t)>& key) {
  Store store;
  for (std::uint64_t slide = 0; slide < 4; ++slide)
    for (std::uint32_t tile = 0; tile < 40 + 30 * slide; ++tile)
      if (has_tissue(tile)) store[key(slide, tile)] = {Tile::text(slide, tile), tile};
  return store;
}

template <class S>
Store read_all(const S& source) {
  Store store;
  for (std::uint64_t i = 0; i < source.size(); ++i)
    store[source.key(i)] = {read_text(source, i), read_label(source, i)};
  CHECK(store.size() == source.size());
  return store;
}
Store lmdb_at(const std::string& path) { return read_all(LmdbSource({.path = path})); }
Store shards_at(const std::string& path) {
  return read_all(WebDatasetSource({.path = path + "-*.tar", .fields = {{"image", "bin"}, {"label", "cls"}}}));
}

// Ends a run after some puts: what was not committed is lost.
template <class S>
struct Killed {
  S sink;
  std::uint64_t left;
  void open(const SinkJob& job) { sink.open(job); }
  bool has(const SinkItem& item) { return sink.has(item); }
  bool has_some() const { return sink.has_some(); }
  void put(const SinkItem& item, Sample& sample) {
    if (left-- == 0) throw Error(Errc::io, "killed");
    sink.put(item, sample);
  }
  void commit() { sink.commit(); }
  void finish() { sink.finish(); }
  std::string name() const { return sink.name(); }
};
template <class S>
void write_some(const Pipeline& pipeline, S sink, std::uint64_t puts) {
  Killed<S> killed{std::move(sink), puts};
  CHECK(error_of([&] { write(pipeline, killed, {.threads = 2, .commit_every = 10}); }).cause() == "killed");
}

}  // namespace

TEST_CASE("tiles of slides are stored in LMDB, and read back") {
  const TempFolder folder;
  const WriteProgress done = write(tiles(), LmdbSink({.path = folder / "a"}), {.threads = 3});
  const Store by_key = expected([](std::uint64_t slide, std::uint32_t tile) {
    return child_key("case-" + std::to_string(slide) + ".svs", tile);
  });
  CHECK(lmdb_at(folder / "a") == by_key);
  CHECK(done.done == 40 + 70 + 100 + 130);
  CHECK(done.filtered == done.done - by_key.size());
  // In the order of the pipeline, which is that of the keys.
  const LmdbSource source({.path = folder / "a"});
  CHECK(source.key(0) == "case-0.svs/0000000003");
  CHECK(source.key(by_key.size() - 1) == "case-3.svs/0000000129");

  write(tiles(), LmdbSink({.path = folder / "b", .keys = LmdbKeys::position}));
  CHECK(lmdb_at(folder / "b") == expected([](std::uint64_t slide, std::uint32_t tile) {
          return child_key("0000000" + std::to_string(slide), tile);
        }));
  write(from(Slides{.named = false}) | Tile{} | tissue(), LmdbSink({.path = folder / "c"}));
  const Store by_number = expected(
      [](std::uint64_t slide, std::uint32_t tile) { return child_key("000000000" + std::to_string(slide), tile); });
  CHECK(lmdb_at(folder / "c") == by_number);
  write(from(SlideStream{}) | Tile{} | tissue(), LmdbSink({.path = folder / "d"}));
  CHECK(lmdb_at(folder / "d") == by_number);
}

TEST_CASE("tiles of slides are stored in shards, and read back") {
  const TempFolder folder;
  write(tiles(), WebDatasetSink({.path = folder / "a/t", .max_samples = 50}), {.threads = 3});
  CHECK(shards_at(folder / "a/t") == expected([](std::uint64_t slide, std::uint32_t tile) {
          return child_key("case-" + std::to_string(slide) + ".svs", tile);
        }));
  write(tiles(), WebDatasetSink({.path = folder / "b/t", .keys = WebDatasetKeys::position}));
  CHECK(shards_at(folder / "b/t") == expected([](std::uint64_t slide, std::uint32_t tile) {
          return child_key("0000000" + std::to_string(slide), tile);
        }));
}

TEST_CASE("tiling that was killed is continued, and the stores are those of an undisturbed run") {
  const TempFolder folder;
  write(tiles(), LmdbSink({.path = folder / "whole"}));
  write(tiles(), WebDatasetSink({.path = folder / "whole_tar/t", .max_samples = 50}));
  const Store whole = lmdb_at(folder / "whole");
  const auto whole_tar = files_in(folder / "whole_tar");
  REQUIRE(whole_tar.size() == 6);  // with what made them
  std::atomic<std::uint64_t> made{0};
  for (const std::uint64_t puts : {0u, 1u, 10u, 28u, 29u, 125u, static_cast<unsigned>(whole.size() - 1)}) {
    const std::uint64_t there = puts / 10 * 10;
    const std::string name = std::to_string(puts);
    const auto lmdb = [&] { return LmdbSink({.path = folder / ("lmdb" + name)}); };
    write_some(tiles(), lmdb(), puts);
    made = 0;
    WriteProgress done = write(tiles(&made), lmdb(), {.threads = 2});
    CHECK(lmdb_at(folder / ("lmdb" + name)) == whole);
    CHECK(done.skipped == there);
    CHECK(made == done.done - there);

    const std::string path = folder / ("tar" + name);
    const auto shards = [&] { return WebDatasetSink({.path = path + "/t", .max_samples = 50}); };
    write_some(tiles(), shards(), puts);
    made = 0;
    done = write(tiles(&made), shards(), {.threads = 2});
    CHECK(files_in(path) == whole_tar);
    CHECK(done.skipped == there);
    CHECK(made == done.done - there);
  }
  // Once more, nothing changes.
  LmdbSink again({.path = folder / "whole"});
  CHECK(write(tiles(), again).skipped == whole.size());
  CHECK(again.was_finished());
  WebDatasetSink tar_again({.path = folder / "whole_tar/t", .max_samples = 50});
  CHECK(write(tiles(), tar_again).skipped == whole.size());
  CHECK(tar_again.was_finished());
  CHECK(files_in(folder / "whole_tar") == whole_tar);
}

TEST_CASE("a filter that was changed renames nothing: what it lets through beside is added, where a store can") {
  const TempFolder folder;
  const Pipeline other = from(Slides{}) | Tile{} | all_but_one();
  write(other, LmdbSink({.path = folder / "other"}));
  write_some(tiles(), LmdbSink({.path = folder / "lmdb"}), 100);
  write(other, LmdbSink({.path = folder / "lmdb"}), {.threads = 2});
  CHECK(lmdb_at(folder / "lmdb") == lmdb_at(folder / "other"));
  // Shards have an order.
  write_some(tiles(), WebDatasetSink({.path = folder / "tar/t"}), 100);
  const auto before = files_in(folder / "tar");
  CHECK(error_of([&] { write(other, WebDatasetSink({.path = folder / "tar/t"})); }).code() == Errc::state_mismatch);
  CHECK(files_in(folder / "tar") == before);
  // One that lets less through is not asked about what is there.
  write(other, WebDatasetSink({.path = folder / "u"}));
  const Store all = shards_at(folder / "u");
  CHECK(write(tiles(), WebDatasetSink({.path = folder / "u"})).skipped == all.size());
  CHECK(shards_at(folder / "u") == all);
}

TEST_CASE("filtered samples of records, and a shuffled stream's, are stored in shards, and continued") {
  const TempFolder folder;
  Memory memory;
  std::vector<std::int64_t> labels(300);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int64_t>(i);
  memory.add<std::int64_t>("label", {}, std::move(labels));
  struct Numbers {
    std::int64_t at = 0;
    Schema schema() const { return {{"label", DType::i64, {}}}; }
    void reset(std::uint64_t) { at = 0; }
    bool next(SampleBuilder& out) {
      if (at == 300) return false;
      out.scalar<std::int64_t>("label", at++);
      return true;
    }
  };
  int n = 0;
  for (const Pipeline& p : {from(memory) | shuffle({.seed = 2}) | tissue(),
                            from(Numbers{}) | shuffle({.seed = 2, .window = 64}) | tissue()}) {
    const std::string base = folder / std::to_string(n++);
    write(p, WebDatasetSink({.path = base + "/whole/t", .max_samples = 60}));
    const WebDatasetSource whole({.path = base + "/whole/t-*.tar", .fields = {{"label", "cls"}}});
    REQUIRE(whole.size() == 210);
    bool ascends = true;
    for (std::uint64_t i = 1; i < 20; ++i) ascends = ascends && read_label(whole, i - 1) < read_label(whole, i);
    CHECK_FALSE(ascends);
    for (const std::uint64_t puts : {7u, 65u, 209u}) {
      const std::string path = base + "/part" + std::to_string(puts);
      const auto sink = [&] { return WebDatasetSink({.path = path + "/t", .max_samples = 60}); };
      write_some(p, sink(), puts);
      CHECK(write(p, sink(), {.threads = 2}).skipped == puts / 10 * 10);
      CHECK(files_in(path) == files_in(base + "/whole"));
    }
  }
}
