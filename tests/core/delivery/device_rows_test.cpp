// SPDX-License-Identifier: Apache-2.0
// Fields of any size on devices: packed, with the table of where rows begin.
#include "support/catch.hpp"

#include <penstock/extend/device_stage.hpp>
#include <penstock/stages/on_error.hpp>
#include <penstock/testing/statistics_resource.hpp>

#include "core/delivery/device_help.hpp"
#include "core/reorder/reordered_help.hpp"

using namespace help;

namespace {

struct Texts {
  std::uint64_t count = 60;
  std::uint64_t most = 17;  // of a row
  std::uint64_t size() const { return count; }
  ps::Schema schema() const {
    return {{"label", ps::DType::i64, {}},
            {"tokens", ps::DType::i32, {ps::dynamic}, ps::Collate::ragged()},
            {"boxes", ps::DType::f32, {ps::dynamic, 2}, ps::Collate::ragged()},
            {"bytes", ps::DType::u8, {ps::dynamic}, ps::Collate::pad(0, 7)}};
  }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    out.scalar<std::int64_t>("label", static_cast<std::int64_t>(i));
    const auto length = [&](std::uint64_t salt) { return static_cast<std::int64_t>((i * 7 + salt) % most); };
    std::int32_t t = 0;
    for (std::int32_t& v : out.emplace<std::int32_t, 1>("tokens", {length(1)}))
      v = static_cast<std::int32_t>(i) * 100 + t++;
    float b = 0;
    for (float& v : out.emplace<float, 2>("boxes", {length(5), 2})) v = static_cast<float>(i) + 0.25f * b++;
    for (std::uint8_t& v : out.emplace<std::uint8_t, 1>("bytes", {length(9)})) v = static_cast<std::uint8_t>(i + 3);
  }
};

// What a batch's fields say, read by work on a stream from what `packed` gives.
struct Said {
  std::vector<std::int64_t> labels, token_table, box_table;
  std::vector<std::int32_t> tokens;
  std::vector<float> boxes;
  std::vector<std::uint8_t> bytes;
  std::vector<std::int64_t> lengths;
  friend bool operator==(const Said&, const Said&) = default;
};

template <class T>
void fetch(ps::EmulatedGpu::Stream& stream, const ps::TensorView& from, std::vector<T>& to) {
  const std::size_t bytes = from.bytes();
  to.resize(bytes / sizeof(T));
  if (bytes == 0) return;
  stream.launch("fetch", [data = from.data, bytes, out = to.data()] { std::memcpy(out, data, bytes); },
                {{from.data, bytes, false}});
}

void fetch(ps::EmulatedGpu::Stream& stream, const ps::Batch& batch, Said& said) {
  fetch(stream, batch["label"], said.labels);
  const ps::PackedTensor tokens = batch.packed("tokens"), boxes = batch.packed("boxes");
  fetch(stream, tokens.offsets, said.token_table);
  fetch(stream, tokens.data, said.tokens);
  fetch(stream, boxes.offsets, said.box_table);
  fetch(stream, boxes.data, said.boxes);
  fetch(stream, batch["bytes"], said.bytes);
  said.lengths.assign(batch.lengths("bytes").begin(), batch.lengths("bytes").end());
  // The rows' own views say the same as the table.
  const ps::RaggedRows rows = batch.ragged("tokens");
  CHECK(rows.size() == batch.size());
  if (rows.size() != 0) CHECK(rows[0].data == tokens.data.data);
}

Said of_host(const ps::Batch& batch, std::uint64_t first, std::uint64_t count) {
  Said said;
  const auto labels = batch.view<std::int64_t, 1>("label");
  const auto add = [&](const char* field, auto& elements, std::vector<std::int64_t>& table) {
    using T = typename std::remove_reference_t<decltype(elements)>::value_type;
    const ps::RaggedRows rows = batch.ragged(field);
    for (std::uint64_t r = first; r < first + count; ++r) {
      table.push_back(static_cast<std::int64_t>(elements.size()));
      const auto* const data = reinterpret_cast<const T*>(rows[r].data);
      elements.insert(elements.end(), data, data + rows[r].shape.elements());
    }
    table.push_back(static_cast<std::int64_t>(elements.size()));
  };
  for (std::uint64_t r = first; r < first + count; ++r) said.labels.push_back(labels(static_cast<std::int64_t>(r)));
  add("tokens", said.tokens, said.token_table);
  add("boxes", said.boxes, said.box_table);
  const auto bytes = batch.view<std::uint8_t, 2>("bytes");
  const auto row = static_cast<std::size_t>(bytes.extent(1));
  said.bytes.assign(bytes.data() + first * row, bytes.data() + (first + count) * row);
  const auto lengths = batch.lengths("bytes").subspan(first, count);
  said.lengths.assign(lengths.begin(), lengths.end());
  return said;
}

std::vector<Said> expected_of(const ps::Pipeline& p, std::uint64_t parts = 1, std::uint64_t epochs = 1) {
  std::vector<Said> out;
  ps::Loader loader(p, {.threads = 1});
  for (std::uint64_t e = 0; e < epochs; ++e)
    for (ps::Batch& batch : loader.epoch())
      for (std::uint64_t part = 0, first = 0; part < parts; ++part) {
        const std::uint64_t count = batch.size() / parts + (part < batch.size() % parts ? 1 : 0);
        out.push_back(of_host(batch, first, count));
        first += count;
      }
  return out;
}

ps::Pipeline texts(std::uint64_t rows = 7) { return ps::from(Texts{}) | ps::shuffle({.seed = 8}) | ps::batch(rows); }

}  // namespace

TEST_CASE("rows of any size reach a device packed and with their table") {
  const Watchdog watchdog(60s);
  for (const ps::Pipeline& p :
       {texts(), texts(1), ps::from(Texts{}) | ps::batch(9, {.tail = ps::Tail::pad}), texts() | ps::on_error({}),
        ps::from(Texts{}) | ps::bucket("tokens", {.window = 24}) |
            ps::batch(64, {.tokens = "tokens", .max_tokens = 60})}) {
    const std::vector<Said> expected = expected_of(p, 1, 2);
    for (const Mode mode : {Mode::late, Mode::threaded})
      for (const std::uint64_t seed : {0u, 3u}) {
        const bool refuses = seed == 3;  // their packed rows then lie in ordinary memory
        ps::EmulatedGpu gpu({.mode = mode,
                             .checked = true,
                             .seed = seed,
                             .max_delay_us = seed == 0 ? 0u : 60u,
                             .refuses_to_pin = refuses});
        auto stream = gpu.make_stream("consumer");
        std::deque<Said> got;
        {
          ps::Loader loader(p, {.device = gpu.device(), .threads = 2, .depth = 2, .device_depth = 2});
          for (int epoch = 0; epoch < 2; ++epoch)
            for (ps::Batch& batch : loader.epoch(stream.ref())) fetch(stream, batch, got.emplace_back());
          stream.synchronize();
          CHECK(loader.report().text().find("rows of any size on emulated") != std::string::npos);
          CHECK((loader.report().text().find("could not be pinned") != std::string::npos) == refuses);
        }
        CHECK(std::vector<Said>(got.begin(), got.end()) == expected);
        for (const std::string& finding : gpu.findings()) FAIL_CHECK(finding);
        CHECK(gpu.device_bytes_used() == 0);
        CHECK(gpu.pinned_bytes_used() == 0);
      }
  }
}

TEST_CASE("rows of any size are shared out among devices") {
  const std::vector<Said> expected = expected_of(texts(), 3);
  for (const Mode mode : {Mode::late, Mode::threaded}) {
    std::vector<ps::EmulatedGpu> gpus;
    std::vector<ps::EmulatedGpu::Stream> streams;
    std::vector<ps::StreamRef> refs;
    for (int i = 0; i < 3; ++i) gpus.emplace_back(ps::EmulatedGpuOptions{.mode = mode, .checked = true});
    for (ps::EmulatedGpu& gpu : gpus) streams.push_back(gpu.make_stream("consumer"));
    for (const auto& stream : streams) refs.push_back(stream.ref());
    std::deque<Said> got;
    {
      ps::Loader loader(texts(), {.devices = {gpus[0].device(), gpus[1].device(), gpus[2].device()}, .threads = 2});
      while (auto parts = loader.next_parts(refs))
        for (std::size_t p = 0; p < 3; ++p) fetch(streams[p], (*parts)[p], got.emplace_back());
      for (auto& stream : streams) stream.synchronize();
    }
    CHECK(std::vector<Said>(got.begin(), got.end()) == expected);
    for (const ps::EmulatedGpu& gpu : gpus) CHECK(gpu.findings().empty());
  }
}

TEST_CASE("memory for rows of any size grows to the largest batch and no further") {
  ps::EmulatedGpu gpu;
  ps::Loader loader(texts(), {.device = gpu.device(), .threads = 1});
  std::size_t on_device = 0, pinned = 0;
  for (int epoch = 0; epoch < 40; ++epoch) {
    for (ps::Batch& batch : loader.epoch()) batch.release();
    if (epoch == 20) {
      on_device = gpu.device_bytes_used();
      pinned = gpu.pinned_bytes_used();
    }
  }
  CHECK(gpu.device_bytes_used() == on_device);
  CHECK(gpu.pinned_bytes_used() == pinned);
}

TEST_CASE("a batch whose rows find no room on a device ends its epoch in order with what to raise") {
  struct Growing {
    std::uint64_t size() const { return 24; }
    ps::Schema schema() const { return {{"x", ps::DType::u8, {ps::dynamic}, ps::Collate::ragged()}}; }
    void read(std::uint64_t i, ps::SampleBuilder& out) const {
      out.emplace<std::uint8_t, 1>("x", {static_cast<std::int64_t>(i < 12 ? 10 : 4000)});
    }
  };
  const ps::Pipeline p = ps::from(Growing{}) | ps::batch(4);
  for (const bool pinned : {false, true}) {
    ps::EmulatedGpu gpu;
    ps::LoaderOptions options{.device = gpu.device(), .threads = 1, .depth = 4, .device_depth = 2};
    (pinned ? options.max_pinned_bytes : options.max_device_bytes) = 16'000;
    ps::Loader loader(p, options);
    for (int epoch = 0; epoch < 2; ++epoch) {
      std::uint64_t batches = 0;
      const auto error = error_of([&] {
        for (ps::Batch& batch : loader.epoch()) batches += batch.number() == batches ? 1 : 100;
      });
      CHECK(batches == 3);
      REQUIRE(error);
      CHECK(error->code() == ps::Errc::out_of_memory);
      CHECK(error->cause().find(pinned ? "`max_pinned_bytes`" : "`max_device_bytes`") != std::string::npos);
    }
    CHECK(gpu.device_bytes_used() <= 16'000);
  }
}

TEST_CASE("rows of any size are refused where stages stand after batch and packed is for devices") {
  struct Nothing {
    ps::Schema schema(const ps::Schema& in) const { return in; }
    void run(ps::BatchView, ps::BatchView, ps::StreamRef) const {}
  };
  ps::EmulatedGpu gpu;
  for (const ps::Device device : {ps::host(), gpu.device()}) {
    const auto error =
        error_of([&] { const ps::Loader loader(texts() | Nothing{}, {.device = device, .threads = 1}); });
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::unsupported);
    CHECK(error->cause().find("before batch") != std::string::npos);
  }
  ps::Loader loader(texts(), {.threads = 1});
  const auto batch = loader.next();
  CHECK(error_of([&] { static_cast<void>(batch->packed("tokens")); })->cause().find("packed()") != std::string::npos);
  CHECK(error_of([&] { static_cast<void>(batch->packed("label")); })->code() == ps::Errc::unsupported);
}

TEST_CASE("whichever call fails on the way of rows of any size nothing is lost or leaks") {
  const Watchdog watchdog(240s);
  const std::vector<Said> expected = expected_of(texts());
  std::uint64_t calls = 0, tried = 0, failed = 0;
  for (std::uint64_t call = 0; call == 0 || call < calls + 5; call += sanitized() ? 3 : 1) {
    INFO("call " << call);
    ++tried;
    ps::EmulatedGpu gpu({.checked = true, .fault = {call, 1}});
    {
      std::optional<ps::Loader> loader;
      auto error = error_of(
          [&] { loader.emplace(texts(), ps::LoaderOptions{.device = gpu.device(), .threads = 2, .device_depth = 2}); });
      if (!loader) {
        REQUIRE(error->code() == ps::Errc::device);
        ++failed;
        continue;
      }
      std::vector<Said> got;
      for (int tries = 0; tries < 4; ++tries) {
        error = error_of([&] {
          for (ps::Batch& batch : loader->epoch()) got.push_back(of_host(batch, 0, batch.size()));
        });
        if (!error) break;
        ++failed;
        REQUIRE(error->code() == ps::Errc::device);
        if (got.size() == expected.size()) {  // only the epoch's end was still to be told
          error.reset();
          break;
        }
        const ps::State at = loader->state();
        loader->resume(at);
      }
      REQUIRE_FALSE(error);
      REQUIRE(got == expected);
    }
    CHECK(gpu.device_bytes_used() == 0);
    CHECK(gpu.pinned_bytes_used() == 0);
    CHECK(gpu.findings().empty());
    if (call == 0) calls = gpu.calls();
  }
  INFO(failed << " of " << tried << " failed");
  CHECK(failed > tried / 3);  // how many calls there are, and which failures are mended silently, is time's
}

namespace {
// Rows that grow with their index, beside a field of a fixed size.
struct Growing {
  std::uint64_t first = 10, more = 200;
  std::int64_t fixed = 8;
  std::uint64_t count = 40;
  std::uint64_t size() const { return count; }
  ps::Schema schema() const {
    return {{"x", ps::DType::u8, {ps::dynamic}, ps::Collate::ragged()}, {"fixed", ps::DType::u8, {fixed}}};
  }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    for (std::uint8_t& v : out.emplace<std::uint8_t, 1>("x", {static_cast<std::int64_t>(first + more * i)}))
      v = static_cast<std::uint8_t>(i);
    for (std::uint8_t& v : out.emplace<std::uint8_t, 1>("fixed", {fixed})) v = static_cast<std::uint8_t>(i);
  }
};
}  // namespace

TEST_CASE("memory of rows is not given back under copies into it that nobody waited for") {
  struct Larger {
    std::uint64_t size() const { return 40; }
    ps::Schema schema() const { return {{"x", ps::DType::u8, {ps::dynamic}, ps::Collate::ragged()}}; }
    void read(std::uint64_t i, ps::SampleBuilder& out) const {
      out.emplace<std::uint8_t, 1>("x", {static_cast<std::int64_t>(i < 24 ? 100 : 5000)});
    }
  };
  const ps::Pipeline p = ps::from(Larger{}) | ps::batch(4);
  ps::State later;
  {
    ps::Loader loader(p, {.threads = 1});
    for (int i = 0; i < 6; ++i) static_cast<void>(loader.next());
    later = loader.state();
  }
  for (int round = 0; round < 3; ++round) {
    ps::EmulatedGpu gpu({.checked = true});
    {
      auto stream = gpu.make_stream("consumer");
      ps::Loader loader(p, {.device = gpu.device(), .threads = 1, .device_depth = 2});
      stream.launch("long", [] { std::this_thread::sleep_for(300ms); });
      for (ps::Batch& batch : loader.epoch(stream.ref()))
        if (batch.number() == 1) break;
      // Batches 2 and 3 are copied to where those were once that work is done, and then nobody wants them.
      std::this_thread::sleep_for(50ms);
      loader.resume(later);
      for (std::uint64_t number = 6; number < 9; ++number) CHECK(loader.next(stream.ref())->number() == number);
    }
    for (const std::string& finding : gpu.findings()) FAIL_CHECK(finding);
  }
}

TEST_CASE("limits hold with rows of any size on several devices") {
  for (const std::size_t devices : {1u, 2u}) {
    ps::EmulatedGpu gpus[2];
    const std::vector<ps::Device> all{gpus[0].device(), gpus[1].device()};
    const std::vector<ps::StreamRef> streams(devices);
    const std::size_t limit = 256 << 10;
    ps::Loader loader(ps::from(Growing{.first = 9000, .more = 150}) | ps::batch(4),
                      {.devices = {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(devices)},
                       .threads = 1,
                       .depth = 4,
                       .max_pinned_bytes = limit});
    static_cast<void>(error_of([&] {
      while (loader.next_parts(streams)) CHECK(gpus[0].pinned_bytes_used() + gpus[1].pinned_bytes_used() <= limit);
    }));
    CHECK(gpus[0].pinned_bytes_used() + gpus[1].pinned_bytes_used() <= limit);
  }
  // What a device has left beside fields of fixed sizes is enough for rows, or the depth is lower.
  const ps::Pipeline p = ps::from(Growing{.first = 50, .more = 2, .fixed = 1024, .count = 32}) | ps::batch(8);
  for (std::size_t limit = 16 << 10; limit < (40 << 10); limit += 600) {
    ps::EmulatedGpu gpu({.max_device_bytes = limit});
    INFO(limit);
    const auto refused = error_of([&] {
      ps::Loader loader(p, {.device = gpu.device(), .threads = 1, .max_device_bytes = limit});
      std::uint64_t batches = 0;
      CHECK_FALSE(error_of([&] {
        for (ps::Batch& batch : loader.epoch()) batches += batch.size() != 0 ? 1 : 0;
      }));
      CHECK(batches == 4);
    });
    CHECK(refused.has_value() == (limit < (20 << 10)));
  }
}

TEST_CASE("memory for rows counts twice where they travel") {
  struct Large {
    std::uint64_t size() const { return 64; }
    ps::Schema schema() const { return {{"x", ps::DType::u8, {ps::dynamic}, ps::Collate::ragged()}}; }
    void read(std::uint64_t, ps::SampleBuilder& out) const { out.emplace<std::uint8_t, 1>("x", {700 << 10}); }
  };
  ps::EmulatedGpu gpu;
  ps::testing::StatisticsResource memory(ps::host_memory());
  const std::size_t limit = 64 << 20;
  ps::Loader loader(
      ps::from(Large{}) | ps::batch(4),
      {.device = gpu.device(), .threads = 1, .max_memory_bytes = limit, .depth = 4, .host_memory = &memory});
  for (int epoch = 0; epoch < 2; ++epoch)
    static_cast<void>(error_of([&] {
      for (ps::Batch& batch : loader.epoch()) batch.release();
    }));
  CHECK(memory.peak() + gpu.pinned_bytes_used() <= limit);
  CHECK(gpu.pinned_bytes_used() > 0);
}
