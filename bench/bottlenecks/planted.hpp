// SPDX-License-Identifier: Apache-2.0
// Parts of a pipeline whose costs are known: what a bottleneck is made of.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <penstock/extend/block_source.hpp>
#include <penstock/extend/device_stage.hpp>
#include <penstock/extend/order.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/penstock.hpp>

namespace bottlenecks {

namespace ps = penstock;

/// Computes for so many microseconds of this thread's own CPU time: a thread without a core gets no further.
void spin_us(double us) noexcept;
/// Sleeps, as a thread does that waits for a disk.
void sleep_us(double us);

/// Records {x: i64[]} that cost what `cost` does for record i, which is in file i modulo `files`.
struct Source {
  std::uint64_t count = 0;
  std::function<void(std::uint64_t)> cost = [](std::uint64_t) {};

  std::uint64_t files = 1;

  std::uint64_t size() const { return count; }
  ps::Schema schema() const { return {{"x", ps::DType::i64, {}}}; }
  std::string name() const { return "planted"; }
  std::string file_of(std::uint64_t i) const { return "file-" + std::to_string(i % files); }
  std::uint64_t identity() const { return count; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    cost(i);
    out.scalar<std::int64_t>(0, static_cast<std::int64_t>(i));
  }
};

/// The same as a stream, whose reading costs `cost_us` of CPU time a record.
struct Stream {
  std::uint64_t count = 0;
  double cost_us = 0;
  std::uint64_t at = 0;

  ps::Schema schema() const { return {{"x", ps::DType::i64, {}}}; }
  void reset(std::uint64_t) { at = 0; }
  bool next(ps::SampleBuilder& out) {
    if (at == count) return false;
    spin_us(cost_us);
    out.scalar<std::int64_t>(0, static_cast<std::int64_t>(at++));
    return true;
  }
};

/// Records that share blocks of `each` records, of which one costs `cost_us` of CPU time to load, and what `wait` does,
/// and takes 1 MiB. Block b is in file b modulo `files`.
struct Blocks {
  std::uint64_t count = 0, each = 1;
  double cost_us = 0;
  std::function<void(std::uint64_t)> wait = {};
  std::uint64_t files = 1;

  std::uint64_t size() const { return count; }
  ps::Schema schema() const { return {{"x", ps::DType::i64, {}}}; }
  std::uint64_t blocks() const { return (count + each - 1) / each; }
  std::uint64_t block_bytes(std::uint64_t) const { return 1u << 20; }
  void blocks_of(std::uint64_t i, std::vector<std::uint64_t>& ids) const { ids.push_back(i / each); }
  std::string file_of(std::uint64_t i) const { return "file-" + std::to_string(i / each % files); }
  void load(std::uint64_t b, std::span<std::byte>) const {
    spin_us(cost_us);
    if (wait) wait(b);
  }
  void read(std::uint64_t i, std::span<const std::span<const std::byte>>, ps::SampleBuilder& out) const {
    out.scalar<std::int64_t>(0, static_cast<std::int64_t>(i));
  }
};

/// A stage of the field x that costs what `cost` does for a record of that value.
ps::Stage work(std::function<void(std::int64_t)> cost);

/// A stage on the device that takes so long for a batch, and changes nothing.
struct Sleeps {
  double us = 0;
  ps::Schema schema(const ps::Schema& in) const { return in; }
  void run(ps::BatchView, ps::BatchView, ps::StreamRef stream) const {
    ps::launch_on_host(stream, "sleeps", [us = us] { sleep_us(us); });
  }
};

/// An LMDB store of records {x: u8[each_bytes]}, of bytes that no file system makes smaller, on the disk and not in
/// memory. It goes with this.
class ColdStore {
 public:
  ColdStore(std::uint64_t records, std::int64_t each_bytes);
  ColdStore(const ColdStore&) = delete;
  ColdStore& operator=(const ColdStore&) = delete;
  ~ColdStore();
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

/// An HDF5 file of records {x: u8[each_bytes]} in compressed chunks, whose pages are in memory. It goes with this.
class KeptDataset {
 public:
  KeptDataset(std::uint64_t records, std::int64_t each_bytes);
  KeptDataset(const KeptDataset&) = delete;
  KeptDataset& operator=(const KeptDataset&) = delete;
  ~KeptDataset();
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

/// The records as they stand, which takes the order `cost_us` of CPU time a record to say.
struct SlowOrder {
  double cost_us = 0;

  std::uint64_t size(std::uint64_t n) const { return n; }
  void fill(std::uint64_t, std::uint64_t, std::span<ps::OrderPoint> points) const {
    spin_us(cost_us * static_cast<double>(points.size()));
  }
  std::string name() const { return "slow_order"; }
  std::string describe() const { return "slow"; }
};

/// Other processes that keep so many cores busy for as long as this lives.
class Neighbours {
 public:
  explicit Neighbours(unsigned cores);
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;
  ~Neighbours();

 private:
  std::vector<int> children_;
};

}  // namespace bottlenecks
