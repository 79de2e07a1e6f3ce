// SPDX-License-Identifier: Apache-2.0
// A source of blocks, for tests.
#pragma once

#include "support/catch.hpp"

#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>

#include "core/reorder/reordered_help.hpp"

namespace help {

// x: u64[4] of record i lies in block i / per_block; every `spanning`-th record has its second half in the next block.
struct Chunks {
  struct Shared {
    std::mutex mutex;
    std::map<std::uint64_t, std::uint64_t> loads;  ///< how often each block was decoded
    std::map<std::uint64_t, Fault> faults;         ///< by block
    std::function<void(std::uint64_t)> before_load;
    std::atomic<std::uint64_t> parts{0};  ///< made for one record alone
    std::atomic<std::uint64_t> at_once{0}, max_at_once{0};
  };
  std::uint64_t count = 0, per_block = 8, spanning = 0;
  bool rows = false;   ///< blocks are rows, and say so
  bool spare = false;  ///< records can do without blocks, but for every fifth one
  std::shared_ptr<Shared> shared = std::make_shared<Shared>();

  std::uint64_t size() const { return count; }
  ps::Schema schema() const { return {{"x", ps::DType::u64, {4}}}; }
  std::string name() const { return "chunks"; }
  std::string key(std::uint64_t i) const { return "row " + std::to_string(i); }
  std::uint64_t blocks() const { return (count + per_block - 1) / per_block; }
  // Blocks are not all of one size, but where they are rows.
  std::uint64_t block_bytes(std::uint64_t b) const { return per_block * 32 + (b % 3 == 0 && !rows ? 32 : 0); }
  std::optional<ps::BlockRows> rows_of(std::uint64_t b) const {
    if (!rows || (b + 1) * per_block > count) return std::nullopt;
    return ps::BlockRows{0, b * per_block, per_block};
  }
  bool can_do_without(std::uint64_t b) const { return spare && b % 5 != 4; }
  std::vector<std::uint64_t> block_ends() const {
    std::vector<std::uint64_t> ends;
    for (std::uint64_t b = 1; b <= blocks(); ++b) ends.push_back(std::min(count, b * per_block));
    return ends;
  }
  void blocks_of(std::uint64_t i, std::vector<std::uint64_t>& ids) const {
    ids.push_back(i / per_block);
    if (spanning != 0 && i % spanning == 0 && i / per_block + 1 < blocks()) ids.push_back(i / per_block + 1);
  }
  void load(std::uint64_t b, std::span<std::byte> bytes) const {
    const std::uint64_t now = ++shared->at_once;
    for (std::uint64_t seen = shared->max_at_once;
         seen < now && !shared->max_at_once.compare_exchange_weak(seen, now);) {
    }
    {
      const std::lock_guard lock(shared->mutex);
      ++shared->loads[b];
    }
    if (shared->before_load) shared->before_load(b);
    --shared->at_once;
    if (bytes.size() != block_bytes(b)) throw ps::Error(ps::Errc::invalid_argument, "not the block's size");
    for (std::size_t k = 0; k < bytes.size() / 8; ++k) {
      const std::uint64_t value = mix(b * 1000 + k);
      std::memcpy(bytes.data() + 8 * k, &value, 8);
    }
    if (const auto fault = shared->faults.find(b); fault != shared->faults.end()) raise(fault->second);
  }
  void read(std::uint64_t i, std::span<const std::span<const std::byte>> blocks, ps::SampleBuilder& out) const {
    const std::size_t at = i % per_block * 32;
    if (blocks.size() == 1 && !blocks[0].empty()) return out.view(0, blocks[0].data() + at, {4});
    auto x = out.emplace<std::uint64_t, 1>(0, {4});
    for (std::uint64_t j = 0; j < 4; ++j) {
      const std::span<const std::byte> block = j >= 2 ? blocks.back() : blocks.front();
      const std::uint64_t number = i / per_block + (j >= 2 && blocks.size() == 2 ? 1 : 0);
      if (!block.empty()) {
        std::memcpy(x.data() + j, block.data() + at + 8 * j, 8);
        continue;
      }
      if (!can_do_without(number)) throw ps::Error(ps::Errc::invalid_argument, "a block is not there");
      if (j == 0 || (j == 2 && blocks.size() == 2)) ++shared->parts;
      x.data()[j] = mix(number * 1000 + i % per_block * 4 + j);
    }
  }
  std::uint64_t x_of(std::uint64_t i, std::uint64_t j) const {
    std::vector<std::uint64_t> ids;
    blocks_of(i, ids);
    return mix((j >= 2 ? ids.back() : ids.front()) * 1000 + i % per_block * 4 + j);
  }
  std::uint64_t decodes() const {
    const std::lock_guard lock(shared->mutex);
    std::uint64_t n = 0;
    for (const auto& [block, times] : shared->loads) n += times;
    return n;
  }
};

inline void check_values(const Chunks& source, const ps::Batch& b) {
  const auto x = b.view<std::uint64_t, 2>("x");
  for (std::int64_t r = 0; r < x.extent(0); ++r)
    for (std::int64_t j = 0; j < 4; ++j)
      REQUIRE(x(r, j) == source.x_of(b.indices()[static_cast<std::size_t>(r)], static_cast<std::uint64_t>(j)));
}

// The rule, one sample after the other: a block that is not there is decoded; where there is no room, that one goes
// whose next use among the next `ahead` samples is farthest, of those without one that was used longest ago; of two
// alike, the one with the higher number. A block that its record can do without is decoded only where there is room, or
// where two more of those samples need it, and all that would go for it are used later than it is used again.
inline std::uint64_t decodes_of(const Chunks& source, const std::vector<std::uint64_t>& order, std::size_t limit,
                                std::size_t ahead) {
  struct In {
    std::uint64_t block;
    std::size_t used;
  };
  std::vector<In> in;
  std::uint64_t decodes = 0;
  const auto blocks_of = [&](std::uint64_t i) {
    std::vector<std::uint64_t> ids;
    source.blocks_of(i, ids);
    return ids;
  };
  for (std::size_t n = 0; n < order.size(); ++n) {
    const std::vector<std::uint64_t> need = blocks_of(order[n]);
    const auto needed = [&](std::uint64_t b) { return std::ranges::find(need, b) != need.end(); };
    constexpr std::size_t never = std::numeric_limits<std::size_t>::max();
    const auto next_use = [&](std::uint64_t block) {
      for (std::size_t later = n + 1; later < std::min(order.size(), n + 1 + ahead); ++later) {
        const auto ids = blocks_of(order[later]);
        if (std::ranges::find(ids, block) != ids.end()) return later;
      }
      return never;
    };
    const auto uses = [&](std::uint64_t block) {
      std::size_t count = 0;
      for (std::size_t later = n + 1; later < std::min(order.size(), n + 1 + ahead); ++later) {
        const auto ids = blocks_of(order[later]);
        count += std::ranges::find(ids, block) != ids.end() ? 1 : 0;
      }
      return count;
    };
    const auto rank = [&](const In& i) {
      const std::size_t later = next_use(i.block);
      return std::tuple<std::size_t, std::size_t, std::uint64_t>{later, later == never ? order.size() - i.used : 0,
                                                                 i.block};
    };
    const auto there = [&](std::uint64_t b) { return std::ranges::find(in, b, &In::block) != in.end(); };
    std::size_t bytes = 0;
    for (const In& i : in) bytes += source.block_bytes(i.block);
    // The one that would go first, of those that are used after `later`.
    const auto worst_after = [&](std::size_t later) {
      auto worst = in.end();
      for (auto i = in.begin(); i != in.end(); ++i)
        if (!needed(i->block) && (later == 0 || next_use(i->block) > later) &&
            (worst == in.end() || rank(*i) > rank(*worst)))
          worst = i;
      return worst;
    };
    const auto decode = [&](std::uint64_t b) {
      ++decodes;
      in.push_back({b, n});
      bytes += source.block_bytes(b);
    };
    std::vector<std::uint64_t> must, may;
    for (const std::uint64_t b : need)
      if (!there(b)) (source.can_do_without(b) ? may : must).push_back(b);
    std::size_t missing = 0;
    for (const std::uint64_t b : must) missing += source.block_bytes(b);
    while (bytes + missing > limit) {
      const auto worst = worst_after(0);
      bytes -= source.block_bytes(worst->block);
      in.erase(worst);
    }
    for (const std::uint64_t b : must) decode(b);
    for (const std::uint64_t b : may) {
      const std::size_t size = source.block_bytes(b), later = next_use(b);
      std::size_t removable = 0;
      for (const In& i : in)
        if (!needed(i.block) && next_use(i.block) > later) removable += source.block_bytes(i.block);
      if (bytes + size > limit && (uses(b) < 2 || bytes + size - removable > limit)) continue;
      while (bytes + size > limit) {
        const auto worst = worst_after(later);
        bytes -= source.block_bytes(worst->block);
        in.erase(worst);
      }
      decode(b);
    }
    for (const std::uint64_t b : need)
      if (const auto found = std::ranges::find(in, b, &In::block); found != in.end()) found->used = n;
  }
  return decodes;
}

}  // namespace help
