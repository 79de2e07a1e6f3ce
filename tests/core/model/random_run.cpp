// SPDX-License-Identifier: Apache-2.0
#include "core/model/random_run.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <map>
#include <utility>

#include <penstock/emulated_gpu.hpp>

#include "loader/tuning.hpp"

using namespace help;

namespace random_run {

bool never_comes(const ps::Pipeline& pipeline) {
  try {
    const ps::Loader loader(pipeline, {.threads = 1});
  } catch (const ps::Error& error) {
    if (!error.cause().starts_with("no batch can ever come: ")) throw;
    return true;
  }
  return false;
}

void play(ps::Loader& loader, u64 epochs, std::size_t most, std::vector<model::Event>& events) {
  while (loader.epoch_number() < epochs && events.size() < most) {
    const u64 epoch = loader.epoch_number();
    try {
      for (ps::Batch& b : loader.epoch()) {
        model::Event e;
        e.epoch = b.epoch();
        e.number = b.number();
        e.indices.assign(b.indices().begin(), b.indices().end());
        e.mask.assign(b.mask().begin(), b.mask().end());
        std::vector<std::byte> bytes;
        for (const ps::Field& f : b.schema()) append_field(b, f, bytes);
        const auto* const data = reinterpret_cast<const std::uint8_t*>(bytes.data());
        e.bytes.assign(data, data + bytes.size());
        events.push_back(std::move(e));
        if (events.size() == most) return;
      }
    } catch (const ps::Error& error) {
      model::Event e;
      e.failed = true;
      e.epoch = epoch;
      e.number = loader.state().number;
      e.code = ps::to_string(error.code());
      e.stage = error.stage();
      e.cause = error.code() == ps::Errc::quota_exceeded ? "" : error.cause();
      const bool lost = error.cause().starts_with("no row is good: ") || error.cause().starts_with("no batch came: ");
      for (auto at = e.cause.npos; (at = e.cause.find("; it is record ")) != e.cause.npos;)
        e.cause.erase(at, e.cause.find(';', at + 1) - at);
      if (const auto at = e.cause.find("; the 8 records drawn to replace it failed too"); at != std::string::npos)
        e.cause.replace(at, std::string::npos, " (so did its stand-ins)");
      for (const auto& [says, means] : {std::pair{"and is padded to", "too long"}, {"fits no batch of", "too large"}})
        if (e.cause.find(says) != std::string::npos)
          e.cause = means + std::string(e.cause.ends_with(" (so did its stand-ins)") ? " (so did its stand-ins)" : "");
      e.index = error.index().value_or(~u64{0});
      if (lost) e = model::lost_epoch(epoch);
      events.push_back(std::move(e));
    }
  }
}

std::string text(const model::Event& e) {
  std::string out = std::to_string(e.epoch) + ":" + std::to_string(e.number) + " ";
  if (e.failed) return out + e.code + " in " + e.stage + ", index " + std::to_string(e.index) + ": " + e.cause;
  for (std::size_t i = 0; i < e.indices.size(); ++i)
    out += std::to_string(static_cast<std::int64_t>(e.indices[i])) + (e.mask[i] != 0 ? " " : "! ");
  u64 hash = 0;
  for (const std::uint8_t b : e.bytes) hash = mix(hash + b);
  return out + "(" + std::to_string(e.bytes.size()) + " bytes, " + std::to_string(hash) + ")";
}

namespace {

// Has loaders that are tuned change what they can, whenever they can: up and down, and begin anew in between.
penstock::detail::runtime::TuneWindow any_window() {
  static std::atomic<u64> count{0};
  auto share = [draw = mix(count.fetch_add(1))]() mutable {
    draw = mix(draw);
    return static_cast<double>(draw % 1000) / 1000;
  };
  penstock::detail::runtime::TuneWindow w;
  w.rate = 1 + share();
  w.wait_share = 1;
  w.no_batch = share();
  w.no_entry = share();
  w.in_work = share();
  w.waiting = share();
  w.saved_by_blocks = share();
  w.blocks_known = share() < 0.5;
  return w;
}

// Shared by all loaders of so many threads.
const ps::Executor& executor(unsigned threads) {
  static const std::map<unsigned, ps::Executor> all = [] {
    std::map<unsigned, ps::Executor> m;
    for (const unsigned t : {1u, 2u, 3u, 5u}) m.emplace(t, ps::Executor(t));
    return m;
  }();
  return all.at(threads);
}

// One that does everything as late as can be, one by chance, and one with threads.
ps::Device device(std::size_t which) {
  using Mode = ps::EmulatedGpuOptions::Mode;
  static const std::array<ps::EmulatedGpu, 3> all{ps::EmulatedGpu({.mode = Mode::late}),
                                                  ps::EmulatedGpu({.mode = Mode::late, .seed = 7}), ps::EmulatedGpu()};
  return all[which % all.size()].device();
}

}  // namespace

ps::LoaderOptions some_options(u64 seed, u64 salt) {
  constexpr unsigned thread_counts[] = {1, 2, 3, 5};
  ps::LoaderOptions options;
  options.executor = executor(thread_counts[mix(seed + salt) % 4]);
  options.depth = static_cast<unsigned>(mix(seed + salt + 1) % 7);
  penstock::detail::runtime::tune_pace = {.ns = 0, .batches = 1, .skips = false, .made_up = any_window};
  options.tune = mix(seed + salt + 60) % 3 == 0;
  if (options.tune && mix(seed + salt + 61) % 2 == 0) options.depth = 0;
  if (mix(seed + salt + 50) % 3 == 0) {
    options.device = device(mix(seed + salt + 51));
    options.device_depth = static_cast<unsigned>(mix(seed + salt + 52) % 4);
  }
  return options;
}

Seeds seeds(u64 first, u64 usual) {
  const char* const given = std::getenv("PENSTOCK_SEED");
  const char* const runs = std::getenv("PENSTOCK_RUNS");
  if (given != nullptr) first = std::strtoull(given, nullptr, 10);
  if (runs != nullptr) return {first, std::strtoull(runs, nullptr, 10)};
  return {first, given != nullptr ? 1 : scaled(usual, 50)};
}

}  // namespace random_run
