// SPDX-License-Identifier: Apache-2.0
// Batches that several devices share: parts that are the batch, all of them or an error.
#include "support/catch.hpp"

#include <set>

#include <penstock/extend/device_stage.hpp>
#include <penstock/stages/on_error.hpp>

#include "core/delivery/device_help.hpp"
#include "core/reorder/reordered_help.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;

namespace {

// Fields of a row of differing width, so that rows of one field lie far apart in the batch.
struct Wide {
  std::uint64_t count = 41;
  std::set<std::uint64_t> bad = {};
  std::uint64_t size() const { return count; }
  ps::Schema schema() const {
    return {{"a", ps::DType::u8, {5}},
            {"label", ps::DType::i64, {}},
            {"tokens", ps::DType::i32, {ps::dynamic}, ps::Collate::pad(6, -1)}};
  }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    if (bad.contains(i)) throw ps::Error(ps::Errc::corrupt, "planted");
    for (std::uint8_t j = 0; std::uint8_t & v : out.emplace<std::uint8_t, 1>("a", {5}))
      v = static_cast<std::uint8_t>(i * 5 + j++);
    out.scalar<std::int64_t>("label", static_cast<std::int64_t>(i * 1000));
    for (std::int32_t j = 0;
         std::int32_t & v : out.emplace<std::int32_t, 1>("tokens", {static_cast<std::int64_t>(i % 6)}))
      v = static_cast<std::int32_t>(i) + j++;
  }
};

// The fields alone; lengths are looked at by themselves.
Got fields_of(const ps::Batch& batch) {
  Got got;
  got.epoch = batch.epoch();
  got.number = batch.number();
  got.indices.assign(batch.indices().begin(), batch.indices().end());
  got.mask.assign(batch.mask().begin(), batch.mask().end());
  for (const ps::Field& f : batch.schema()) {
    const ps::TensorView t = batch[f.name];
    got.bytes.insert(got.bytes.end(), t.data, t.data + t.bytes());
  }
  return got;
}
std::vector<Got> collect_fields(const ps::Pipeline& p, std::uint64_t epochs = 1) {
  std::vector<Got> out;
  ps::Loader loader(p, {.threads = 1});
  for (std::uint64_t e = 0; e < epochs; ++e)
    for (ps::Batch& batch : loader.epoch()) out.push_back(fields_of(batch));
  return out;
}

struct Group {
  explicit Group(std::size_t count, ps::EmulatedGpuOptions options = {}) {
    for (std::size_t i = 0; i < count; ++i) {
      options.seed = options.seed == 0 ? 0 : options.seed + i;
      gpus.emplace_back(options);
    }
    for (ps::EmulatedGpu& gpu : gpus) consumers.push_back(std::make_unique<DeviceConsumer>(gpu));
  }
  std::vector<ps::Device> devices() const {
    std::vector<ps::Device> out;
    for (const ps::EmulatedGpu& gpu : gpus) out.push_back(gpu.device());
    return out;
  }
  std::vector<ps::StreamRef> streams() const {
    std::vector<ps::StreamRef> out;
    for (const auto& consumer : consumers) out.push_back(consumer->ref());
    return out;
  }
  void no_findings() const {
    for (const ps::EmulatedGpu& gpu : gpus) {
      for (const std::string& finding : gpu.findings()) FAIL_CHECK(finding);
      CHECK(gpu.device_bytes_used() == 0);
    }
  }
  std::vector<ps::EmulatedGpu> gpus;
  std::vector<std::unique_ptr<DeviceConsumer>> consumers;
};

// Parts put together again, field by field.
Got together(const std::vector<Got>& parts, const ps::Schema& schema, const std::vector<std::size_t>& row_bytes) {
  Got out;
  out.epoch = parts[0].epoch;
  out.number = parts[0].number;
  for (const Got& part : parts) {
    CHECK(part.epoch == out.epoch);
    CHECK(part.number == out.number);
    out.indices.insert(out.indices.end(), part.indices.begin(), part.indices.end());
    out.mask.insert(out.mask.end(), part.mask.begin(), part.mask.end());
  }
  std::vector<std::size_t> at(parts.size());
  for (std::size_t f = 0; f < schema.size(); ++f)
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const std::size_t bytes = parts[p].indices.size() * row_bytes[f];
      out.bytes.insert(out.bytes.end(), parts[p].bytes.begin() + static_cast<std::ptrdiff_t>(at[p]),
                       parts[p].bytes.begin() + static_cast<std::ptrdiff_t>(at[p] + bytes));
      at[p] += bytes;
    }
  return out;
}

struct Run {
  std::vector<Got> got;
  std::vector<std::vector<std::uint64_t>> sizes;
};

// Until the epoch ends.
Run train_parts(ps::Loader& loader, Group& group, const std::vector<std::size_t>& row_bytes, std::size_t most = ~0u) {
  Run run;
  const std::vector<ps::StreamRef> streams = group.streams();
  while (run.sizes.size() < most) {
    auto parts = loader.next_parts(streams);
    if (!parts) break;
    auto& sizes = run.sizes.emplace_back();
    std::uint64_t rows = 0;
    for (std::size_t p = 0; p < parts->size(); ++p) {
      ps::Batch& part = (*parts)[p];
      CHECK(part.device() == group.gpus[p].device());
      sizes.push_back(part.size());
      rows += part.size();
      if (part.size() != 0) {
        const auto lengths = part.lengths("tokens");
        for (std::uint64_t r = 0; r < part.size(); ++r)
          CHECK(lengths[r] == (part.mask()[r] == 0 ? 0 : static_cast<std::int64_t>(part.indices()[r] % 6)));
      }
      group.consumers[p]->step(part);
    }
    // Rows of all parts, without padding.
    std::uint64_t valid = 0;
    for (const ps::Batch& part : *parts)
      valid +=
          static_cast<std::uint64_t>(std::ranges::count_if(part.indices(), [](std::uint64_t i) { return i != ~0ull; }));
    for (const ps::Batch& part : *parts) CHECK(part.global_size() == valid);
    CHECK(valid <= rows);
  }
  std::vector<std::vector<Got>> all;
  for (const auto& consumer : group.consumers) all.push_back(consumer->finish());
  for (std::size_t b = 0; b < run.sizes.size(); ++b) {
    std::vector<Got> parts;
    for (const auto& of_device : all) parts.push_back(of_device[b]);
    run.got.push_back(together(parts, loader.pipeline().schema(), row_bytes));
  }
  return run;
}

const std::vector<std::size_t> wide_rows{5, 8, 24};

}  // namespace

TEST_CASE("parts of a batch on several devices are the batch and balanced") {
  const Watchdog watchdog(120s);
  for (const ps::Tail tail : {ps::Tail::keep, ps::Tail::pad, ps::Tail::drop})
    for (const std::size_t count : {2u, 3u, 4u}) {
      const ps::Pipeline p = ps::from(Wide{}) | ps::shuffle({.seed = 6}) | ps::batch(9, {.tail = tail});
      const std::vector<Got> expected = collect_fields(p);
      for (const Mode mode : {Mode::late, Mode::threaded})
        for (const std::uint64_t seed : {0u, 11u}) {
          Group group(count, {.mode = mode, .checked = true, .seed = seed, .max_delay_us = seed == 0 ? 0u : 80u});
          {
            ps::Loader loader(p, {.devices = group.devices(), .threads = 2, .depth = 3, .device_depth = 2});
            const Run run = train_parts(loader, group, wide_rows);
            CHECK(run.got == expected);
            for (const auto& sizes : run.sizes) {
              CHECK(std::is_sorted(sizes.rbegin(), sizes.rend()));
              CHECK(sizes.front() - sizes.back() <= 1);
            }
            if (count == 4) CHECK(run.sizes[0] == std::vector<std::uint64_t>{3, 2, 2, 2});
          }
          group.no_findings();
        }
    }
}

TEST_CASE("bad samples and filters make no difference to parts") {
  const Watchdog watchdog(60s);
  const Wide source{.bad = {3, 17, 18, 30}};
  for (const ps::OnError policy : {ps::OnError::mask, ps::OnError::replace, ps::OnError::drop}) {
    const ps::Pipeline p = ps::from(source) | ps::shuffle({.seed = 6}) |
                           ps::filter([](const ps::Sample& s) { return s.scalar<std::int64_t>("label") % 7000 != 0; }) |
                           ps::on_error({.policy = policy}) | ps::batch(7);
    Group group(3, {.checked = true});
    ps::Loader loader(p, {.devices = group.devices(), .threads = 2, .few_rows = ps::FewRows::empty});
    CHECK(train_parts(loader, group, wide_rows).got == collect_fields(p));
  }
}

TEST_CASE("stages after batch run on each device on its part") {
  struct Sum {
    std::uint32_t draw(ps::Rng& rng) const { return static_cast<std::uint32_t>(rng.below(1000)); }
    ps::Schema schema(const ps::Schema& in) const { return in.with({"sum", ps::DType::i64, {}}); }
    void run(ps::BatchView in, ps::BatchView out, ps::StreamRef stream) const {
      const ps::TensorView a = in["a"], to = out["sum"];
      const std::byte* const draws = in.draws;
      const std::uint64_t rows = in.rows;
      ps::launch_on_host(stream, "sum",
                         [=] {
                           for (std::uint64_t r = 0; r < rows; ++r) {
                             std::uint32_t drawn = 0;
                             std::memcpy(&drawn, draws + 4 * r, 4);
                             std::int64_t sum = drawn;
                             for (std::uint64_t i = 0; i < 5; ++i) sum += std::to_integer<int>(a.data[5 * r + i]);
                             reinterpret_cast<std::int64_t*>(to.data)[r] = sum;
                           }
                         },
                         {{a.data, a.bytes(), false}, {draws, 4 * rows, false}, {to.data, to.bytes(), true}});
    }
  };
  const ps::Pipeline p = ps::from(Wide{}) | ps::shuffle({.seed = 6}) | ps::batch(9) | Sum{};
  const std::vector<Got> expected = collect_fields(p);
  for (const Mode mode : {Mode::late, Mode::threaded}) {
    Group group(3, {.mode = mode, .checked = true});
    {
      ps::Loader loader(p, {.devices = group.devices(), .threads = 2, .depth = 2, .device_depth = 2});
      CHECK(train_parts(loader, group, {5, 8, 24, 8}).got == expected);
    }
    group.no_findings();
  }
}

TEST_CASE("a batch with fewer rows than devices ends the epoch or does not come or comes with empty parts") {
  const ps::Pipeline p = ps::from(Wide{.count = 20}) | ps::batch(9);  // 9, 9, 2
  const std::vector<Got> expected = collect_fields(p, 2);
  for (const ps::FewRows few : {ps::FewRows::error, ps::FewRows::drop, ps::FewRows::empty}) {
    Group group(3, {.checked = true});
    ps::Loader loader(p, {.devices = group.devices(), .threads = 1, .few_rows = few});
    for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
      Run run = train_parts(loader, group, wide_rows, 2);
      REQUIRE(run.got.size() == 2);
      for (std::size_t b = 0; b < 2; ++b) CHECK(run.got[b] == expected[3 * epoch + b]);
      if (few == ps::FewRows::error) {
        const auto error = error_of([&] { static_cast<void>(loader.next_parts(group.streams())); });
        REQUIRE(error);
        CHECK(error->code() == ps::Errc::limit_exceeded);
        CHECK(error->cause().find("2 rows for 3 devices") != std::string::npos);
      } else {
        const Run rest = train_parts(loader, group, wide_rows);
        REQUIRE(rest.got.size() == (few == ps::FewRows::drop ? 0 : 1));
        if (few == ps::FewRows::empty) {
          CHECK(rest.got[0] == expected[3 * epoch + 2]);
          CHECK(rest.sizes[0] == std::vector<std::uint64_t>{1, 1, 0});
        }
        CHECK(loader.state().epoch == epoch + 1);
      }
    }
  }
}

TEST_CASE("parts are leases of their own and the batch is written to again after all of them") {
  const Watchdog watchdog(60s);
  const ps::Pipeline p = ps::from(Wide{}) | ps::batch(9, {.tail = ps::Tail::pad});
  Group group(2);
  ps::Loader loader(p, {.devices = group.devices(), .threads = 1, .device_depth = 2});
  const std::vector<ps::StreamRef> streams = group.streams();
  auto first = loader.next_parts(streams), second = loader.next_parts(streams);
  const auto hoarded = [&] {
    const auto error = error_of([&] { static_cast<void>(loader.next_parts(streams)); });
    return error && error->code() == ps::Errc::leases_exhausted;
  };
  CHECK(hoarded());
  (*first)[0].release();
  CHECK(hoarded());
  (*second)[1].release();
  CHECK(hoarded());
  std::jthread([&] { (*first)[1].release(); }).join();
  auto third = loader.next_parts(streams);
  REQUIRE(third);
  CHECK((*third)[0].number() == 2);
  CHECK(hoarded());
}

TEST_CASE("what can't be asked of several devices is refused") {
  const ps::Pipeline p = ps::from(Wide{}) | ps::batch(9);
  Group group(2), others(2);
  const auto refused = [&](ps::LoaderOptions options) {
    options.threads = 1;
    return error_of([&] { const ps::Loader loader(p, options); });
  };
  const std::vector<ps::Device> devices = group.devices();
  CHECK(refused({.device = devices[0], .devices = devices})->cause().find("either") != std::string::npos);
  CHECK(refused({.devices = {devices[0], devices[0]}})->cause().find("twice") != std::string::npos);
  CHECK(refused({.devices = {devices[0], ps::host()}})->cause().find("host") != std::string::npos);
  ps::Loader loader(p, {.devices = devices, .threads = 1});
  CHECK(error_of([&] { static_cast<void>(loader.next()); })->cause().find("next_parts") != std::string::npos);
  CHECK(error_of([&] { static_cast<void>(loader.next_parts({})); })->code() == ps::Errc::invalid_argument);
  CHECK(error_of([&] { static_cast<void>(loader.next_parts(others.streams())); })->code() ==
        ps::Errc::invalid_argument);
  CHECK(loader.next_parts(group.streams()).value()[0].number() == 0);
  CHECK(loader.report().device.find(" and ") != std::string::npos);
  ps::Loader one(p, {.threads = 1});
  CHECK(error_of([&] { static_cast<void>(one.next_parts(group.streams())); })->code() == ps::Errc::invalid_argument);
  const ps::StreamRef own;
  CHECK(one.next_parts({&own, 1}).value()[0].size() == 9);
}

TEST_CASE("whichever call of one of several devices fails no part of a batch comes without the others") {
  const Watchdog watchdog(240s);
  const ps::Pipeline p = ps::from(Wide{.count = 30}) | ps::shuffle() | ps::batch(5);
  const std::vector<Got> expected = collect_fields(p);
  std::uint64_t calls = 0, tried = 0, failed = 0;
  for (std::uint64_t call = 0; call == 0 || call < calls + 5; call += sanitized() ? 3 : 1) {
    INFO("call " << call);
    ++tried;
    ps::EmulatedGpu first, second({.fault = {call, 1}});
    {
      std::optional<ps::Loader> loader;
      auto error = error_of([&] {
        loader.emplace(
            p, ps::LoaderOptions{.devices = {first.device(), second.device()}, .threads = 2, .device_depth = 2});
      });
      if (!loader) {
        REQUIRE(error->code() == ps::Errc::device);
        ++failed;
        continue;
      }
      std::vector<Got> got;
      const std::vector<ps::StreamRef> streams(2);  // the host's: batches are there when they come
      for (int tries = 0; tries < 4; ++tries) {
        error = error_of([&] {
          while (auto parts = loader->next_parts(streams)) {
            REQUIRE(parts->size() == 2);
            got.push_back(together({fields_of((*parts)[0]), fields_of((*parts)[1])}, p.schema(), wide_rows));
          }
        });
        if (!error) break;
        ++failed;
        REQUIRE(error->code() == ps::Errc::device);
        const ps::State at = loader->state();
        loader->resume(at);
      }
      REQUIRE_FALSE(error);
      REQUIRE(got.size() == expected.size());
      for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(got[i] == expected[i]);
    }
    CHECK(first.device_bytes_used() + second.device_bytes_used() == 0);
    CHECK(first.pinned_bytes_used() == 0);
    if (call == 0) calls = second.calls();
  }
  INFO(failed << " of " << tried << " failed");
  CHECK(failed > tried / 3);  // how many calls there are, and which failures are mended silently, is time's
}

TEST_CASE("loaders of several devices are started and stopped at any moment") {
  const Watchdog watchdog(240s);
  Group group(2, {.mode = Mode::threaded, .seed = 5, .max_delay_us = 100}), late(3, {.mode = Mode::late});
  const ps::Executor executor(2);
  for (std::uint64_t i = 0; i < scaled(2000, 100); ++i) {
    Group& on = i % 2 == 0 ? group : late;
    const std::vector<ps::StreamRef> streams = on.streams();
    std::vector<ps::Batch> kept;
    {
      ps::Loader loader(ps::from(Wide{.count = 20 + i % 9}) | ps::shuffle() | ps::batch(5),
                        {.devices = on.devices(),
                         .executor = executor,
                         .depth = static_cast<unsigned>(2 + i % 3),
                         .growth = i % 5 == 0 ? ps::Growth::on_demand : ps::Growth::preallocate,
                         .few_rows = i % 3 == 0 ? ps::FewRows::drop : ps::FewRows::empty});
      for (std::uint64_t left = mix(i) % 9; left != 0; --left)
        if (auto parts = loader.next_parts(streams))
          for (std::size_t p = 0; p < parts->size(); ++p) {
            if ((*parts)[p].size() != 0) on.consumers[p]->step((*parts)[p]);
            if (left == 1 && mix(i + p) % 3 == 0) kept.push_back(std::move((*parts)[p]));
          }
    }
    kept.clear();
    for (const auto& consumer : on.consumers) static_cast<void>(consumer->finish());
  }
  group.no_findings();
  late.no_findings();
}

}  // namespace PENSTOCK_TEST_FILE
