// SPDX-License-Identifier: Apache-2.0
// Chunks that a loader needs next are read ahead from the disk, if they are not in the system's memory.
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <penstock/extend/file_descriptor.hpp>
#include <penstock/penstock.hpp>
#include <penstock/sources/hdf5.hpp>
#include <penstock/sources/hdf5_sink.hpp>
#include <penstock/write.hpp>

#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

constexpr std::uint64_t rows = 4000, values = 2048;

struct Rows {
  std::uint64_t size() const { return rows; }
  Schema schema() const { return {{"x", DType::u8, {values}}}; }
  void read(std::uint64_t i, SampleBuilder& out) const {
    Rng rng(1, 1, {0, i});
    for (std::uint8_t& x : out.emplace<std::uint8_t, 1>("x", {values})) x = static_cast<std::uint8_t>(rng.below(256));
  }
};

// Takes the file out of the system's memory. Returns false if that is impossible, as on a file system in memory.
bool drop_from_memory(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ::fsync(file.get());
  ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  std::byte byte{};
  iovec to{&byte, 1};
  return ::preadv2(file.get(), &to, 1, ::lseek(file.get(), 0, SEEK_END) / 2, RWF_NOWAIT) != 1;
}

std::uint64_t sum_of(Loader& loader) {
  std::uint64_t sum = 0;
  for (const Batch& b : loader.epoch()) {
    const auto x = b.view<const std::uint8_t, 2>("x");
    for (std::int64_t r = 0; r < static_cast<std::int64_t>(b.size()); ++r)
      for (std::int64_t i = 0; i < static_cast<std::int64_t>(values); ++i) sum = sum * 31 + x(r, i);
  }
  return sum;
}

}  // namespace

TEST_CASE("chunks are read ahead while they are not in memory, and the batches are the same") {
  const TempFolder folder;
  const std::string path = folder / "x.h5";
  write(from(Rows{}), Hdf5Sink({.path = path, .single_file = true, .fields = {{.field = "x", .chunk_rows = 16}}}));
  for (const bool shuffled : {false, true}) {
    const auto order = [&](const Pipeline& p) {
      return (shuffled ? p | shuffle({.seed = 2, .blocks = true, .block_size = 16}) : p) | batch(50);
    };
    Loader plain(order(from(Rows{})), {.threads = 1});
    const Hdf5Source source({.paths = {path}, .max_kept_bytes = 0});
    CHECK(source.blocks() == 250);
    CHECK(source.blocks_ahead().blocks > 0);
    Loader loader(order(from(source)), {.threads = 2});
    const bool dropped = drop_from_memory(path);
    const std::uint64_t wanted = sum_of(plain);
    CHECK(sum_of(loader) == wanted);
    if (!dropped) PENSTOCK_SKIP("the file can't be taken out of the system's memory");
    CHECK(source.chunks_advised() > 0);
    // What is in memory is asked for at most now and then.
    const std::uint64_t advised = source.chunks_advised();
    Loader again(order(from(source)), {.threads = 2});
    CHECK(sum_of(again) == wanted);
    CHECK(source.chunks_advised() == advised);
  }
}

TEST_CASE("blocks that are announced and not loaded are forgotten, also as a source ends") {
  const TempFolder folder;
  const std::string path = folder / "x.h5";
  write(from(Rows{}) | take(400),
        Hdf5Sink({.path = path, .single_file = true, .fields = {{.field = "x", .chunk_rows = 16}}}));
  for (int i = 0; i < 20; ++i) {
    const Hdf5Source source({.paths = {path}, .max_kept_bytes = 0});
    std::vector<std::uint64_t> blocks(source.blocks());
    std::iota(blocks.begin(), blocks.end(), std::uint64_t{0});
    source.will_load(blocks);
    if (i % 2 == 0) source.will_not_load(blocks);
    std::vector<std::byte> bytes(source.block_bytes(3));
    source.load(3, bytes);
  }
}

}  // namespace PENSTOCK_TEST_FILE
