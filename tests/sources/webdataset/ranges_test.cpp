// SPDX-License-Identifier: Apache-2.0
// Local shards that are read in ranges, ahead of their use, give the samples that they give otherwise.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <penstock/extend/byte_source.hpp>
#include <penstock/penstock.hpp>
#include <penstock/sources/webdataset.hpp>
#include <penstock/sources/webdataset_sink.hpp>
#include <penstock/write.hpp>

#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/thrown.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

constexpr std::uint64_t samples = 120;

struct Records {
  std::uint64_t size() const { return samples; }
  Schema schema() const { return {{"bin", DType::u8, {dynamic}}, {"label", DType::i64, {}}}; }
  void read(std::uint64_t i, SampleBuilder& out) const {
    Rng rng(3, 3, {0, i});
    for (std::uint8_t& byte : out.emplace<std::uint8_t, 1>("bin", {static_cast<std::int64_t>(rng.below(20'000))}))
      byte = static_cast<std::uint8_t>(rng.below(256));
    out.scalar<std::int64_t>(1, static_cast<std::int64_t>(i));
  }
};

struct Shards {
  Shards() { write(from(Records{}), WebDatasetSink({.path = folder / "train", .max_samples = 50})); }
  WebDataset whole() const { return {.path = folder / "train-{000000..000002}.tar"}; }
  WebDataset in_ranges(std::size_t bytes = 16 << 10) const {
    WebDataset options = whole();
    options.range_bytes = bytes;
    return options;
  }
  TempFolder folder;
};

std::string bytes_of(const Pipeline& p, LoaderOptions options) {
  options.epochs = 2;
  Loader loader(p | ragged("bin") | batch(16), options);
  std::string all;
  for (int epoch = 0; epoch < 2; ++epoch)
    for (const Batch& b : loader.epoch()) {
      const RaggedRows rows = b.ragged("bin");
      for (std::uint64_t r = 0; r < b.size(); ++r)
        all.append(reinterpret_cast<const char*>(rows[r].data), rows[r].bytes());
    }
  return all;
}

}  // namespace

TEST_CASE("shards that are read in ranges give the same samples, fingerprints and batches") {
  const Shards shards;
  const WebDatasetSource whole(shards.whole()), ranges(shards.in_ranges());
  CHECK(whole.blocks() == 0);
  CHECK(ranges.blocks() > 60);
  CHECK(ranges.block_bytes(0) == 16 << 10);
  CHECK(ranges.identity() == whole.identity());
  CHECK(ranges.revision() == whole.revision());
  CHECK(ranges.schema() == whole.schema());
  const auto reader = ranges.open_reader();
  OwnedSample read(ranges.schema());
  for (std::uint64_t i = 0; i < samples; ++i) {
    const OwnedSample a = read_sample(whole, i), b = read_sample(ranges, i);
    SampleBuilder out = read.builder();
    reader->read(i, out);
    for (const OwnedSample* other : {&b, static_cast<const OwnedSample*>(&read)}) {
      REQUIRE(a["bin"].shape == (*other)["bin"].shape);
      CHECK((a["bin"].bytes() == 0 || std::memcmp(a["bin"].data, (*other)["bin"].data, a["bin"].bytes()) == 0));
    }
  }
  for (const std::size_t bytes : {std::size_t{4096}, std::size_t{16} << 10, std::size_t{8} << 20})
    for (const bool shuffled : {false, true}) {
      CAPTURE(bytes, shuffled);
      const auto order = [&](const Pipeline& p) { return shuffled ? p | shuffle({.seed = 2, .blocks = true}) : p; };
      const std::string wanted = bytes_of(order(from(shards.whole())), {.threads = 1});
      for (const unsigned threads : {1u, 3u})
        CHECK((bytes_of(order(from(shards.in_ranges(bytes))), {.threads = threads}) == wanted));
    }
}

TEST_CASE("a shard that is read in ranges and changes while it is open is an error") {
  const auto changed = [](auto change) {
    const Shards shards;
    const WebDatasetSource source(shards.in_ranges());
    const std::string shard = shards.folder / "train-000001.tar";
    change(shard);
    const Error error = error_of([&] { (void)read_sample(source, 60); });
    CHECK(error.code() == (std::filesystem::exists(shard) ? Errc::io : Errc::not_found));
    CHECK(error.file() == shard);
    (void)read_sample(source, 10);  // in another shard
  };
  changed([](const std::string& shard) { std::filesystem::resize_file(shard, 1000); });
  changed([](const std::string& shard) { std::filesystem::remove(shard); });
  changed([](const std::string& shard) {
    std::filesystem::copy_file(shard, shard + ".new");
    std::filesystem::rename(shard + ".new", shard);
  });
  changed([](const std::string& shard) {
    std::filesystem::last_write_time(shard, std::filesystem::last_write_time(shard) + std::chrono::seconds(1));
  });
}

TEST_CASE("sizes of ranges that can't work are refused") {
  const Shards shards;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4095}, (std::size_t{1} << 30) + 1})
    CHECK(code_of([&] { const WebDatasetSource source(shards.in_ranges(bytes)); }) == Errc::invalid_argument);
}

TEST_CASE("a local file has the bytes, the size and the name of a file, and is read only within it") {
  const TempFolder folder;
  std::string text(10'000, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7 / 3);
  folder.write("a.bin", text);
  const auto file = open_local_file(folder / "a.bin", 4096, "mine");
  CHECK(file->size() == 10'000);
  CHECK(file->name() == folder / "a.bin");
  CHECK(file->range_bytes() == 4096);
  std::string read(777, '\0');
  const ByteRange range{1234, 777};
  file->will_read({&range, 1});
  file->read(1234, std::as_writable_bytes(std::span(read)));
  CHECK(read == text.substr(1234, 777));
  file->read(10'000, {});
  for (const std::uint64_t offset : {std::uint64_t{9'224}, std::uint64_t{10'001}, ~std::uint64_t{0}}) {
    const Error error = error_of([&] { file->read(offset, std::as_writable_bytes(std::span(read))); });
    CHECK(error.code() == Errc::invalid_argument);
    CHECK(error.source() == "mine");
  }
  CHECK(code_of([&] { (void)open_local_file(folder / "none", 0, "mine"); }) == Errc::not_found);
  CHECK(code_of([&] { (void)open_local_file(folder.path().string(), 0, "mine"); }) == Errc::invalid_argument);
}

}  // namespace PENSTOCK_TEST_FILE
