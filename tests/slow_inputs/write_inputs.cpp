// SPDX-License-Identifier: Apache-2.0
// What a write of few large samples among many small ones keeps in memory.
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>

#include <penstock/penstock.hpp>
#include <penstock/write.hpp>

#include "slow_inputs/slow_inputs.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

// Every fiftieth of so many records is large.
struct Mixed {
  std::uint64_t count = 0;
  std::uint64_t size() const { return count; }
  Schema schema() const { return {{"x", DType::u8, {dynamic}}}; }
  std::string name() const { return "mixed"; }
  void read(std::uint64_t i, SampleBuilder& out) const {
    const std::int64_t bytes = i * 0x9e3779b97f4a7c15 % 50 == 0 ? 4 << 20 : 100;
    std::memset(out.emplace<std::uint8_t, 1>(0, {bytes}).data(), 1, static_cast<std::size_t>(bytes));
  }
};

struct Nowhere {
  void open(const SinkJob&) {}
  bool has(const SinkItem&) const { return false; }
  void put(const SinkItem&, Sample&) {}
  void commit() {}
  void finish() {}
  std::string name() const { return "nowhere"; }
};

}  // namespace

TEST_CASE("a write takes memory for what waits, not for the largest sample in every place") {
  check_inputs("write", {.seconds = 5, .megabytes = 150},
               {{.name = "n records, one in fifty of them large",
                 .size = 4'000,
                 .make = [](const TempFolder& f, std::size_t n) { f.write("n", std::string(n, '.')); },
                 .use =
                     [](const TempFolder& f) {
                       const std::uint64_t n = std::filesystem::file_size(f / "n");
                       write(from(Mixed{n}), Nowhere{}, {.threads = 4, .max_waiting_bytes = 16 << 20});
                     }}});
}
