// SPDX-License-Identifier: Apache-2.0
// Which of the user's limits an error of memory names: the one that is too small, and none that would not help.
#include "support/catch.hpp"

#include <penstock/write.hpp>

#include "core/delivery/device_help.hpp"

using namespace help;

namespace {

// Records of one block each.
struct LargeBlocks {
  std::uint64_t bytes = 0;
  std::uint64_t size() const { return 8; }
  ps::Schema schema() const { return {{"x", ps::DType::u8, {1}}}; }
  std::uint64_t blocks() const { return 8; }
  std::uint64_t block_bytes(std::uint64_t) const { return bytes; }
  void blocks_of(std::uint64_t i, std::vector<std::uint64_t>& ids) const { ids.push_back(i); }
  void load(std::uint64_t, std::span<std::byte> out) const { out[0] = std::byte{1}; }
  void read(std::uint64_t, std::span<const std::span<const std::byte>> blocks, ps::SampleBuilder& out) const {
    out.view(0, blocks[0].data(), {1});
  }
};

// Records of one row of any length.
struct Rows {
  std::int64_t length = 0;
  std::uint64_t size() const { return 64; }
  ps::Schema schema() const { return {{"x", ps::DType::u8, {ps::dynamic}, ps::Collate::ragged()}}; }
  void read(std::uint64_t, ps::SampleBuilder& out) const {
    for (std::uint8_t& v : out.emplace<std::uint8_t, 1>("x", {length})) v = 7;
  }
};

// A large value on the way to a small one.
struct Grown {
  ps::Schema schema(const ps::Schema& in) const { return in.with({"x", ps::DType::u8, {ps::dynamic}}); }
  void operator()(ps::Sample& sample, ps::Context&) const { (void)sample.emplace<std::uint8_t, 1>("x", {32 << 20}); }
};
struct Shrunk {
  ps::Schema schema(const ps::Schema& in) const { return in.with({"x", ps::DType::u8, {1}}); }
  void operator()(ps::Sample& sample, ps::Context&) const { sample.emplace<std::uint8_t, 1>("x", {1})(0) = 1; }
};

constexpr std::string_view limits[] = {"max_memory_bytes", "max_block_bytes", "max_reorder_bytes", "max_pinned_bytes",
                                       "max_device_bytes"};
constexpr std::size_t MiB = 1u << 20;

// The limits that are named by the error that ends an epoch, or stands before it.
std::vector<std::string_view> named_by(const std::function<void()>& run) {
  std::vector<std::string_view> named;
  const auto error = error_of(run);
  REQUIRE(error);
  UNSCOPED_INFO(error->what());
  for (const std::string_view limit : limits)
    if (error->cause().find("`" + std::string(limit) + "`") != std::string::npos) named.push_back(limit);
  return named;
}

std::vector<std::string_view> named_by(const ps::Pipeline& pipeline, ps::LoaderOptions options) {
  options.threads = 1;
  options.epochs = 1;
  return named_by([&] {
    ps::Loader loader(pipeline, options);
    for (const ps::Batch& batch : loader.epoch()) (void)batch;
  });
}

}  // namespace

TEST_CASE("an error of memory names the limit that is too small and no other") {
  const Watchdog watchdog(60s);
  using Names = std::vector<std::string_view>;
  const Records records{.count = 64, .width = 4096};
  const auto batches = ps::from(records) | ps::batch(8);
  const auto block = [](std::uint64_t bytes) { return ps::from(LargeBlocks{bytes}) | ps::batch(2); };
  const auto rows = [](std::int64_t length) { return ps::from(Rows{length}) | ps::batch(16); };
  ps::EmulatedGpu gpu;

  SECTION("batches of fixed size") {
    CHECK(named_by(batches, {.max_memory_bytes = 100'000}) == Names{"max_memory_bytes"});
    CHECK(named_by(batches, {.device = gpu.device(), .max_device_bytes = 100'000}) == Names{"max_device_bytes"});
    CHECK(named_by(batches, {.device = gpu.device(), .max_pinned_bytes = 100'000}) == Names{"max_pinned_bytes"});
    CHECK(named_by(batches, {.device = gpu.device(), .max_memory_bytes = 100'000, .max_device_bytes = 64 * MiB}) ==
          Names{"max_memory_bytes"});
  }
  SECTION("rows of any size") {
    CHECK(named_by(rows(MiB), {.max_memory_bytes = 16 * MiB}) == Names{"max_memory_bytes"});
    CHECK(named_by(rows(MiB), {.device = gpu.device(), .max_device_bytes = 16 * MiB}) == Names{"max_device_bytes"});
    CHECK(named_by(rows(MiB), {.device = gpu.device(), .max_pinned_bytes = 16 * MiB}) == Names{"max_pinned_bytes"});
    CHECK(named_by(rows(MiB), {.device = gpu.device(), .max_device_bytes = 256 * MiB, .max_pinned_bytes = 16 * MiB}) ==
          Names{"max_pinned_bytes"});
    CHECK(named_by(rows(MiB), {.device = gpu.device(), .max_memory_bytes = 64 * MiB}) == Names{"max_memory_bytes"});
  }
  SECTION("working memory") {
    const auto needs = ps::from(records) | Grown{} | Shrunk{} | ps::batch(8);
    CHECK(named_by(needs, {.max_memory_bytes = 16 * MiB}) == Names{"max_memory_bytes"});
  }
  SECTION("blocks that records share") {
    CHECK(named_by(block(64 * MiB), {.max_block_bytes = MiB}) == Names{"max_block_bytes"});
    CHECK(named_by(block(64 * MiB), {.max_memory_bytes = 32 * MiB}) == Names{"max_memory_bytes"});
    CHECK(named_by(block(64 * MiB), {.max_memory_bytes = 512 * MiB, .max_block_bytes = MiB}) ==
          Names{"max_block_bytes"});
    CHECK(named_by(block(1024 * MiB), {}) == Names{"max_block_bytes"});
    CHECK(named_by(block(1024 * MiB), {.max_memory_bytes = 4096 * MiB}) == Names{"max_block_bytes"});
    CHECK(named_by(block(MiB), {.max_memory_bytes = 4 * MiB, .max_block_bytes = 8 * MiB}) ==
          Names{"max_memory_bytes", "max_block_bytes"});
    CHECK(named_by([&] {
            CountingSink sink;
            (void)ps::write(ps::from(LargeBlocks{64 * MiB}), sink, {.threads = 1, .max_block_bytes = MiB});
          }) == Names{"max_block_bytes"});
  }
  SECTION("the memory of an emulated GPU") {
    ps::EmulatedGpu small({.max_device_bytes = 1000}), unpinned({.max_pinned_bytes = 1000});
    for (const auto& [device, limit] : {std::pair(&small, "`EmulatedGpuOptions::max_device_bytes`"),
                                        std::pair(&unpinned, "`EmulatedGpuOptions::max_pinned_bytes`")}) {
      const auto error = error_of([&] {
        ps::Loader loader(batches, {.device = device->device(), .threads = 1, .epochs = 1});
        for (const ps::Batch& batch : loader.epoch()) (void)batch;
      });
      REQUIRE(error);
      INFO(error->what());
      CHECK(error->code() == ps::Errc::out_of_memory);
      CHECK(error->cause().find(limit) != std::string::npos);
    }
  }
}
