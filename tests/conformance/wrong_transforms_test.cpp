// SPDX-License-Identifier: Apache-2.0
// Transforms and stages that break one promise each, and what the suite says of them.
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include <penstock/penstock.hpp>
#include <penstock/testing/generated_records.hpp>
#include <penstock/testing/transform.hpp>

#include "findings.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

namespace ps = penstock;
using namespace penstock_test;
using ps::testing::check_stage;
using ps::testing::check_transform;

namespace {

constexpr std::string_view same_at_a_place = "a transform makes the same of a record at one place";

struct Numbers {
  std::uint64_t size() const { return 20; }
  ps::Schema schema() const { return {{"x", ps::DType::f32, {4}}, {"n", ps::DType::i64, {}}}; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    for (float& v : out.emplace<float, 1>("x", {4})) v = static_cast<float>(i);
    out.scalar<std::int64_t>("n", static_cast<std::int64_t>(i));
  }
};

// Adds noise in place, a field, and changes another one's dtype.
struct Right {
  ps::Schema schema(const ps::Schema& in) const {
    return in.with({"sum", ps::DType::f64, {}}).with({"n", ps::DType::i32, {2}});
  }
  void operator()(ps::Sample& sample, ps::Context& context) const {
    double sum = 0;
    for (float& v : sample.view<float, 1>("x")) sum += v += static_cast<float>(context.rng().uniform());
    *sample.emplace<double, 0>("sum", {}).data() = sum;
    auto n = sample.emplace<std::int32_t, 1>("n", {2});
    n(0) = n(1) = static_cast<std::int32_t>(context.place().position);
  }
};

template <class F>
ps::testing::Report report_on(ps::testing::TransformOptions options = {}) {
  return check_transform([] { return F{}; }, ps::share(Numbers{}), options);
}

std::atomic<int> made{0};

}  // namespace

TEST_CASE("a transform that is right passes") {
  const auto report = report_on<Right>();
  CHECK(report.text() == "");
  CHECK(report.passed());
  CHECK(check_transform([] { return [](ps::Sample&, ps::Context&) {}; }, ps::share(ps::testing::GeneratedRecords(30)))
            .text() == "");
}

TEST_CASE("randomness and memory of a transform's own are found") {
  struct Counts {
    void operator()(ps::Sample& sample, ps::Context&) const { *sample.view<std::int64_t, 0>("n").data() = ++*calls; }
    std::shared_ptr<std::atomic<std::int64_t>> calls = std::make_shared<std::atomic<std::int64_t>>(0);
  };
  CHECK(found(report_on<Counts>(), same_at_a_place));
  struct Unwritten {
    ps::Schema schema(const ps::Schema& in) const { return in.with({"y", ps::DType::u8, {8}}); }
    void operator()(ps::Sample& sample, ps::Context&) const { sample.emplace<std::uint8_t, 1>("y", {8})(0) = 1; }
  };
  const auto unwritten = report_on<Unwritten>();
  CHECK(found(unwritten, same_at_a_place));
  CHECK(unwritten.text().find("it was not written") != std::string::npos);
  struct Object {
    void operator()(ps::Sample& sample, ps::Context&) const { *sample.view<std::int64_t, 0>("n").data() = number; }
    int number = ++made;
  };
  CHECK(found_only(report_on<Object>(), "a transform made alike is the same"));
  struct OtherSchema {
    ps::Schema schema(const ps::Schema& in) const { return in.with({"y" + std::to_string(number), ps::DType::u8, {}}); }
    void operator()(ps::Sample& sample, ps::Context&) const {
      *sample.emplace<std::uint8_t, 0>("y" + std::to_string(number), {}).data() = 1;
    }
    int number = ++made;
  };
  CHECK(found_only(report_on<OtherSchema>(), "a transform made alike is the same"));
  struct PerThread {
    void operator()(ps::Sample& sample, ps::Context&) const {
      if (std::this_thread::get_id() != first) *sample.view<std::int64_t, 0>("n").data() = -1;
    }
    std::thread::id first = std::this_thread::get_id();
  };
  CHECK(found_only(report_on<PerThread>(), "a transform makes the same on any thread"));
}

TEST_CASE("a transform that can't be made twice is found") {
  int count = 0;
  const auto report = check_transform(
      [&count] {
        if (++count > 1) throw ps::Error(ps::Errc::io, "locked");
        return Right{};
      },
      ps::share(Numbers{}));
  CHECK(found_only(report, "another transform can be made"));
}

TEST_CASE("results that don't match the schema are found") {
  struct Forgets {
    ps::Schema schema(const ps::Schema& in) const { return in.with({"y", ps::DType::u8, {}}); }
    void operator()(ps::Sample&, ps::Context&) const {}
  };
  CHECK(found(report_on<Forgets>(), "every field of the schema is given"));
  struct Keeps {
    ps::Schema schema(const ps::Schema& in) const { return in.with({"x", ps::DType::f32, {2}}); }
    void operator()(ps::Sample&, ps::Context&) const {}
  };
  CHECK(found(report_on<Keeps>(), "values have the schema's shape"));
  struct Shifts {
    ps::Schema schema(const ps::Schema& in) const { return in.with({"y" + std::to_string(++made), ps::DType::u8, {}}); }
    void operator()(ps::Sample&, ps::Context&) const {}
  };
  CHECK(found(report_on<Shifts>(), "schema is always the same"));
  struct Beyond {
    void operator()(ps::Sample& sample, ps::Context&) const { sample.view<float, 1>("x").data()[4] = 1; }
  };
  CHECK(found(report_on<Beyond>(), "nothing is written outside of a value's memory"));
  struct Steals {
    void operator()(ps::Sample& sample, ps::Context&) const {
      const_cast<float*>(sample.view<const float, 1>("x").data())[0] += 1;
    }
  };
  CHECK(found(report_on<Steals>(), "a value in a store's own memory is not written to"));
}

TEST_CASE("failures of a transform are found, or allowed") {
  struct Refuses {
    void operator()(ps::Sample& sample, ps::Context&) const {
      if (sample.scalar<std::int64_t>("n") == 3) throw ps::Error(ps::Errc::unsupported, "not 3");
    }
  };
  CHECK(found_only(report_on<Refuses>(), "a transform takes every record"));
  CHECK(report_on<Refuses>({.allow_bad_records = true}).text() == "");
  struct NoSchema {
    ps::Schema schema(const ps::Schema&) const { throw ps::Error(ps::Errc::schema_mismatch, "no"); }
    void operator()(ps::Sample&, ps::Context&) const {}
  };
  CHECK(found_only(report_on<NoSchema>(), "schema takes the inputs"));
  struct Nameless {
    std::string name() const { return ""; }
    void operator()(ps::Sample&, ps::Context&) const {}
  };
  CHECK(found_only(report_on<Nameless>(), "a name is one line, and always the same"));
  struct Versions {
    std::uint64_t version() const { return static_cast<std::uint64_t>(++made); }
    void operator()(ps::Sample&, ps::Context&) const {}
  };
  CHECK(found_only(report_on<Versions>(), "version is always the same"));
}

TEST_CASE("a stage that is right passes, through pipelines") {
  const auto inputs = ps::share(Numbers{});
  const auto right = check_stage(ps::map(Right{}), inputs);
  CHECK(right.text() == "");
  CHECK(right.passed());
  CHECK(check_stage(ps::map("x",
                            [](ps::View<const float, 1> in, ps::View<double, 1> out) {
                              for (int k = 0; k < 4; ++k) out(k) = in(k);
                            }),
                    inputs)
            .text() == "");
}

TEST_CASE("stages that are wrong are found, through pipelines") {
  const auto inputs = ps::share(Numbers{});
  std::atomic<std::int64_t> calls{0};
  const auto counts = [&calls](ps::View<std::int64_t, 0> n) { n() = ++calls; };
  CHECK(found(check_stage(ps::map("n", counts), inputs), "the same sample is made each time"));
  const auto first = std::this_thread::get_id();
  const auto per_thread = [first](ps::View<std::int64_t, 0> n) { n() = std::this_thread::get_id() == first ? 0 : 1; };
  const auto report = check_stage(ps::map("n", per_thread), inputs);
  CHECK(found(report, "the same sample is made on any thread"));
  CHECK(found(report, "a loader makes the same samples"));
  CHECK(found_only(check_stage(ps::map("missing", per_thread), inputs), "the stage joins a pipeline over the inputs"));
  const auto refuses = [](ps::View<std::int64_t, 0> n) {
    if (n() == 3) throw ps::Error(ps::Errc::corrupt, "not 3");
  };
  CHECK(found_only(check_stage(ps::map("n", refuses), inputs), "the stage takes every record"));
  CHECK(check_stage(ps::map("n", refuses), inputs, {.allow_bad_records = true}).text() == "");
  CHECK(found_only(check_stage(ps::take(3), inputs), "the stage makes one sample of one"));
  struct Versions {
    std::uint64_t version() const { return static_cast<std::uint64_t>(++made); }
    void operator()(ps::Sample&, ps::Context&) const {}
  };
  CHECK(found_only(check_stage(ps::map(Versions{}), inputs), "the fingerprint is always the same"));
  struct Shifts {
    ps::Schema schema(const ps::Schema& in) const { return in.with({"y" + std::to_string(++made), ps::DType::u8, {}}); }
    void operator()(ps::Sample& sample, ps::Context&) const {
      *sample.emplace<std::uint8_t, 0>(sample.schema()[2].name, {}).data() = 1;
    }
  };
  CHECK(found(check_stage(ps::map(Shifts{}), inputs), "the schema is always the same"));
}

}  // namespace PENSTOCK_TEST_FILE
