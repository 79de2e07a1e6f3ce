// SPDX-License-Identifier: Apache-2.0
// Tar shards with labels, as shards of pictures have them.
#include <fmt/format.h>

#include <penstock/penstock.hpp>
#include <penstock/sources/webdataset_sink.hpp>
#include <penstock/write.hpp>

#include "data.hpp"
#include "made_once.hpp"

namespace penstock::bench {

namespace {

struct LabelledBytes {
  std::uint64_t records;
  std::size_t bytes;
  std::uint64_t size() const { return records; }
  Schema schema() const { return {{"bin", DType::u8, {dynamic}}, {"label", DType::i64, {}}}; }
  void read(std::uint64_t i, SampleBuilder& out) const {
    const auto to = out.emplace<std::uint8_t, 1>("bin", {static_cast<std::int64_t>(bytes)});
    fill_random(std::as_writable_bytes(std::span(to.data(), bytes)), i);
    constexpr std::uint64_t classes = 1000;
    *out.emplace<std::int64_t, 0>("label", {}).data() = static_cast<std::int64_t>(i % classes);
  }
};

// Returns the bytes that a sample takes in a shard: a header and whole blocks for each of its two members.
std::uint64_t bytes_in_shard(std::size_t bytes) {
  constexpr std::uint64_t block = 512;
  return block + (bytes + block - 1) / block * block + 2 * block;
}

}  // namespace

Store labelled_shards(const Settings& settings, std::size_t bytes) {
  constexpr std::uint64_t shards = 4;
  const std::uint64_t megabytes = settings.quick ? 20 : 280;
  const std::uint64_t in_shard = megabytes * 1'000'000 / bytes_in_shard(bytes) / shards, records = in_shard * shards;
  const std::filesystem::path folder = settings.data / fmt::format("labelled-{}x{}", records, bytes);
  return made_once(folder, records, [&] {
    progress(fmt::format("writing {} labelled records of {} bytes as tar shards", records, bytes));
    write(from(LabelledBytes{records, bytes}),
          WebDatasetSink({.path = (folder / "shard").string(), .max_samples = in_shard}));
    return fmt::format("{} records of {} random bytes and a label, in {} tar shards of {:.0f} MB each", records, bytes,
                       shards, static_cast<double>(in_shard * bytes_in_shard(bytes)) * 1e-6);
  });
}

}  // namespace penstock::bench
