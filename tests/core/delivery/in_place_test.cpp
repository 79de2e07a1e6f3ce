// SPDX-License-Identifier: Apache-2.0
// Device stages that write where they read: on the host, runners run them in the batch's own memory.
#include "support/catch.hpp"

#include <penstock/extend/device_stage.hpp>
#include <penstock/stages/on_error.hpp>

#include "core/delivery/device_help.hpp"
#include "core/ring/map_batches_help.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;
using On = ps::MapBatchesOptions::On;

namespace {

struct Seen {
  std::atomic<int> in_place{0}, copied{0};
};

// Exchanges "y" with the neighbour's, and adds the row's draw and one to each of them, masked rows too.
struct Exchange {
  std::shared_ptr<Seen> seen = std::make_shared<Seen>();
  bool says_so = true;
  std::uint64_t throws_at = ~std::uint64_t{0};  // the first "y" of a batch that it refuses
  std::string label = "exchange";

  std::uint32_t draw(ps::Rng& rng) const { return rng() >> 8; }
  ps::Schema schema(const ps::Schema& in) const { return in; }
  std::vector<std::string> writes() const { return {"y"}; }
  std::string name() const { return label; }
  bool mixes_rows() const { return true; }
  bool in_place() const { return says_so; }
  void run(ps::BatchView in, ps::BatchView out, ps::StreamRef stream) const {
    const auto* const from = reinterpret_cast<const std::int64_t*>(in["y"].data);
    auto* const to = reinterpret_cast<std::int64_t*>(out["y"].data);
    const auto* const draws = reinterpret_cast<const std::uint32_t*>(in.draws);
    const std::uint64_t rows = in.rows;
    ++(from == to ? seen->in_place : seen->copied);
    if (in["y"].shape[0] != static_cast<std::int64_t>(rows) || in.fields.size() != in.schema->size()) std::abort();
    if (from == to && static_cast<std::uint64_t>(from[0]) == throws_at) throw ps::Error(ps::Errc::corrupt, "refused");
    ps::launch_on_host(stream, "exchange",
                       [=] {
                         for (std::uint64_t r = 0; r < rows; r += 2) {
                           const std::int64_t first = from[r];
                           if (r + 1 == rows) {
                             to[r] = first + draws[r] + 1;
                             break;
                           }
                           const std::int64_t second = from[r + 1];
                           to[r] = second + draws[r] + 1;
                           to[r + 1] = first + draws[r + 1] + 1;
                         }
                       },
                       {{from, rows * 8, false}, {draws, rows * 4, false}, {to, rows * 8, true}});
  }
};

ps::Pipeline samples(ps::OnError policy = ps::OnError::mask) {
  Records source{.count = 61};
  source.shared->faults[7] = source.shared->faults[30] = Fault::corrupt;
  return ps::from(source) | ps::shuffle({.seed = 4}) | ps::on_error({.policy = policy});
}

}  // namespace

TEST_CASE("stages in place have the bits of stages that copy, on every device") {
  const Watchdog dog(120s);
  for (const ps::OnError policy : {ps::OnError::mask, ps::OnError::drop, ps::OnError::replace})
    for (const int maps : {0, 1, 2}) {
      const auto with = [&](bool in_place, const std::shared_ptr<Seen>& seen) {
        ps::Pipeline p = samples(policy) | ps::batch(7, {.tail = ps::Tail::pad});
        if (maps != 0) p = p | mix_rows(maps == 1 ? On::runner : On::caller);
        return p | Exchange{.seen = seen, .says_so = in_place} |
               Exchange{.seen = seen, .says_so = in_place, .label = "again"};
      };
      const auto copies = std::make_shared<Seen>(), works = std::make_shared<Seen>(), on_gpu = std::make_shared<Seen>();
      const std::vector<Got> expected = collect(with(false, copies), {.threads = 2}, 2);
      CHECK(copies->in_place == 0);
      CHECK(copies->copied >= 2 * static_cast<int>(expected.size()));  // of later epochs too
      for (const unsigned threads : {1u, 5u}) CHECK(collect(with(true, works), {.threads = threads}, 2) == expected);
      CHECK(works->copied == 0);
      CHECK(works->in_place >= 4 * static_cast<int>(expected.size()));
      ps::EmulatedGpu gpu({.mode = Mode::threaded, .checked = true});
      {
        ps::Loader loader(with(true, on_gpu), {.device = gpu.device(), .threads = 2});
        CHECK(train(loader, gpu, 2) == expected);
      }
      CHECK(on_gpu->in_place == 0);
      for (const std::string& finding : gpu.findings()) FAIL_CHECK(finding);
    }
}

TEST_CASE("a loader in place resumes at every batch, and has no second ring") {
  const Exchange exchange;
  const ps::Pipeline p = samples() | ps::batch(8) | exchange;
  const std::vector<Got> expected = collect(p, {.threads = 2});
  ps::Loader loader(p, {.threads = 2, .epochs = 1});
  for (std::size_t done = 0; done < expected.size(); ++done) {
    ps::Loader rest(p, {.threads = 3});
    rest.resume(loader.state());
    const auto batch = rest.next();
    REQUIRE(batch);
    CHECK(copy(*batch) == expected[done]);
    (void)loader.next();
  }
  const ps::Report report = loader.report();
  for (const auto& memory : report.memory) CHECK(!says(memory.name, "after the stages"));
  CHECK(exchange.seen->copied == 0);
  REQUIRE(report.stages.back().name == "exchange");
  CHECK(report.stages.back().samples >= 61);
  CHECK(says(p.plan(), "on the host in place, by the runner that made the last row"));
  const ps::Pipeline after_caller = samples() | ps::batch(8) | mix_rows(On::caller) | exchange;
  CHECK(says(after_caller.plan(), "on the host in place, by the thread that takes batches"));
}

TEST_CASE("stages in place copy where a row's size varies, a type changes, or another stage needs it") {
  struct Wider {
    ps::Schema schema(const ps::Schema& in) const { return in.with({"wide", ps::DType::i64, {}}); }
    bool in_place() const { return true; }
    void run(ps::BatchView in, ps::BatchView out, ps::StreamRef stream) const {
      ps::launch_on_host(stream, "wider", [from = in["y"].data, to = out["wide"].data, bytes = in["y"].bytes()] {
        std::copy_n(from, bytes, to);
      });
    }
  };
  const auto runs_of = [](auto make) {
    const Exchange exchange;
    const auto got = collect(make(exchange), {.threads = 2, .epochs = 1});
    CHECK(got.size() == 8);
    CHECK(exchange.seen->in_place + exchange.seen->copied == 8);
    return exchange.seen->copied.load();
  };
  CHECK(runs_of([](const Exchange& e) { return samples() | ps::batch(8) | e; }) == 0);
  CHECK(runs_of([](const Exchange& e) { return samples() | ps::ragged("x") | ps::batch(8) | e; }) == 8);
  CHECK(runs_of([](const Exchange& e) { return samples() | ps::batch(8) | Wider{} | e; }) == 8);
  CHECK(runs_of([](const Exchange& e) {
          return samples() | ps::batch(8) | e | Exchange{.says_so = false, .label = "copies"};
        }) == 8);
  CHECK(says((samples() | ps::batch(8) | Wider{}).plan(), "in place") == false);
}

TEST_CASE("a stage in place that throws ends the epoch after the batches before it, under every policy") {
  const Watchdog dog(60s);
  for (const ps::OnError policy : {ps::OnError::fail, ps::OnError::mask, ps::OnError::drop}) {
    const ps::Pipeline p =
        ps::from(Records{.count = 40}) | ps::on_error({.policy = policy}) | ps::batch(4) | Exchange{.throws_at = 12};
    ps::Loader loader(p, {.threads = 3});
    for (int epoch = 0; epoch < 2; ++epoch) {
      std::uint64_t batches = 0;
      const auto error = error_of([&] {
        while (loader.next()) ++batches;
      });
      REQUIRE(error);
      CHECK(batches == 3);
      CHECK(error->code() == ps::Errc::corrupt);
      CHECK(error->stage() == "exchange");
      CHECK(error->index() == 12);
      CHECK(says(error->cause(), "batch 3 of epoch " + std::to_string(epoch) + ": refused"));
      loader.end_epoch();
    }
  }
}

}  // namespace PENSTOCK_TEST_FILE
