// SPDX-License-Identifier: Apache-2.0
// Nouns that are declared before anything runs them: small stand-ins must fit, and what is no such thing must not.
#include "support/catch.hpp"

#include <cstring>

#include <penstock/extend/device_stage.hpp>
#include <penstock/penstock.hpp>

namespace ps = penstock;

namespace {

// Records of 4 bytes, 8 to a compressed block.
struct Chunked {
  std::uint64_t size() const { return 64; }
  ps::Schema schema() const { return {{"x", ps::DType::u8, {4}}}; }
  std::uint64_t blocks() const { return 8; }
  std::uint64_t block_bytes(std::uint64_t) const { return 32; }
  void blocks_of(std::uint64_t i, std::vector<std::uint64_t>& ids) const { ids.push_back(i / 8); }
  void load(std::uint64_t block, std::span<std::byte> bytes) const {
    for (std::size_t k = 0; k < bytes.size(); ++k) bytes[k] = static_cast<std::byte>(block * 32 + k);
  }
  void read(std::uint64_t i, std::span<const std::span<const std::byte>> blocks, ps::SampleBuilder& out) const {
    out.view(0, blocks[0].data() + i % 8 * 4, {4});
  }
};
static_assert(ps::BlockSource<Chunked>);
static_assert(!ps::Source<Chunked>);  // reading needs its blocks

struct Lines {
  std::uint64_t at = 0;
  ps::Schema schema() const { return {{"line", ps::DType::i64, {}}}; }
  void reset(std::uint64_t) { at = 0; }
  bool next(ps::SampleBuilder& out) {
    if (at == 3) return false;
    out.scalar<std::int64_t>("line", static_cast<std::int64_t>(at++));
    return true;
  }
  void seek(std::uint64_t record) { at = record; }
};
static_assert(ps::StreamSource<Lines>);
static_assert(!ps::Source<Lines>);

// Doubles x, on whatever device the stream belongs to; here that is the host.
struct Twice {
  ps::Schema schema(const ps::Schema& in) const { return in; }
  void run(ps::BatchView in, ps::BatchView out, ps::StreamRef stream) const {
    if (stream.device().kind != ps::Device::Kind::host) throw ps::Error(ps::Errc::unsupported, "host only");
    for (std::size_t i = 0; i < in.fields[0].bytes(); ++i)
      out.fields[0].data[i] = static_cast<std::byte>(2 * std::to_integer<int>(in.fields[0].data[i]));
  }
};
static_assert(ps::DeviceStage<Twice>);
static_assert(!ps::DeviceStage<Lines>);

static_assert(!std::is_constructible_v<ps::StreamRef, int>);
static_assert(!std::is_constructible_v<ps::StreamRef, std::nullptr_t>);

}  // namespace

TEST_CASE("a block source can be read through the interface a scheduler will use") {
  const Chunked source;
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    std::vector<std::uint64_t> ids;
    source.blocks_of(i, ids);
    REQUIRE(ids.size() == 1);
    std::vector<std::byte> block(source.block_bytes(ids[0]));
    source.load(ids[0], block);
    ps::OwnedSample sample(source.schema());
    ps::SampleBuilder out = sample.builder();
    const std::span<const std::byte> resident(block);
    source.read(i, std::span(&resident, 1), out);
    sample.keep();
    CHECK(static_cast<std::uint64_t>(std::to_integer<int>(sample["x"].data[0])) == i * 4);
  }
}

TEST_CASE("a stream source can be read to its end, and from any record") {
  Lines lines;
  lines.reset(0);
  ps::OwnedSample sample(lines.schema());
  ps::SampleBuilder out = sample.builder();
  std::int64_t n = 0;
  while (lines.next(out)) CHECK(sample.sample().scalar<std::int64_t>("line") == n++);
  CHECK(n == 3);
  lines.seek(2);
  CHECK(lines.next(out));
  CHECK_FALSE(lines.next(out));
}

TEST_CASE("a device stage runs on a batch that a loader made") {
  struct Bytes {
    std::uint64_t size() const { return 8; }
    ps::Schema schema() const { return {{"x", ps::DType::u8, {4}}}; }
    void read(std::uint64_t i, ps::SampleBuilder& out) const {
      std::memset(out.emplace<std::uint8_t, 1>(0, {4}).data(), static_cast<int>(i), 4);
    }
  };
  const ps::Pipeline p = ps::from(Bytes{}) | ps::batch(4);
  ps::Loader loader(p, {.threads = 1});
  for (ps::Batch& batch : loader.epoch()) {
    const ps::TensorView x = batch["x"];
    const ps::Schema schema = batch.schema();
    const ps::BatchView view{&schema, std::span(&x, 1), batch.size()};
    Twice{}.run(view, view, ps::StreamRef{});
    for (std::uint64_t row = 0; row < batch.size(); ++row)
      CHECK(batch.view<std::uint8_t, 2>("x")(row, 3) == 2 * batch.indices()[row]);
  }
}

// Stands before every case that asks for the best device, as a process notes it once.
TEST_CASE("where the best device was the host the report says why and only then") {
  struct One {
    std::uint64_t size() const { return 1; }
    ps::Schema schema() const { return {{"x", ps::DType::u8, {}}}; }
    void read(std::uint64_t, ps::SampleBuilder& out) const { out.scalar<std::uint8_t>(0, 1); }
  };
  ps::Loader loader(ps::from(One{}) | ps::batch(1));
  CHECK(loader.report().device == "host");
  CHECK(loader.report().text().find("best_device()") == std::string::npos);
  const std::string support = ps::device_support();
  CHECK((support == "built without CUDA" || support.find("CUDA ") == 0));
  if (ps::best_device() == ps::host()) {
    const ps::Report report = loader.report();
    CHECK(report.device == "host");
    CHECK(std::count(report.notes.begin(), report.notes.end(), "best_device() is the host: " + support) == 1);
    CHECK(report.text().find(support) != std::string::npos);
  }
}

TEST_CASE("a device that isn't there is refused in words") {
  struct One {
    std::uint64_t size() const { return 1; }
    ps::Schema schema() const { return {{"x", ps::DType::u8, {}}}; }
    void read(std::uint64_t, ps::SampleBuilder& out) const { out.scalar<std::uint8_t>(0, 1); }
  };
  if (ps::best_device() == ps::host()) {
    try {
      ps::Loader loader(ps::from(One{}) | ps::batch(1), {.device = ps::gpu(3)});
      FAIL("it was accepted");
    } catch (const ps::Error& error) {
      CHECK(error.code() == ps::Errc::unsupported);
      CHECK(error.cause().find(ps::to_string(ps::gpu(3))) != std::string::npos);
    }
  }
  ps::Loader loader(ps::from(One{}) | ps::batch(1), {.device = ps::best_device()});
  CHECK(loader.next());
}
