// SPDX-License-Identifier: Apache-2.0
// Batches that cost the host next to nothing and whose rows have their numbers in them, and a training loop for them.
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

// A source whose record i begins and ends with the number i. The bytes between are not written.
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

// A stage that only records an event per batch, in order, on the stream of the stages. Copies of a Marks share the
// events.
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
  std::uint64_t records = ~std::uint64_t{0};  // after this many records, numbers begin at 0 again; a multiple of `rows`
  std::size_t bytes() const { return rows * static_cast<std::size_t>(row_bytes); }
};

// The times of an epoch's steps, without its first `warm_steps` steps.
struct LoaderTime {
  double step_s;
  double starved;  // share of the time in which the consumer's stream waited for batches, measured by events around
                   // each step
};
// Times one epoch with steps of `load`. If `load` is null, a step only checks the rows' numbers. Counts rows with wrong
// numbers in *wrong.
LoaderTime time_loader(Loader& loader, const CudaStream& stream, const BatchSize& size, const Load* load,
                       unsigned long long* wrong);
constexpr std::uint64_t warm_steps = 10;

// Waits until the batches that loaders have prefetched are copied.
void settle();

struct PlainLoop {
  unsigned depth = 3;                // number of batches on the device
  bool on_consumers_stream = false;  // copies on the consumer's stream
  bool on_legacy_stream = false;     // copies on the legacy stream, for which the consumer's stream waits
};
// Returns the seconds per step of a loop written by hand with CUDA's own calls. It copies one pinned batch again and
// again.
double time_plain(const PlainLoop& loop, const BatchSize& size, std::uint64_t steps, const Load& load);

}  // namespace penstock::gpu_bench
