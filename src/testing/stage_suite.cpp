// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/loader.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/stages/batch.hpp>
#include <penstock/testing/transform.hpp>

#include "at_once.hpp"
#include "findings.hpp"
#include "record.hpp"
#include "stage_samples.hpp"

namespace penstock::testing {

Record sample_of(const Pipeline& pipeline, Findings& findings, const std::string& who, std::uint64_t position,
                 std::uint64_t epoch) {
  const Schema schema = pipeline.schema();
  GuardedCells cells(schema);
  cells.begin({.destinations = false});
  return make_record(cells, findings, who, [&] {
    const OwnedSample sample = pipeline.at(position, epoch);
    for (std::size_t slot = 0; slot < schema.size(); ++slot) {
      const TensorView value = sample[schema[slot].name];
      cells.set(slot, {value.shape, std::vector<std::byte>(value.data, value.data + value.bytes())}, true);
    }
  });
}

namespace {

class StageSuite {
 public:
  StageSuite(const Stage& stage, const AnySource& inputs, const TransformOptions& options)
      : options_(options), inputs_(inputs), stage_(stage) {}

  Report run() {
    findings_.runs("the stage joins a pipeline over the inputs", "`inputs | stage`", [&] { join_and_run(); });
    return findings_.report();
  }

 private:
  void join_and_run() {
    const Pipeline pipeline = from(inputs_) | stage_;
    const Pipeline alike = from(inputs_) | stage_;
    findings_.check(pipeline.schema() == alike.schema(), "the schema is always the same", [] { return "it changed"; });
    findings_.check(pipeline.fingerprint() == alike.fingerprint(), "the fingerprint is always the same",
                    [] { return "two pipelines put together alike differ"; });
    if (!findings_.check(pipeline.size() == inputs_.size(), "the stage makes one sample of one",
                         [] { return "the pipeline's size is another than its source's"; }))
      return;
    count_ = std::min(pipeline.size(), options_.records);
    const std::uint64_t places = count_ * std::max<std::uint64_t>(options_.epochs, 1);
    for (std::uint64_t p = 0; p < places; ++p) {
      records_.push_back(sample(pipeline, p));
      const Record& record = records_.back();
      bad_ = bad_ || record.failure.has_value();
      findings_.check(!record.failure || (options_.allow_bad_records && record.sample_scoped),
                      "the stage takes every record", [&] { return name(p) + ": " + record.said; });
    }
    for (std::uint64_t p = places; p-- > 0;)
      compare(pipeline, p, sample(alike, p), "the same sample is made each time", "made again in falling order");
    at_once(std::max(options_.threads, 1u), [&](unsigned thread) {
      for (std::uint64_t n = 0; n < places; ++n) {
        const std::uint64_t p = thread % 2 == 0 ? (n + thread * 7) % places : places - 1 - n;
        compare(pipeline, p, sample(pipeline, p), "the same sample is made on any thread", "while others are made");
      }
    });
    const bool fixed = std::ranges::all_of(pipeline.schema(), [](const Field& field) { return field.shape.fixed(); });
    if (fixed && !bad_) {
      load(pipeline, 1);
      load(pipeline, std::max(options_.threads, 2u));
    }
  }

  std::string name(std::uint64_t p) const {
    return "epoch " + std::to_string(p / count_) + ", record " + std::to_string(p % count_);
  }
  Record sample(const Pipeline& pipeline, std::uint64_t p) {
    return sample_of(pipeline, findings_, name(p), p % count_, p / count_);
  }
  void compare(const Pipeline& pipeline, std::uint64_t p, const Record& now, std::string_view contract,
               const std::string& when) {
    const std::string differs = difference(pipeline.schema(), records_[static_cast<std::size_t>(p)], now);
    findings_.check(differs.empty(), contract, [&] { return name(p) + ", " + when + ": " + differs; });
  }

  // Waits until a runner has begun, but not much longer than 2 seconds. Until a runner begins, the caller makes
  // samples, but this suite must check samples that runners make.
  static void await_runner(const Loader& loader) {
    for (int ms = 0; ms < 2000 && loader.report().threads_seen == 0; ++ms)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  // Checks that rows of batches equal the samples that were made one by one.
  void load(const Pipeline& pipeline, unsigned threads) {
    const std::string when = "by a loader of " + std::to_string(threads) + " threads";
    findings_.runs("a loader makes the same samples", when, [&] {
      Loader loader(pipeline | batch(5), {.threads = threads, .epochs = options_.epochs});
      for (std::uint64_t epoch = 0; epoch < options_.epochs; ++epoch) {
        std::uint64_t position = 0;
        for (const Batch& made : loader.epoch()) {
          await_runner(loader);
          for (std::uint64_t row = 0; row < made.size(); ++row, ++position)
            if (position < count_)
              compare(pipeline, epoch * count_ + position, row_of(pipeline.schema(), made, row),
                      "a loader makes the same samples", when);
        }
      }
    });
  }
  static Record row_of(const Schema& schema, const Batch& made, std::uint64_t row) {
    Record record;
    for (const Field& field : schema) {
      const std::size_t bytes = static_cast<std::size_t>(field.shape.elements()) * size_of(field.dtype);
      const std::byte* data = made[field.name].data + row * bytes;
      record.values.push_back({field.shape, std::vector<std::byte>(data, data + bytes)});
    }
    return record;
  }

  const TransformOptions& options_;
  const AnySource& inputs_;
  const Stage& stage_;
  Findings findings_;
  std::uint64_t count_ = 0;
  bool bad_ = false;
  std::vector<Record> records_;  // the record at position `p` of epoch `e` has index e * `count_` + p
};

}  // namespace

Report check_stage(const Stage& stage, const AnySource& inputs, const TransformOptions& options) {
  return StageSuite(stage, inputs, options).run();
}

}  // namespace penstock::testing
