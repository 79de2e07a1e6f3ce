// SPDX-License-Identifier: Apache-2.0
// Batches that cost the host next to nothing and tell their numbers, and the loop of a training program.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include <penstock/extend/device_stage.hpp>
#include <penstock/loader.hpp>
#include <penstock/penstock.hpp>

#include "cuda_help.hpp"
#include "load.hpp"

namespace penstock::gpu_bench {

// Record i begins and ends with i; between is what was there.
struct Stamped {
  std::uint64_t count = 0;
  std::int64_t row_bytes = 0;
  std::uint64_t size() const { return count; }
  Schema schema() const { return {{"x", DType::u8, {row_bytes}}}; }
  void read(std::uint64_t i, SampleBuilder& out) const {
    const auto row = out.emplace<std::uint8_t, 1>("x", {row_bytes});
    stamp(i, row.data());
  }
  void stamp(std::uint64_t i, std::uint8_t* row) const {
    std::memcpy(row, &i, sizeof i);
    std::memcpy(row + row_bytes - sizeof i, &i, sizeof i);
  }
};

// A stage that does nothing, but records events on the stream where stages are run: one for each batch, in order.
// Copies share the events.
class Marks {
 public:
  explicit Marks(std::size_t most);
  Schema schema(const Schema& in) const { return in; }
  void run(BatchView in, BatchView out, StreamRef stream) const;
  std::string name() const { return "mark"; }
  std::size_t count() const { return own_->used; }
  const CudaEvent& operator[](std::size_t i) const { return own_->events[i]; }

 private:
  struct Own {
    std::vector<CudaEvent> events;
    std::size_t used = 0;
  };
  std::shared_ptr<Own> own_;
};

struct BatchSize {
  std::uint64_t rows;
  std::int64_t row_bytes;
  std::uint64_t records = ~std::uint64_t{0};  // their numbers begin again after so many; a multiple of `rows`
  std::size_t bytes() const { return rows * static_cast<std::size_t>(row_bytes); }
};

// The steps of an epoch after the first few.
struct LoaderTime {
  double step_s;
  double starved;  // share of the time in which the consumer's stream waited for a batch, by events around each step
};
// One epoch of steps of `load` (none: only a look at the rows' numbers). Rows that were wrong are counted in *wrong.
LoaderTime time_loader(Loader& loader, const CudaStream& stream, const BatchSize& size, const Load* load,
                       unsigned long long* wrong);
constexpr std::uint64_t warm_steps = 10;

// Waits until what loaders have prefetched is copied.
void settle();

struct PlainLoop {
  unsigned depth = 3;                // batches on the device
  bool on_consumers_stream = false;  // copies
  bool on_legacy_stream = false;     // copies; the consumer's stream is one that waits for it
};
// Seconds a step of the same steps written by hand with CUDA's own calls, from one pinned batch that never changes.
double time_plain(const PlainLoop& loop, const BatchSize& size, std::uint64_t steps, const Load& load);

}  // namespace penstock::gpu_bench
