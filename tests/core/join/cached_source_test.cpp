// SPDX-License-Identifier: Apache-2.0
// A source with a cache before it, as a runner sees it.
#include "join/cached_source.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/blocks/chunks.hpp"
#include "core/help.hpp"
#include "support/catch.hpp"

using namespace help;

TEST_CASE("blocks that were lent for a record that a cache had are not used after that") {
  struct Fickle final : ps::RecordCache {
    struct Reader final : ps::CacheReader {
      explicit Reader(bool& it) : gives(it) {}
      bool has(std::uint64_t) override { return true; }
      bool read(std::uint64_t, ps::SampleBuilder& out) override {
        if (!gives) return false;
        for (std::size_t slot = 0; slot < out.schema().size(); ++slot)
          std::memset(out.emplace(slot, out.schema()[slot].shape).data, 0,
                      out.schema()[slot].shape.elements() * ps::size_of(out.schema()[slot].dtype));
        return true;
      }
      bool& gives;
    };
    bool has(std::uint64_t) const noexcept override { return false; }
    std::unique_ptr<ps::CacheReader> open_reader() override { return std::make_unique<Reader>(gives); }
    void offer(std::uint64_t, ps::Sample&) noexcept override {}
    std::vector<std::string> notes() const override { return {}; }
    bool gives = true;
  };
  struct Keeping final : ps::CacheMaker {
    explicit Keeping(std::shared_ptr<ps::RecordCache> it) : cache(std::move(it)) {}
    std::shared_ptr<ps::RecordCache> open(const ps::CacheKey&) const override { return cache; }
    std::string label() const override { return "cache"; }
    std::shared_ptr<ps::RecordCache> cache;
  };
  const Chunks source{.count = 40, .per_block = 8};
  const auto store = std::make_shared<Fickle>();
  const auto cache = std::make_shared<const ps::detail::LazyCache>(std::make_shared<Keeping>(store), ps::CacheKey{});
  const ps::AnySource plain = ps::share(source);
  const auto cached = ps::detail::make_cached_source(plain.model(), cache);
  const auto reader = cached->open_reader();
  ps::OwnedSample recalled(source.schema()), made(source.schema());
  const ps::OwnedSample wanted = ps::read_sample(source, 11);
  std::vector<std::byte> block(source.block_bytes(1));
  source.load(1, block);
  const std::vector<std::span<const std::byte>> lent{block};
  reader->lend(11, lent, nullptr);
  ps::SampleBuilder out = recalled.builder();
  REQUIRE(reader->recall(11, out));
  std::ranges::fill(block, std::byte{0xee});  // it is another's now
  store->gives = false;
  ps::SampleBuilder anew = made.builder();
  REQUIRE_FALSE(reader->recall(11, anew));
  reader->read(11, anew);
  made.keep();
  for (const ps::Field& field : source.schema()) {
    const ps::TensorView got = made[field.name], right = wanted[field.name];
    CHECK(std::memcmp(got.data, right.data, right.bytes()) == 0);
  }
}
