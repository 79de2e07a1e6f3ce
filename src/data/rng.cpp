// SPDX-License-Identifier: Apache-2.0
#include <penstock/extend/rng.hpp>

#include <Random123/philox.h>

namespace penstock {

namespace {

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) noexcept {
  const r123::Philox4x32::ctr_type c = {{counter[0], counter[1], counter[2], counter[3]}};
  const r123::Philox4x32::key_type k = {{key[0], key[1]}};
  const auto out = r123::Philox4x32{}(c, k);
  return {out[0], out[1], out[2], out[3]};
}
std::uint32_t low(std::uint64_t v) noexcept { return static_cast<std::uint32_t>(v); }
std::uint32_t high(std::uint64_t v) noexcept { return static_cast<std::uint32_t>(v >> 32); }

}  // namespace

// A place has 192 bits, and seed and stage have 128 bits, which is too much for one Philox call. So a first call turns
// seed, stage and epoch into a key. Later calls use that key. Their counter has the position, the child, the attempt,
// and the number of the call.
Rng::Rng(std::uint64_t seed, std::uint64_t stage_key, const Place& place) noexcept {
  const auto key =
      philox({low(stage_key), high(stage_key), low(place.epoch), high(place.epoch)}, {low(seed), high(seed)});
  key_ = {key[0], key[1]};
  counter_ = {low(place.position), high(place.position), place.child, place.attempt << 24};
}

void Rng::refill() noexcept {
  drawn_ = true;
  words_ = philox(counter_, key_);
  ++counter_[3];  // 2^24 calls (64 Mi numbers) per attempt; then the next attempt's numbers begin
  used_ = 0;
}

std::uint64_t Rng::below(std::uint64_t n) noexcept {
  const auto multiply = [n](std::uint64_t x) { return static_cast<unsigned __int128>(x) * n; };
  unsigned __int128 m = multiply(u64());
  if (static_cast<std::uint64_t>(m) < n) {
    const std::uint64_t threshold = (0 - n) % n;
    while (static_cast<std::uint64_t>(m) < threshold) m = multiply(u64());
  }
  return static_cast<std::uint64_t>(m >> 64);
}

}  // namespace penstock
