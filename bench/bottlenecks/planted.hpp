// SPDX-License-Identifier: Apache-2.0
// Sources and stages whose costs are known. Bottlenecks are made of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <penstock/extend/block_source.hpp>
#include <penstock/extend/device_stage.hpp>
#include <penstock/extend/order.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/penstock.hpp>

#include "web_server.hpp"

namespace bottlenecks {

namespace ps = penstock;

/// Computes until this thread has used `us` microseconds of CPU time. Time without a core does not count.
void spin_us(double us) noexcept;
/// Sleeps, like a thread that waits for a disk.
void sleep_us(double us);

/// A source of records {x: i64[]}. Reading record i calls cost(i). Record i is in file i modulo `files`.
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

/// A stream of the same records. Reading a record takes `cost_us` of CPU time.
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

/// A source whose records are in blocks of `each` records. A block has 1 MiB. Loading a block takes `cost_us` of CPU
/// time and calls `wait`. Block b is in file b modulo `files`.
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

/// Returns a stage that calls cost(x) and leaves the field x unchanged.
ps::Stage work(std::function<void(std::int64_t)> cost);

/// A stage on the device that takes `us` microseconds per batch and changes nothing.
struct Sleeps {
  double us = 0;
  ps::Schema schema(const ps::Schema& in) const { return in; }
  void run(ps::BatchView, ps::BatchView, ps::StreamRef stream) const {
    ps::launch_on_host(stream, "sleeps", [us = us] { sleep_us(us); });
  }
};

/// An LMDB store of records {x: u8[each_bytes]}, whose pages are on the disk and not in memory. Its bytes can't be
/// compressed by a file system. The destructor removes the store.
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

/// An HDF5 file of records {x: u8[each_bytes]} in compressed chunks, whose pages are in memory. The destructor removes
/// the file.
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

/// Tar shards of records {x: u8[20,000]} on a server that sends 4 MB/s over each connection. The destructor stops the
/// server and removes the shards.
class SlowServer {
 public:
  SlowServer();
  SlowServer(const SlowServer&) = delete;
  SlowServer& operator=(const SlowServer&) = delete;
  ~SlowServer();
  /// Returns a pipeline of the records, which come over this many connections.
  ps::Pipeline records(unsigned connections) const;

 private:
  std::filesystem::path folder_;
  std::optional<penstock::bench::WebServer> server_;
};

/// An order that keeps the records' order, and takes `cost_us` of CPU time per record.
struct SlowOrder {
  double cost_us = 0;

  std::uint64_t size(std::uint64_t n) const { return n; }
  void fill(std::uint64_t, std::uint64_t, std::span<ps::OrderPoint> points) const {
    spin_us(cost_us * static_cast<double>(points.size()));
  }
  std::string name() const { return "slow_order"; }
  std::string describe() const { return "slow"; }
};

/// Other processes that keep `cores` cores busy while this object lives.
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
