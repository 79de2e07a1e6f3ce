// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cstdio>
#include <stdexcept>

#include <fmt/format.h>
#include <penstock/extend/rng.hpp>
#include <penstock/penstock.hpp>
#include <penstock/sources/lmdb.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "../child.hpp"
#include "../data.hpp"
#include "../plain_lmdb.hpp"
#include "rows.hpp"

namespace penstock::bench {

namespace {

std::uint64_t ours(const std::string& folder, unsigned threads) {
  const auto hash = [](View<const std::uint8_t, 1> in, View<std::uint64_t, 0> out) {
    *out.data() = XXH3_64bits(in.data(), in.size());
  };
  const Pipeline pipeline = from(Lmdb{.path = folder, .values = LmdbValues::raw}) | shuffle() |
                            map("image", hash, {.name = "hash", .out = "hash", .shape = Shape{}}) |
                            select_fields({"hash"}) | batch(batch_rows);
  Loader loader(pipeline, {.threads = threads});
  const std::optional<Batch> batch = loader.next();
  const std::uint64_t now = monotonic_ns();
  if (!batch || batch->size() != batch_rows) throw std::runtime_error("no batch");
  return now;
}

// Reads every key into a vector, and then the records of a batch of random keys.
std::uint64_t by_hand(const std::string& folder) {
  const PlainStore store(folder);
  const PlainReader reader(store);
  std::vector<std::string> keys;
  reader.keys([&](std::string_view key) { keys.emplace_back(key); });
  Rng rng(1, 2, Place{});
  std::uint64_t hashes[batch_rows];
  for (std::uint64_t& h : hashes) {
    const std::span<const std::byte> value = reader.get(keys[rng.below(keys.size())]);
    h = XXH3_64bits(value.data(), value.size());
  }
  const std::uint64_t now = monotonic_ns();
  if (XXH3_64bits(hashes, sizeof(hashes)) == 0) throw std::runtime_error("no batch");
  return now;
}

}  // namespace

// Arguments: "ours" or "by_hand", the store, threads. Prints the time at which the batch was there.
int first_batch_child(const std::vector<std::string>& arguments) {
  const bool library = arguments.at(0) == "ours";
  const std::uint64_t now =
      library ? ours(arguments.at(1), static_cast<unsigned>(std::stoul(arguments.at(2)))) : by_hand(arguments.at(1));
  fmt::print("{}\n", now);
  std::fflush(stdout);
  return 0;
}

Row first_batch(const RowSpec& spec, const Settings& settings) {
  const Store store = named_store(settings);
  const auto timed = [&](const char* side) {
    const std::uint64_t begun = monotonic_ns();
    const std::uint64_t there =
        std::stoull(run_child("first_batch", {side, store.folder.string(), std::to_string(settings.threads)}));
    return Timing{static_cast<double>(there - begun) * 1e-9, 0};
  };
  Row row = compare(
      spec, settings, [&] { return timed("ours"); }, [&] { return timed("by_hand"); });
  row.notes.push_back(store.description);
  return row;
}

}  // namespace penstock::bench
