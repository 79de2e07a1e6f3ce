// SPDX-License-Identifier: Apache-2.0
// expect: this source of blocks lacks `void load(std::uint64_t block, std::span<std::byte> bytes) const`
#include <penstock/penstock.hpp>
#include <span>
#include <vector>
namespace ps = penstock;
struct Chunks {
  std::uint64_t size() const { return 1; }
  ps::Schema schema() const { return {{"x", ps::DType::u8, {}}}; }
  std::uint64_t blocks() const { return 1; }
  std::uint64_t block_bytes(std::uint64_t) const { return 1; }
  void blocks_of(std::uint64_t, std::vector<std::uint64_t>& ids) const { ids.push_back(0); }
#ifdef BROKEN
  void load(std::uint64_t, std::span<std::byte>) {}
#else
  void load(std::uint64_t, std::span<std::byte>) const {}
#endif
  void read(std::uint64_t, std::span<const std::span<const std::byte>> b, ps::SampleBuilder& out) const {
    out.view(0, b[0].data(), {});
  }
};
ps::Pipeline p() { return ps::from(Chunks{}); }
