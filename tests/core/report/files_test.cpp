// SPDX-License-Identifier: Apache-2.0
// What reading takes, by file, and how long single samples take.
#include "support/catch.hpp"

#include "core/blocks/chunks.hpp"
#include "core/help.hpp"
#include "report/sample_times.hpp"

using namespace help;
using penstock::detail::runtime::slow_file;

namespace {

struct InFiles : Records {
  std::string file_of(std::uint64_t i) const { return "file-" + std::to_string(i % 4); }
};

struct ChunksInFiles : Chunks {
  std::string file_of(std::uint64_t i) const { return "file-" + std::to_string(i / per_block % 4); }
};

ps::Report run(const ps::Pipeline& pipeline, const ps::LoaderOptions& options) {
  ps::Loader loader(pipeline, options);
  while (loader.next()) {
  }
  return loader.report();
}

}  // namespace

TEST_CASE("the report says what reading takes in each file, and names one that stands out", "[alone]") {
  const Watchdog dog(60s);
  InFiles source;
  source.count = 256;
  source.shared->before_read = [](std::uint64_t i) { std::this_thread::sleep_for(i % 4 == 2 ? 20ms : 1ms); };
  const ps::Report r = run(ps::from(source) | ps::batch(4), {.threads = 2, .epochs = 1});
  REQUIRE(r.files.size() == 4);
  CHECK(r.files[0].name == "file-2");
  CHECK(r.files[0].read_us > 20'000);
  CHECK(r.files[0].share > 0.6);
  CHECK(r.files[0].measured >= 3);
  CHECK(r.bound == ps::Bound::storage);
  CHECK(r.verdict.find("file-2") != std::string::npos);
  CHECK(r.sample_p99_s >= 0.02);
  CHECK(r.sample_p50_s < 0.02);
  CHECK(r.text().find("us a record of  file-2") != std::string::npos);
  CHECK(r.json().find("{\"name\": \"file-2\", \"measured\": ") != std::string::npos);
}

TEST_CASE("the report says what loading blocks takes in each file, and names one that stands out", "[alone]") {
  const Watchdog dog(60s);
  ChunksInFiles source;
  source.count = 1024;
  source.shared->before_load = [](std::uint64_t b) { std::this_thread::sleep_for(b % 4 == 2 ? 20ms : 1ms); };
  const ps::Report r =
      run(ps::from(source) | ps::shuffle({.seed = 1}) | ps::batch(8), {.threads = 2, .depth = 16, .epochs = 1});
  REQUIRE(r.files.size() == 4);
  CHECK(r.files[0].name == "file-2");
  CHECK(r.files[0].of_blocks);
  CHECK(r.files[0].read_us > 20'000);
  CHECK(r.files[0].share > 0.6);
  CHECK(r.files[0].measured >= 3);
  CHECK(r.verdict.find("reading from file-2 takes ") != std::string::npos);
  CHECK(r.verdict.find(" ms a block, and ") != std::string::npos);
  CHECK(r.text().find("us a block of  file-2") != std::string::npos);
  CHECK(r.json().find("\"of_blocks\": true}") != std::string::npos);
}

TEST_CASE("the report says what reading takes in files that follow each other, and in joined sources", "[alone]") {
  const Watchdog dog(60s);
  // Four files, one after the other; the last records that are measured are all of the last one.
  struct OneAfterTheOther : Records {
    std::string file_of(std::uint64_t i) const { return "file-" + std::to_string(i / 50'000); }
  };
  OneAfterTheOther source;
  source.count = 200'000;
  source.shared->before_read = [](std::uint64_t) {
    for (const auto end = std::chrono::steady_clock::now() + 3us; std::chrono::steady_clock::now() < end;) {
    }
  };
  CHECK(run(ps::from(source) | ps::batch(50), {.threads = 1, .epochs = 1}).files.size() == 4);

  struct Named : Records {
    std::string file_of(std::uint64_t) const { return name; }
    std::string name;
  };
  std::vector<Named> parts(2);
  for (Named& part : parts) part.count = 1024;
  parts[0].name = "one";
  parts[1].name = "another";
  parts[1].shared->before_read = [](std::uint64_t) { std::this_thread::sleep_for(200us); };
  const ps::Report r = run(ps::from(ps::concat({parts[0], parts[1]})) | ps::batch(8), {.threads = 2, .epochs = 1});
  REQUIRE(r.files.size() == 2);
  CHECK(r.files[0].name == "another");
}

TEST_CASE("of all that was measured some are kept, of the run's whole length", "[alone]") {
  penstock::detail::runtime::MeasuredSamples kept;
  for (std::uint64_t i = 0; i < 25'600; ++i) kept.add({.index = i, .read_ns = 1, .sample_ns = 1});
  std::vector<std::uint64_t> quarters(4);
  kept.for_each([&](const penstock::detail::runtime::MeasuredSample& sample) { ++quarters.at(sample.index / 6'400); });
  for (const std::uint64_t quarter : quarters) CHECK((quarter > 40 && quarter < 90));
  double all = 0;
  kept.for_each([&](const penstock::detail::runtime::MeasuredSample& sample) { all += sample.weight; });
  CHECK(all == Approx(25'600));
  // A part of the run has the last ones.
  penstock::detail::runtime::RunTotals before, now;
  now.sample_times.run = {{.index = 1}};
  kept.for_each_last(
      [&](const penstock::detail::runtime::MeasuredSample& sample) { now.sample_times.last.push_back(sample); });
  const penstock::detail::runtime::RunTotals part = since(now, before);
  CHECK(part.sample_times.run.size() == kept.size);
  for (const penstock::detail::runtime::MeasuredSample& sample : part.sample_times.run)
    CHECK(sample.index >= 25'600 - 256);
}

TEST_CASE("loads of blocks count as often as there are loads that they stand for", "[alone]") {
  ChunksInFiles source;
  source.count = 1024;
  const penstock::detail::BlockSourceOf<ChunksInFiles> model(source);
  penstock::detail::runtime::RunTotals t;
  t.kept = 100;
  t.blocks.loads = 96;
  t.sample_times.run.assign(64, {.index = 0, .read_ns = 5, .sample_ns = 10});
  // Of file-0 each load was measured, of file-1 one in 16.
  for (int i = 0; i < 32; ++i) t.load_times.run.push_back({.index = 0, .read_ns = 1'000});
  for (int i = 0; i < 4; ++i) t.load_times.run.push_back({.index = 8, .read_ns = i == 0 ? 500u : 1'500u, .weight = 16});
  ps::Report r;
  r.stages.resize(1);
  r.stages[0].wait_us_per_sample = 2;  // a load takes 1.17
  penstock::detail::runtime::fill_sample_times(r, model, t);
  REQUIRE(r.files.size() == 2);
  CHECK(r.files[0].name == "file-1");
  CHECK(r.files[0].measured == 4);
  CHECK(r.files[0].read_us == Approx(1.25));
  CHECK(r.files[0].share == Approx(80.0 / 112));
  CHECK(r.files[1].share == Approx(32.0 / 112));
  // What else reading takes is longer.
  r.files.clear();
  r.stages[0].wait_us_per_sample = 3;
  penstock::detail::runtime::fill_sample_times(r, model, t);
  CHECK(r.files.empty());
}

TEST_CASE("a source that can't name its files gets its report all the same", "[alone]") {
  struct Nameless : Records {
    std::string file_of(std::uint64_t) const { throw ps::Error(ps::Errc::io, "no name"); }
  };
  Nameless source;
  source.count = 64;
  const ps::Report r = run(ps::from(source) | ps::batch(4), {.threads = 2, .epochs = 1});
  CHECK(r.batches == 16);
  CHECK(r.files.empty());
  CHECK(r.sample_p50_s > 0);
}

TEST_CASE("one file alone is not listed, and of even ones none stands out", "[alone]") {
  CHECK(run(ps::from(Records{.count = 64}) | ps::batch(4), {.threads = 2, .epochs = 1}).files.empty());
  ps::Report r;
  r.files = {{"a", 10, 100, 0.5}, {"b", 10, 90, 0.45}, {"c", 1, 900, 0.05}};
  CHECK(slow_file(r) == nullptr);  // the third one was measured once
  r.files[2] = {"c", 3, 900, 0.6};
  REQUIRE(slow_file(r) != nullptr);
  CHECK(slow_file(r)->name == "c");
  r.files[2].share = 0.1;
  CHECK(slow_file(r) == nullptr);
}

TEST_CASE("a file for each record says nothing of where reading is slow", "[alone]") {
  struct FileEach : Records {
    std::string file_of(std::uint64_t i) const { return "picture-" + std::to_string(i); }
  };
  FileEach source;
  source.count = 256;
  CHECK(run(ps::from(source) | ps::batch(4), {.threads = 2, .epochs = 1}).files.empty());
}

TEST_CASE("waiting is counted, too, of samples most of which take no time at all", "[alone]") {
  const Watchdog dog(60s);
  Records source;
  source.count = 16'000;
  source.shared->before_read = [](std::uint64_t i) {
    if (i % 4 == 3) std::this_thread::sleep_for(1ms);
  };
  const ps::Report r = run(ps::from(source) | ps::batch(16), {.threads = 8, .epochs = 1});
  CHECK(r.stages[0].wait_us_per_sample > 130);
  CHECK(r.stages[0].wait_us_per_sample < 600);
}
