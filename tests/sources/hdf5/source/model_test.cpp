// SPDX-License-Identifier: Apache-2.0
// Random files against H5Dread, row by row. PENSTOCK_SEED starts elsewhere, PENSTOCK_RUNS says how many; a failure
// prints the seed of its files.
#include <penstock/sources/hdf5.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/hdf5/oracle.hpp"
#include "sources/hdf5/random.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

struct Runs {
  std::uint64_t first, count;
};

Runs runs(std::uint64_t first, std::uint64_t count) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  count /= 5;
#endif
  const char* const seed = std::getenv("PENSTOCK_SEED");
  const char* const given = std::getenv("PENSTOCK_RUNS");
  if (seed != nullptr) return {std::strtoull(seed, nullptr, 10), given ? std::strtoull(given, nullptr, 10) : 1};
  return {first, given != nullptr ? std::strtoull(given, nullptr, 10) : count};
}

// One or several random files with the same fields, and what H5Dread gives for them.
struct Store {
  Hdf5 options;
  std::vector<H5Column> columns;
  std::string text;
};

Store make_store(const TempFolder& folder, H5Draw& draw) {
  Store store;
  const std::uint64_t count = draw.one_in(3) ? 2 + draw.below(2) : 1;
  H5Files files = random_files(draw);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i != 0) files = like(files, draw);
    store.text += description(files);
    const std::string path = folder / (std::to_string(i) + ".h5");
    write_h5(path, files);
    const std::vector<H5Column> columns = columns_of(path, files.data);
    if (i == 0)
      store.columns = columns;
    else
      append(store.columns, columns);
    if (count == 1)
      store.options.path = path;
    else
      store.options.paths.push_back(path);
  }
  return store;
}

std::uint64_t max_of_a_record(const Hdf5Source& source) {
  std::uint64_t most = 0;
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    std::vector<std::uint64_t> ids;
    source.blocks_of(i, ids);
    std::uint64_t bytes = 0;
    for (const std::uint64_t id : ids) bytes += source.block_bytes(id);
    most = std::max(most, bytes);
  }
  return most;
}

// Two epochs through a loader; the first difference, or nothing.
std::string through_a_loader(const Store& store, const Hdf5Source& source, H5Draw& draw, const Executor& executor) {
  Pipeline pipeline = from(source);
  const std::uint64_t order = draw.below(3);
  if (order == 1) pipeline = pipeline | shuffle({.seed = draw.bits()});
  if (order == 2)
    pipeline = pipeline | shuffle({.seed = draw.bits(),
                                   .blocks = true,
                                   .window_blocks = 1 + draw.below(4),
                                   .block_size = source.block_ends().empty() ? 1 + draw.below(5) : 0});
  for (const H5Column& column : store.columns)
    if (!column.field.shape.fixed()) pipeline = pipeline | ragged(column.field.name);
  pipeline = pipeline | batch(1 + draw.below(9), {.tail = Tail::keep});
  LoaderOptions options{.executor = executor, .epochs = 2};
  if (draw.one_in(2)) options.max_block_bytes = (1 + draw.below(3)) * (max_of_a_record(source) + 4096);
  Loader loader(pipeline, options);
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::vector<std::uint64_t> seen;
    for (const Batch& b : loader.epoch()) {
      if (std::string text = difference(b, store.columns); !text.empty()) return text;
      seen.insert(seen.end(), b.indices().begin(), b.indices().end());
    }
    if (order != 0) std::ranges::sort(seen);
    for (std::uint64_t i = 0; i < source.size(); ++i)
      if (seen.size() != source.size() || seen[i] != i) return "not every record came once";
  }
  return {};
}

// Stretches of every field; the first difference, or nothing.
std::string in_stretches(const Hdf5Source& source, const std::vector<H5Column>& columns, H5Draw& draw) {
  for (const H5Column& column : columns) {
    if (!column.field.shape.fixed()) continue;
    const std::size_t slot = source.schema().slot(column.field.name);
    const std::size_t each = column.field.shape.elements() * size_of(column.field.dtype);
    for (int times = 0; times < 3; ++times) {
      const std::uint64_t first = draw.below(source.size() + 1);
      const std::uint64_t rows = times == 0 ? source.size() - first : draw.below(source.size() - first + 1);
      std::vector<std::byte> bytes(rows * each);
      source.read_rows(slot, first, rows, bytes);
      for (std::uint64_t row = 0; row < rows; ++row)
        if (std::memcmp(bytes.data() + row * each, column.rows[first + row].bytes.data(), each) != 0)
          return column.field.name + ", row " + std::to_string(row) + " of " + std::to_string(rows) + " from " +
                 std::to_string(first) + " on";
    }
  }
  return {};
}

std::string bad_ends(const Hdf5Source& source) {
  const std::vector<std::uint64_t> ends = source.block_ends();
  if (ends.empty()) return {};
  if (ends.back() != source.size() || !std::ranges::is_sorted(ends, std::less_equal<>{})) return "block_ends";
  return {};
}

}  // namespace

TEST_CASE("any file is read as H5Dread reads it") {
  std::map<std::string, int> ways;
  const auto [first, count] = runs(1000, 400);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const TempFolder folder;
    H5Draw draw(seed);
    const Store store = make_store(folder, draw);
    INFO("seed " << seed << ": " << store.text);
    for (const std::size_t keep_bytes : {std::size_t{0}, Hdf5{}.max_kept_bytes, std::size_t{200}}) {
      INFO("keep_bytes " << keep_bytes);
      Hdf5 options = store.options;
      options.max_kept_bytes = keep_bytes;
      const Hdf5Source source(options);
      REQUIRE(in_stretches(source, store.columns, draw) == "");
      REQUIRE(difference(source, store.columns) == "");
      REQUIRE(bad_ends(source) == "");
      if (keep_bytes == 0)
        for (const Hdf5FieldInfo& field : source.fields()) ++ways[std::string(to_string(field.way))];
    }
  }
  REQUIRE(open_handles() == 0);
  // The draws reach every way; fewer runs may not.
  if (count >= 400)
    for (const char* way : {"contiguous", "chunks", "library", "rows"}) CHECK(ways[way] > 10);
}

TEST_CASE("any file comes through a loader as H5Dread reads it") {
  const std::vector<Executor> executors{Executor(1), Executor(2), Executor(4)};
  const auto [first, count] = runs(500000, 200);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const TempFolder folder;
    H5Draw draw(seed);
    const Store store = make_store(folder, draw);
    if (store.columns.front().rows.empty()) continue;
    INFO("seed " << seed << ": " << store.text);
    Hdf5 options = store.options;
    options.max_kept_bytes = draw.one_in(4) ? options.max_kept_bytes : draw.below(1000);
    const Hdf5Source source(options);
    for (int round = 0; round < 2; ++round)
      REQUIRE(through_a_loader(store, source, draw, executors[draw.below(executors.size())]) == "");
  }
}
