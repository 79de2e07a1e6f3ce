// SPDX-License-Identifier: Apache-2.0
// What the tests share that write samples made of something in common.
#pragma once

#include <set>

#include "core/reorder/reordered_help.hpp"

namespace help {

struct Stored {
  std::uint64_t position = 0, index = 0;
  std::optional<std::uint32_t> child;
  std::string key;
  std::vector<std::byte> bytes;  ///< of all fields
  friend bool operator==(const Stored&, const Stored&) = default;
};

// Appends a field: its shape before its values.
inline void append(std::vector<std::byte>& out, const ps::TensorView& value) {
  for (const std::int64_t dim : value.shape.dims())
    for (int i = 0; i < 8; ++i) out.push_back(static_cast<std::byte>(dim >> 8 * i));
  out.insert(out.end(), value.data, value.data + value.bytes());
}

// A store that survives the runs that write to it, as far as they committed.
struct Disk {
  std::vector<Stored> kept;
  std::set<std::string> keys;
  std::uint64_t finished = 0;
};

struct Sink {
  Disk* disk;
  std::optional<std::uint64_t> fail_after = {};  ///< puts of this run; then the disk is full
  std::function<void()> before_put = {};
  std::vector<Stored> uncommitted = {};
  std::uint64_t puts = 0, asked = 0, announced = 0;
  bool some = true;
  std::thread::id thread = std::this_thread::get_id();

  void open(const ps::SinkJob& job) { announced = job.size; }
  bool has(const ps::SinkItem& item) {
    if (std::this_thread::get_id() != thread) std::abort();
    ++asked;
    return disk->keys.contains(item.key);
  }
  bool has_some() const { return some; }
  void put(const ps::SinkItem& item, ps::Sample& sample) {
    if (std::this_thread::get_id() != thread) std::abort();
    if (before_put) before_put();
    if (fail_after == puts) throw ps::Error(ps::Errc::io, "the disk is full");
    ++puts;
    Stored stored{item.position, item.index, item.child, item.key, {}};
    for (std::size_t slot = 0; slot < sample.schema().size(); ++slot) append(stored.bytes, sample.tensor(slot));
    uncommitted.push_back(std::move(stored));
  }
  void commit() {
    for (Stored& stored : uncommitted) {
      if (!disk->keys.insert(stored.key).second) throw ps::Error(ps::Errc::invalid_argument, "one key twice");
      disk->kept.push_back(std::move(stored));
    }
    uncommitted.clear();
  }
  void finish() { ++disk->finished; }
  std::string name() const { return "disk"; }
};

inline std::string digits(std::uint64_t number) {
  const std::string text = std::to_string(number);
  return std::string(10 - text.size(), '0') + text;
}

// Samples of a pipeline with random access, one after the other.
inline std::vector<Stored> one_by_one(const ps::Pipeline& p, std::uint32_t max_children) {
  std::vector<Stored> out;
  for (std::uint64_t position = 0; position < p.size(); ++position) {
    std::uint64_t index = 0;
    p.fill(0, position, {&index, 1});
    for (std::uint32_t child = 0; child < max_children; ++child) try {
        const ps::OwnedSample sample = p.at(position, 0, child);
        Stored stored{position, index, child, "key-" + std::to_string(index) + "/" + digits(child), {}};
        for (const ps::Field& field : p.schema()) append(stored.bytes, sample[field.name]);
        out.push_back(std::move(stored));
      } catch (const ps::Error& error) {  // no such child, left out, or bad
        if (!error.sample_scoped() && error.code() != ps::Errc::not_found) throw;
      }
  }
  return out;
}

// A field as long as the record's number says.
struct Lengthen {
  ps::Schema schema(const ps::Schema& in) const { return in.with({"long", ps::DType::u8, {ps::dynamic, 2}}); }
  std::string name() const { return "lengthen"; }
  void operator()(ps::Sample& sample, ps::Context& context) const {
    const std::int64_t rows = static_cast<std::int64_t>((context.index() + context.place().child) % 5);
    auto to = sample.emplace<std::uint8_t, 2>("long", {rows, 2});
    for (std::int64_t i = 0; i < 2 * rows; ++i)
      to.data()[i] = static_cast<std::uint8_t>(context.index() * 7 + context.place().child + static_cast<unsigned>(i));
  }
};

inline ps::Stage odd_part() {
  return ps::filter([](const ps::Sample& sample, ps::Context&) { return sample.scalar<std::uint32_t>("part") != 1; });
}

inline ps::Pipeline tiles(Records source, Parts parts = {}) {
  return ps::from(std::move(source)) | ps::shuffle({.seed = 3}) | parts | odd_part() | AddDraw{} | Lengthen{};
}

inline ps::WriteProgress write_to(Disk& disk, const ps::Pipeline& p, const ps::WriteOptions& options = {.threads = 2}) {
  Sink sink{&disk};
  return ps::write(p, sink, options);
}

}  // namespace help
