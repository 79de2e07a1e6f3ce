// SPDX-License-Identifier: Apache-2.0
// What mixes rows of a batch: functions of map_batches before batches go to devices, and device stages that take rows
// from their neighbours.
#include "support/catch.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <limits>

#include <penstock/extend/device_stage.hpp>
#include <penstock/stages/on_error.hpp>

#include "core/delivery/device_help.hpp"
#include "core/ring/map_batches_help.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;
using On = ps::MapBatchesOptions::On;

namespace {

// Adds the neighbour's "y", if both rows draw, which masked rows don't.
struct AddNeighbour {
  struct Draws {
    std::uint32_t word, live;
  };
  Draws draw(ps::Rng& rng) const { return {rng(), 1}; }
  ps::Schema schema(const ps::Schema& in) const { return in; }
  std::vector<std::string> writes() const { return {"y"}; }
  std::string name() const { return "add_neighbour"; }
  bool mixes_rows() const { return true; }
  void run(ps::BatchView in, ps::BatchView out, ps::StreamRef stream) const {
    const auto* const from = reinterpret_cast<const std::int64_t*>(in["y"].data);
    auto* const to = reinterpret_cast<std::int64_t*>(out["y"].data);
    const auto* const draws = reinterpret_cast<const Draws*>(in.draws);
    const std::uint64_t rows = in.rows;
    ps::launch_on_host(stream, "add_neighbour",
                       [=] {
                         for (std::uint64_t r = 0; r < rows; ++r) {
                           const std::uint64_t other = r ^ 1;
                           const bool both = other < rows && draws[r].live != 0 && draws[other].live != 0;
                           to[r] = from[r] + (both ? from[other] * 1000 + draws[r & ~std::uint64_t{1}].word : 0);
                         }
                       },
                       {{from, rows * 8, false}, {draws, rows * sizeof(Draws), false}, {to, rows * 8, true}});
  }
};

ps::Pipeline samples(ps::OnError policy = ps::OnError::mask) {
  Records source{.count = 61};
  source.shared->faults[7] = source.shared->faults[30] = Fault::corrupt;
  return ps::from(source) | ps::shuffle({.seed = 4}) | ps::on_error({.policy = policy});
}

std::vector<ps::Device> devices_of(const std::vector<ps::EmulatedGpu>& gpus) {
  std::vector<ps::Device> devices;
  for (const ps::EmulatedGpu& gpu : gpus) devices.push_back(gpu.device());
  return devices;
}

// "y" of all rows of an epoch, of one device or several.
std::vector<std::int64_t> labels_on(const ps::Pipeline& p, std::size_t count) {
  std::vector<ps::EmulatedGpu> gpus;
  for (std::size_t i = 0; i < count; ++i)
    gpus.emplace_back(ps::EmulatedGpuOptions{.mode = Mode::late, .checked = true});
  std::vector<ps::EmulatedGpu::Stream> streams;
  for (ps::EmulatedGpu& gpu : gpus) streams.push_back(gpu.make_stream("consumer"));
  std::vector<ps::StreamRef> refs;
  for (const auto& stream : streams) refs.push_back(stream.ref());
  ps::Loader loader(p, {.devices = devices_of(gpus), .threads = 2});
  std::vector<std::int64_t> out;
  while (auto parts = loader.next_parts(refs))
    for (std::size_t d = 0; d < parts->size(); ++d) {
      streams[d].synchronize();
      for (const std::int64_t y : (*parts)[d].view<std::int64_t, 1>("y")) out.push_back(y);
    }
  for (const ps::EmulatedGpu& gpu : gpus)
    for (const std::string& finding : gpu.findings()) FAIL_CHECK(finding);
  return out;
}

std::string refusal(const ps::Pipeline& p, std::size_t count) {
  std::vector<ps::EmulatedGpu> gpus(count);
  const auto error = error_of([&] { ps::Loader loader(p, {.devices = devices_of(gpus)}); });
  if (!error) return "";
  CHECK(error->code() == ps::Errc::unsupported);
  CHECK(error->stage() == "add_neighbour");
  return error->cause();
}

}  // namespace

TEST_CASE("functions on batches come before the stages of a device, with the same bits on every device") {
  const Watchdog dog(120s);
  for (const On on : {On::runner, On::caller})
    for (const ps::OnError policy : {ps::OnError::mask, ps::OnError::drop, ps::OnError::replace}) {
      const ps::Pipeline p = samples(policy) | ps::batch(8, {.tail = ps::Tail::pad}) | mix_rows(on) | AddNeighbour{};
      const std::vector<Got> expected = collect(p, {.threads = 1}, 2);
      CHECK(collect(p, {.threads = 5}, 2) == expected);
      for (const Mode mode : {Mode::late, Mode::threaded}) {
        ps::EmulatedGpu gpu({.mode = mode, .checked = true, .seed = 3});
        {
          ps::Loader loader(p, {.device = gpu.device(), .threads = 2, .device_depth = 2});
          CHECK(train(loader, gpu, 2) == expected);
        }
        for (const std::string& finding : gpu.findings()) FAIL_CHECK(finding);
      }
    }
}

TEST_CASE("an error of a function on batches reaches the caller of a device in order") {
  const Watchdog dog(60s);
  for (const On on : {On::runner, On::caller}) {
    ps::EmulatedGpu gpu;
    const ps::Pipeline p = ps::from(Records{.count = 40}) | ps::batch(4) |
                           ps::map_batches(
                               [](ps::HostBatch& batch) {
                                 if (batch.epoch() == 0 && batch.number() == 3) throw 1;
                               },
                               {.on = on});
    ps::Loader loader(p, {.device = gpu.device(), .threads = 2});
    auto stream = gpu.make_stream("consumer");
    std::uint64_t batches = 0;
    const auto error = error_of([&] {
      while (loader.next(stream.ref())) ++batches;
    });
    REQUIRE(error);
    CHECK(batches == 3);
    CHECK(error->stage() == "map_batches");
    CHECK(error->index() == 12);
    CHECK(train(loader, gpu).size() == 10);
  }
}

TEST_CASE("neighbours are on one device, or several devices are refused") {
  const ps::Pipeline eight = samples() | ps::batch(8, {.tail = ps::Tail::drop}) | AddNeighbour{};
  const std::vector<std::int64_t> expected = labels_on(eight, 1);
  REQUIRE(expected.size() == 56);
  CHECK(labels_on(eight, 2) == expected);
  CHECK(labels_on(eight, 4) == expected);
  CHECK(labels_on(samples() | ps::batch(8, {.tail = ps::Tail::pad}) | AddNeighbour{}, 4).size() == 64);
  const std::string three = refusal(eight, 3);
  CHECK(three.find("of the 8 rows of a batch, ") != std::string::npos);
  CHECK(three.find(" gets 3; make the rows that this rank has of a batch a multiple of 6") != std::string::npos);
  CHECK(refusal(samples() | ps::batch(8) | AddNeighbour{}, 2).find("of the 5 rows of the last batch of an epoch") !=
        std::string::npos);
  CHECK(
      refusal(samples() | even() | ps::batch(8) | AddNeighbour{}, 2).find("the last batch of an epoch may have any") !=
      std::string::npos);
  CHECK(refusal(samples() | even() | ps::batch(8, {.tail = ps::Tail::pad}) | AddNeighbour{}, 2) == "");
  CHECK(refusal(samples() | ps::batch(8) | AddNeighbour{} | ps::for_rank({.steps_per_epoch = 3}), 2) == "");
  CHECK(refusal(samples() | ps::batch(12, {.tail = ps::Tail::drop}) | AddNeighbour{} |
                    ps::for_rank({.rank = 1, .world = 2}),
                2)
            .find("of the 6 rows of a batch") != std::string::npos);
  const ps::Pipeline bounded = samples() | ps::ragged("x") | ps::batch(8, {.max_bytes = 200}) | AddNeighbour{};
  CHECK(refusal(bounded, 2).find("batches that end by the sizes") != std::string::npos);
  // A function on batches sees the rows of all devices.
  CHECK(refusal(samples() | ps::batch(7) | mix_rows(On::runner), 3) == "");
}

TEST_CASE("a device stage that mixes rows makes the number of ranks part of the fingerprint") {
  const ps::Pipeline p = samples() | ps::batch(8) | AddNeighbour{};
  const auto on = [&](int world) { return p | ps::for_rank({.rank = 0, .world = world}); };
  ps::Loader two(on(2), {.threads = 1}), four(on(4), {.threads = 1});
  CHECK(two.next());
  const auto error = error_of([&] { four.resume(two.state()); });
  REQUIRE(error);
  CHECK(error->cause().find("saved on 2 ranks, and this loader is one of 4 ranks; add_neighbour sees") !=
        std::string::npos);
}

#if defined(__x86_64__)
TEST_CASE("stages after batch have the same bits in a program that flushes denormal numbers to zero") {
  struct Halve {
    std::shared_ptr<std::atomic<int>> runs, zeros;
    ps::Schema schema(const ps::Schema& in) const { return in; }
    std::vector<std::string> writes() const { return {"y"}; }
    std::string name() const { return "halve"; }
    static void count(std::atomic<int>& zero) {
      volatile float half = std::numeric_limits<float>::min();
      half = half * 0.5f;
      if (half == 0.0f) ++zero;
    }
    void run(ps::BatchView in, ps::BatchView out, ps::StreamRef stream) const {
      count(*zeros);
      std::byte* const to = out["y"].data;
      const std::byte* const from = in["y"].data;
      ps::launch_on_host(stream, "halve", [=, bytes = in["y"].bytes(), more = *this] {
        std::copy_n(from, bytes, to);
        ++*more.runs;
        count(*more.zeros);
      });
    }
  };
  const unsigned before = _mm_getcsr();
  for (const bool emulated : {false, true}) {
    const Halve halve{std::make_shared<std::atomic<int>>(0), std::make_shared<std::atomic<int>>(0)};
    _mm_setcsr(before | 0x8040u);
    {
      const ps::EmulatedGpu gpu;
      ps::Loader loader(samples() | ps::batch(8) | halve,
                        {.device = emulated ? gpu.device() : ps::host(), .threads = 1, .epochs = 1});
      (void)collect(loader);
    }
    _mm_setcsr(before);
    CHECK(*halve.runs > 0);
    CHECK(*halve.zeros == 0);
  }
}
#endif

TEST_CASE("a function on batches stands before the stages of a device") {
  const auto error = error_of([] {
    (void)(samples() | ps::batch(8) | AddNeighbour{} | ps::map_batches([](ps::HostBatch&) {}, {.name = "own"}));
  });
  REQUIRE(error);
  CHECK(error->stage() == "own");
  CHECK(error->cause() ==
        "it works on the host, so it stands directly after batch, before \"add_neighbour\", which a device may run");
}

}  // namespace PENSTOCK_TEST_FILE
