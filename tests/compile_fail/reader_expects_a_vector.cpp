// SPDX-License-Identifier: Apache-2.0
// expect: expect() would never be called, as it has another signature than `void expect(std::span<const std::uint64_t> indices)`
// lines: 36
#include <penstock/penstock.hpp>
namespace ps = penstock;
struct Reader {
  void read(std::uint64_t, ps::SampleBuilder& out) { out.scalar<std::uint8_t>(0, 1); }
#ifdef BROKEN
  void expect(const std::vector<std::uint64_t>&) {}
#else
  void expect(std::span<const std::uint64_t>) {}
#endif
};
struct Numbers {
  std::uint64_t size() const { return 1; }
  ps::Schema schema() const { return {{"x", ps::DType::u8, {}}}; }
  std::unique_ptr<Reader> open_reader() const { return std::make_unique<Reader>(); }
};
ps::Pipeline p() { return ps::from(Numbers{}); }
