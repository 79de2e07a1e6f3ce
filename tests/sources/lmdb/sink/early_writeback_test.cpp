// SPDX-License-Identifier: Apache-2.0
// When the system is asked to begin writing a transaction to the disk.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include <penstock/sources/lmdb_sink.hpp>

#include "sources/sink_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;
using namespace std::chrono_literals;

namespace {

std::atomic<int> asked{0}, syncs{0};
std::atomic<bool> waits{false};

}  // namespace

// Takes the place of the C library's, for all of this program.
extern "C" {

int sync_file_range(int descriptor, off64_t first, off64_t bytes, unsigned flags) {
  ++asked;
  return static_cast<int>(::syscall(SYS_sync_file_range, descriptor, first, bytes, flags));
}

// LMDB's own, once all pages are written: until the first question, at most so long.
int fdatasync(int descriptor) {
  ++syncs;
  const auto begun = std::chrono::steady_clock::now();
  while (waits && asked == 0 && std::chrono::steady_clock::now() - begun < 10s) std::this_thread::sleep_for(100us);
  return static_cast<int>(::syscall(SYS_fdatasync, descriptor));
}

}  // extern "C"

TEST_CASE("while a large transaction is committed, the system is asked to begin writing it") {
  const TempFolder folder;
  const Schema schema{{"value", DType::u8, {dynamic}}};
  constexpr std::uint64_t values = 100;
  for (const bool synced : {true, false}) {
    CAPTURE(synced);
    LmdbSink sink(
        {.path = folder / (synced ? "a" : "b"), .records = LmdbRecords::raw, .field = "value", .sync = synced});
    sink.open({schema, 2 * values});
    std::uint64_t position = 0;
    // What it was asked while so many bytes a value were committed.
    const auto asked_for = [&](std::int64_t bytes) {
      OwnedSample sample(schema);
      const TensorView value = sample.builder().emplace(0, {bytes});
      std::fill_n(value.data, value.bytes(), std::byte{7});
      for (std::uint64_t i = 0; i < values; ++i, ++position) {
        Sample view = sample.sample();
        sink.put({.position = position, .index = position, .key = {}}, view);
      }
      asked = syncs = 0;
      sink.commit();
      CHECK((syncs != 0) == synced);
      const int then = asked;
      std::this_thread::sleep_for(2ms);
      CHECK(asked == then);  // it ends with the commit
      return then;
    };
    CHECK(asked_for(1000) == 0);
    waits = synced;
    CHECK((asked_for(100'000) != 0) == synced);
    waits = false;
    sink.finish();
  }
}
