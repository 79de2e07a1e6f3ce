// SPDX-License-Identifier: Apache-2.0
// What the measurement itself must find.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "slow_inputs/slow_inputs.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

constexpr Bounds bounds{.seconds = 1, .megabytes = 40};

void spin(std::size_t rounds) {
  [[maybe_unused]] volatile std::size_t last = 0;
  for (std::size_t i = 0; i < rounds; ++i) last = i;
}

// `use` of an input that is a text of n letters.
SlowInput input(std::size_t n, std::function<void(const std::string&)> use) {
  return {.name = "a text",
          .size = n,
          .make = [](const TempFolder& folder, std::size_t size) { folder.write("text", std::string(size, 'x')); },
          .use = [use](const TempFolder& folder) { use(content_of(folder, "text")); }};
}

bool says(const std::vector<std::string>& faults, std::string_view word) {
  for (const std::string& fault : faults)
    if (fault.find(word) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("inputs whose work is linear pass, quadratic work is found") {
  CHECK(faults_of(input(100'000, [](const std::string& text) { spin(text.size()); }), bounds).empty());
  CHECK(says(faults_of(input(400, [](const std::string& text) { spin(text.size() * text.size()); }), bounds),
             "times as long"));
}

TEST_CASE("work that grows by a step is no quadratic work, and quadratic work that ends early is") {
  const auto step = [](const std::string& text) { spin(text.size() * (text.size() > 100'000 ? 2 : 1)); };
  CHECK(faults_of(input(100'000, step), bounds).empty());
  const auto until = [](const std::string& text) { spin(text.size() > 1'600 ? 1'000 : text.size() * text.size()); };
  CHECK(says(faults_of(input(400, until), bounds), "times as long"));
}

TEST_CASE("quadratic memory, and much of it, are found") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  PENSTOCK_SKIP("sanitizers take memory of their own");
#endif
  // Takes no more for the larger texts that are tried because of the time.
  const auto take = [](const std::string& text) {
    const std::size_t size = std::min(text.size(), std::size_t{5'600});
    std::vector<char> memory(size * size, 'x');
  };
  CHECK(says(faults_of(input(1'400, take), bounds), "times the memory"));
  CHECK(says(faults_of(input(11'000'000, [](const std::string&) {}), bounds), "it takes 4"));
}

TEST_CASE("a use that takes too long is killed, and one that dies is told") {
  const Bounds soon{.seconds = 0.1, .megabytes = 40};
  CHECK(says(faults_of(input(10,
                             [](const std::string&) {
                               for (;;) spin(1000);
                             }),
                       soon),
             "killed after"));
  CHECK(says(faults_of(input(10, [](const std::string&) { ::raise(SIGTERM); }), bounds), "signal 15"));
}

TEST_CASE("another end than the expected one, and a message that grows, are found") {
  const auto refuse = [](const std::string& text) { throw Error(Errc::corrupt, text); };
  SlowInput refused = input(1'000, refuse);
  CHECK(says(faults_of(refused, bounds), "ends otherwise"));
  refused.refused = Errc::corrupt;
  CHECK(faults_of(refused, bounds).empty());
  refused.use = [](const TempFolder&) {};
  CHECK(says(faults_of(refused, bounds), "is taken"));
}
