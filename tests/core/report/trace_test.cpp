// SPDX-License-Identifier: Apache-2.0
// The timeline of a loader, as a file.
#include "support/catch.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <penstock/emulated_gpu.hpp>

#include "core/blocks/chunks.hpp"
#include "core/help.hpp"
#include "support/json.hpp"
#include "support/thrown.hpp"

using namespace help;
using penstock_test::code_of;
using penstock_test::error_of;
using penstock_test::Json;
using penstock_test::mentions;

namespace {

constexpr std::size_t plenty = 100'000;

struct Slice {
  std::string name;
  double begin_us, end_us;
  std::int64_t number;  // -1: none
};
// By the names of the lines.
using Lines = std::map<std::string, std::vector<Slice>>;

Lines lines_of(const ps::Loader& loader) {
  const std::string file = std::filesystem::temp_directory_path() / ("trace_test_" + std::to_string(::getpid()));
  loader.write_trace(file);
  std::ifstream in(file);
  const auto json = Json::parse({std::istreambuf_iterator<char>(in), {}});
  std::filesystem::remove(file);
  std::map<std::int64_t, std::string> names;
  Lines out;
  for (const auto& event : json["traceEvents"]) {
    const std::string phase = event["ph"].text();
    if (phase == "M") {
      if (event["name"] == "thread_name") {
        const std::string name = event["args"]["name"].text();
        REQUIRE(names.emplace(event["tid"].whole(), name).second);
        REQUIRE(out.emplace(name, std::vector<Slice>()).second);
      }
      continue;
    }
    // Whatever begins ends in the same event.
    REQUIRE(phase == "X");
    const double begin = event["ts"].number(), length = event["dur"].number();
    REQUIRE(begin >= 0);
    REQUIRE(length >= 0);
    out.at(names.at(event["tid"].whole()))
        .push_back({event["name"].text(), begin, begin + length,
                    event.contains("args") ? event["args"]["number"].whole() : -1});
  }
  return out;
}

// Of two slices of a line one lies in the other, or they have nothing in common.
void check_nesting(const Lines& lines) {
  constexpr double rounding_us = 1e-3;
  for (const auto& [name, all] : lines) {
    INFO(name);
    std::vector<Slice> slices = all;
    std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
      return a.begin_us != b.begin_us ? a.begin_us < b.begin_us : a.end_us > b.end_us;
    });
    std::vector<double> ends;
    for (const Slice& s : slices) {
      while (!ends.empty() && ends.back() <= s.begin_us + rounding_us) ends.pop_back();
      if (!ends.empty()) REQUIRE(s.end_us <= ends.back() + rounding_us);
      ends.push_back(s.end_us);
    }
  }
}

std::vector<std::int64_t> numbers(const Lines& lines, const std::string& line, const std::string& name) {
  std::vector<std::int64_t> out;
  for (const auto& [is, slices] : lines)
    if (is.starts_with(line))
      for (const Slice& s : slices)
        if (s.name == name) out.push_back(s.number);
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::int64_t> up_to(std::int64_t end) {
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < end; ++i) out.push_back(i);
  return out;
}

struct Thrice {
  std::uint32_t count(const ps::Sample&, ps::Context&) const { return 3; }
  void child(const ps::Sample&, std::uint32_t, ps::Sample&, ps::Context&) const {}
};

void take_all(ps::Loader& loader) {
  while (auto batch = loader.next()) std::this_thread::sleep_for(100us);
}

}  // namespace

TEST_CASE("a timeline has every sample, every stage and every batch, from its beginning to its end", "[alone]") {
  const Watchdog dog(60s);
  const ps::Pipeline p =
      ps::from(Records{.count = 60}) | ps::map("x", [](ps::View<std::uint32_t, 1>) {}) | ps::batch(4);
  ps::Loader loader(p, {.threads = 3, .trace = plenty, .epochs = 1});
  take_all(loader);
  const Lines lines = lines_of(loader);
  check_nesting(lines);
  CHECK(numbers(lines, "runner ", "sample") == up_to(60));
  CHECK(numbers(lines, "runner ", "read").size() == 60);
  CHECK(numbers(lines, "runner ", "map(x)").size() == 60);
  for (const char* state : {"filling", "ready", "held"}) CHECK(numbers(lines, "batch ", state) == up_to(15));
  CHECK(numbers(lines, "order", "order").size() == 15);
  // The epoch's end is asked for, too.
  CHECK(numbers(lines, "next()", "next").size() >= 15);
  CHECK(numbers(lines, "next()", "wait for batch").size() >= 15);
  CHECK(lines.count("runners without work") == 1);
  const auto memory = loader.report().memory;
  CHECK(std::any_of(memory.begin(), memory.end(),
                    [](const ps::MemoryPurpose& row) { return row.name == "timeline" && row.bytes() >= 32 * plenty; }));
}

TEST_CASE("a timeline shows what a reordered pipeline, blocks and devices do", "[alone]") {
  const Watchdog dog(60s);
  SECTION("samples are settled") {
    ps::Loader loader(
        ps::from(Records{.count = 60}) | ps::filter([](const ps::Sample&) { return true; }) | ps::batch(4),
        {.threads = 2, .trace = plenty, .epochs = 1});
    take_all(loader);
    const Lines lines = lines_of(loader);
    check_nesting(lines);
    CHECK(numbers(lines, "runner ", "sample") == up_to(60));
    CHECK_FALSE(numbers(lines, "runner ", "settle").empty());
    CHECK_FALSE(numbers(lines, "order", "order").empty());
    CHECK(numbers(lines, "batch ", "held") == up_to(15));
  }
  SECTION("records that several samples share") {
    const ps::Pipeline p = ps::from(Records{.count = 60}) | ps::map("x", [](ps::View<std::uint32_t, 1>) {}) |
                           ps::flat_map(Thrice{}) | ps::batch(4);
    ps::Loader loader(p, {.threads = 2, .trace = plenty, .epochs = 1});
    take_all(loader);
    const Lines lines = lines_of(loader);
    check_nesting(lines);
    CHECK(numbers(lines, "runner ", "record") == up_to(60));
    CHECK(numbers(lines, "runner ", "read").size() == 60);
    CHECK(numbers(lines, "runner ", "map(x)").size() == 60);
    CHECK(numbers(lines, "runner ", "sample").size() == 180);
  }
  SECTION("every load of a block") {
    Chunks source;
    source.count = 64;
    ps::Loader loader(ps::from(source) | ps::batch(8), {.threads = 2, .trace = plenty, .epochs = 1});
    take_all(loader);
    const Lines lines = lines_of(loader);
    check_nesting(lines);
    CHECK(numbers(lines, "runner ", "load block") == up_to(8));
  }
  SECTION("an emulated device") {
    const ps::EmulatedGpu gpu;
    ps::Loader loader(ps::from(Records{.count = 60}) | ps::batch(4),
                      {.device = gpu.device(), .threads = 2, .trace = plenty, .epochs = 1});
    take_all(loader);
    const Lines lines = lines_of(loader);
    check_nesting(lines);
    CHECK(numbers(lines, "to " + ps::to_string(gpu.device()), "enqueue batch") == up_to(15));
    CHECK(numbers(lines, "batch ", "held") == up_to(15));
  }
  SECTION("why runners had nothing to do") {
    ps::Loader loader(ps::from(Records{.count = 60}) | ps::batch(4), {.threads = 2, .depth = 2, .trace = plenty});
    for (int i = 0; i < 5; ++i) {
      const auto batch = loader.next();
      std::this_thread::sleep_for(5ms);
    }
    const Lines lines = lines_of(loader);
    check_nesting(lines);
    // Both of them.
    const auto all = numbers(lines, "runners without work", "caller");
    REQUIRE_FALSE(all.empty());
    CHECK(all.back() == 2);
  }
}

TEST_CASE("a timeline keeps the latest slices of each line, and can be written at any moment", "[alone]") {
  const Watchdog dog(60s);
  ps::Loader loader(ps::from(Records{.count = 4000}) | ps::batch(4), {.threads = 1, .trace = 50});
  take_all(loader);
  const Lines lines = lines_of(loader);
  check_nesting(lines);
  // The caller's thread may be one of the runners.
  std::size_t runners = 0;
  for (const auto& [name, slices] : lines) {
    CHECK(slices.size() <= 51);  // and the state that a batch is in
    runners += name.starts_with("runner ") ? 1 : 0;
  }
  // A sample and its stage.
  const auto last = numbers(lines, "runner ", "sample");
  REQUIRE_FALSE(last.empty());
  CHECK(last.size() <= 25 * runners);

  std::atomic<bool> over{false};
  std::thread consumer([&] {
    for (int i = 0; i < 3; ++i) take_all(loader);
    over = true;
  });
  while (!over) check_nesting(lines_of(loader));
  consumer.join();
}

TEST_CASE("what can't be written of a timeline is told", "[alone]") {
  ps::Loader none(ps::from(Records{.count = 60}) | ps::batch(4));
  CHECK(code_of([&] { none.write_trace("x.json"); }) == ps::Errc::invalid_argument);
  ps::Loader loader(ps::from(Records{.count = 60}) | ps::batch(4), {.trace = 10});
  CHECK(code_of([&] { loader.write_trace("/nowhere/x.json"); }) == ps::Errc::not_found);
  if (std::filesystem::exists("/dev/full"))
    CHECK(mentions(error_of([&] { loader.write_trace("/dev/full"); }), "/dev/full"));
}
