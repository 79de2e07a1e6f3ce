// SPDX-License-Identifier: Apache-2.0
// No memory, not even to say what failed: an Error comes out, never the end of the process.
#include "support/catch.hpp"

#include <cstdlib>
#include <new>

#include "core/help.hpp"

using namespace help;

namespace {
// Failures that belong to this thread, in this round: oneTBB's threads outlive the loader for which they ran out.
std::atomic<int> now{0};
thread_local int round_of_failures = 0, allocations_to_fail = 0;
}  // namespace

void* operator new(std::size_t bytes) {
  if (allocations_to_fail > 0 && round_of_failures == now) {
    --allocations_to_fail;
    throw std::bad_alloc();
  }
  if (void* data = std::malloc(bytes != 0 ? bytes : 1); data != nullptr) return data;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return std::malloc(bytes != 0 ? bytes : 1); }
// Not inlined: the compiler would see what the library got from `new` go to free().
[[gnu::noinline]] void operator delete(void* data) noexcept { std::free(data); }
[[gnu::noinline]] void operator delete(void* data, std::size_t) noexcept { std::free(data); }

namespace {

const std::thread::id caller = std::this_thread::get_id();

// This thread's next `n` allocations fail, of which this is the first. The caller, which may ask an order or help, has
// some left for the Error that it throws in the end.
[[noreturn]] void run_out(int n) {
  allocations_to_fail = (std::this_thread::get_id() == caller ? std::min(n, 2) : n) - 1;
  round_of_failures = now;
  throw std::bad_alloc();
}

struct Order {
  int n;
  std::uint64_t size(std::uint64_t size) const { return size; }
  void fill(std::uint64_t, std::uint64_t, std::span<ps::OrderPoint> points) const {
    for (const ps::OrderPoint& p : points)
      if (p.position == 12) run_out(n);
  }
  std::string name() const { return "order"; }
  std::string describe() const { return ""; }
};

struct NoReader : Records {
  int n = 0;
  struct Reader {
    void read(std::uint64_t, ps::SampleBuilder&) {}
  };
  std::unique_ptr<Reader> open_reader() const { run_out(n); }
};

// A block that can't be loaded, of records of one block each.
struct NoBlock {
  int n = 0;
  std::uint64_t size() const { return 40; }
  ps::Schema schema() const { return {{"x", ps::DType::u64, {}}}; }
  std::string name() const { return "blocks"; }
  std::string key(std::uint64_t i) const { return std::to_string(i); }
  std::uint64_t blocks() const { return 40; }
  std::uint64_t block_bytes(std::uint64_t) const { return 64; }
  void blocks_of(std::uint64_t i, std::vector<std::uint64_t>& ids) const { ids.push_back(i); }
  void load(std::uint64_t block, std::span<std::byte>) const {
    if (block == 12) run_out(n);
  }
  void read(std::uint64_t i, std::span<const std::span<const std::byte>>, ps::SampleBuilder& out) const {
    out.scalar<std::uint64_t>(0, i);
  }
};

}  // namespace

TEST_CASE("a sample, a batch, a block, an order or a reader without memory ends the run with an Error") {
  const Watchdog dog(60s);
  for (int n = 1; n <= 8; ++n) {
    CAPTURE(n);
    const auto stage = [n](ps::Sample&, ps::Context& context) {
      if (context.place().position == 12) run_out(n);
    };
    const auto on_batches = [n](ps::HostBatch& batch) {
      if (batch.number() == 3) run_out(n);
    };
    const ps::Stage four = ps::batch(4);
    const ps::Pipeline samples = ps::from(Records{.count = 40});
    const ps::Pipeline pipelines[] = {
        samples | ps::map(stage) | four,
        samples | Order{n} | four,
        ps::from(NoReader{{.count = 40}, n}) | four,
        ps::from(NoBlock{n}) | four,
        samples | four | ps::map_batches(on_batches),
        samples | four | ps::map_batches(on_batches, {.on = ps::MapBatchesOptions::On::caller})};
    for (const ps::Pipeline& p : pipelines) {
      for (const unsigned threads : {1u, 3u}) {
        ps::Loader loader(p, {.threads = threads});
        std::uint64_t batches = 0;
        const auto error = error_of([&] {
          while (loader.next()) ++batches;
        });
        ++now;
        REQUIRE(error);
        CHECK(error->code() == ps::Errc::out_of_memory);
        CHECK(batches == (&p == &pipelines[2] ? 0 : 3));
      }
      if (&p >= &pipelines[4]) continue;  // write() takes no functions on batches
      CountingSink sink;
      const auto error = error_of([&] { ps::write(p, sink, {.threads = 2}); });
      ++now;
      REQUIRE(error);
      CHECK(error->code() == ps::Errc::out_of_memory);
    }
  }
}
