#include "bench_limits.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <penstock/error.hpp>

namespace penstock::cli {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto duration = std::chrono::milliseconds(200);

// Runs `work(deadline)`, which returns what it got done, on each thread; gives the sum per second.
double rate(unsigned threads, const std::function<double(Clock::time_point)>& work) {
  std::vector<std::thread> workers;
  std::vector<double> done(threads, 0.0);
  const Clock::time_point start = Clock::now(), deadline = start + duration;
  for (unsigned t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      try {
        done[t] = work(deadline);
      } catch (const std::exception&) {  // a limit that can't be measured is left out
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  double sum = 0;
  for (const double d : done) sum += d;
  return sum / std::chrono::duration<double>(Clock::now() - start).count();
}

std::uint64_t touch(const Sample& sample) {
  std::uint64_t sum = 0;
  for (std::size_t slot = 0; slot < sample.schema().size(); ++slot) {
    const auto bytes = sample.bytes(slot);
    sum += XXH3_64bits(bytes.data(), bytes.size());
  }
  return sum;
}

double read_rate(const Store& store, const Pipeline& pipeline, unsigned threads) {
  std::vector<std::uint64_t> order(std::min<std::uint64_t>(pipeline.size(), 65536));
  if (order.empty()) return 0;
  pipeline.fill(0, 0, order);
  std::atomic<std::size_t> next{0};
  std::atomic<std::uint64_t> used{0};
  return rate(threads, [&](Clock::time_point deadline) {
    Store::Reader reader = store.reader();
    double done = 0;
    while (Clock::now() < deadline) {
      try {
        used.fetch_add(touch(reader.read(order[next.fetch_add(1) % order.size()])), std::memory_order_relaxed);
        ++done;
      } catch (const Error&) {
      }
    }
    return done;
  });
}

double memcpy_rate(const Pipeline& pipeline, unsigned threads) {
  std::size_t row = 0;
  for (const Field& field : pipeline.schema()) row += field.shape.elements() * size_of(field.dtype);
  constexpr std::size_t ring = 16u << 20;  // beyond most caches, as batches are
  if (row == 0 || row > ring) return 0;
  return rate(threads, [&](Clock::time_point deadline) {
    std::vector<char> from(ring, 1), to(ring, 2);
    double done = 0;
    for (std::size_t at = 0; Clock::now() < deadline; ++done) {
      if (at + row > ring) at = 0;
      std::memcpy(to.data() + at, from.data() + at, row);
      at += row;
    }
    return done;
  });
}

}  // namespace

Limits measure_limits(const Store& store, const Pipeline& pipeline, unsigned threads) {
  return {read_rate(store, pipeline, threads), memcpy_rate(pipeline, threads)};
}

}  // namespace penstock::cli
