// SPDX-License-Identifier: Apache-2.0
// A source and a transform of one's own, held to their contracts without any test framework; and a source that breaks
// its contract, which must be told.
#include <penstock/penstock.hpp>
#include <penstock/testing/source.hpp>
#include <penstock/testing/transform.hpp>

#include <cstdio>

namespace ps = penstock;

struct Squares {
  std::uint64_t size() const { return 100; }
  ps::Schema schema() const { return {{"x", ps::DType::i64, {2}}}; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    if (i >= size()) throw ps::Error(ps::Errc::not_found, "there are 100 squares");
    auto x = out.emplace<std::int64_t, 1>("x", {2});
    x(0) = x(1) = static_cast<std::int64_t>(i * i);
  }
};

struct HalfWritten : Squares {
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    if (i >= size()) throw ps::Error(ps::Errc::not_found, "there are 100 squares");
    out.emplace<std::int64_t, 1>("x", {2})(0) = 1;
  }
};

struct AddNoise {
  void operator()(ps::Sample& sample, ps::Context& context) const {
    for (std::int64_t& v : sample.view<std::int64_t, 1>("x")) v += static_cast<std::int64_t>(context.rng().below(10));
  }
};

int main() {
  const auto source = ps::testing::check_source([] { return Squares{}; });
  const auto transform = ps::testing::check_transform([] { return AddNoise{}; }, ps::share(Squares{}));
  const auto wrong = ps::testing::check_source([] { return HalfWritten{}; });
  std::printf("%s%s%s", source.text().c_str(), transform.text().c_str(), wrong.passed() ? "not seen\n" : "");
  std::printf("penstock %d.%d.%d: %llu and %llu checks\n", PENSTOCK_VERSION_MAJOR, PENSTOCK_VERSION_MINOR,
              PENSTOCK_VERSION_PATCH, static_cast<unsigned long long>(source.checks()),
              static_cast<unsigned long long>(transform.checks()));
  return source.passed() && transform.passed() && !wrong.passed() ? 0 : 1;
}
