// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/testing/transform.hpp>

#include "at_once.hpp"
#include "findings.hpp"
#include "record.hpp"

namespace penstock::testing {

namespace {

using penstock::detail::TransformModel;

constexpr std::uint64_t seed = 20'011, stage_key = 7'919;
constexpr std::string_view same_at_a_place = "a transform makes the same of a record at one place";

class TransformSuite {
 public:
  TransformSuite(const detail::MakeTransform& make, const AnySource& inputs, const TransformOptions& options)
      : make_(make), options_(options), transform_(make()), in_(inputs.schema()) {
    const auto reader = inputs.model()->open_reader();
    GuardedCells cells(in_);
    for (std::uint64_t i = 0; i < std::min(inputs.size(), options.records); ++i) {
      cells.begin({.destinations = false});
      SampleBuilder out(cells);
      reader->read(i, out);
      inputs_.push_back(cells.copy());
    }
  }

  Report run() {
    const bool described = findings_.runs("schema takes the inputs", "it", [&] {
      out_ = transform_->schema(in_);
      findings_.check(transform_->schema(in_) == out_, "schema is always the same", [] { return "it changed"; });
      const std::string name = transform_->name();
      findings_.check(!name.empty() && name.find('\n') == std::string::npos && name == transform_->name(),
                      "a name is one line, and always the same", [&] { return "it is \"" + name + "\""; });
      findings_.check(transform_->version() == transform_->version(), "version is always the same",
                      [] { return "it changed"; });
    });
    if (!described) return findings_.report();
    const std::size_t places = inputs_.size() * static_cast<std::size_t>(std::max<std::uint64_t>(options_.epochs, 1));
    for (std::size_t p = 0; p < places; ++p) {
      records_.push_back(apply(*transform_, p, {}, false));
      const Record& record = records_.back();
      findings_.check(!record.failure || (options_.allow_bad_records && record.sample_scoped),
                      "a transform takes every record", [&] { return place_name(p) + ": " + record.said; });
    }
    for (std::size_t p = places; p-- > 0;) {
      compare(p, apply(*transform_, p, {.content = std::byte{0x5a}, .destinations = false}, true), same_at_a_place,
              "called again in falling order, on values of its own");
      if (p % 5 == 0)
        compare(p, apply(*transform_, p, {.content = std::byte{0x5a}}, false), same_at_a_place,
                "called twice in a row");
    }
    findings_.runs("another transform can be made", "making it", [&] {
      const std::shared_ptr<const TransformModel> other = make_();
      if (findings_.check(other->schema(in_) == out_, "a transform made alike is the same",
                          [] { return "its schema is another"; }))
        for (std::size_t p = 0; p < places; ++p)
          compare(p, apply(*other, p, {.content = std::byte{0x5a}}, true), "a transform made alike is the same",
                  "made alike");
    });
    at_once(std::max(options_.threads, 1u), [&](unsigned thread) {
      for (std::size_t n = 0; n < places; ++n) {
        const std::size_t p = thread % 2 == 0 ? (n + thread * 11) % places : places - 1 - n;
        compare(p, apply(*transform_, p, {.content = std::byte{0x5a}}, thread % 3 == 0),
                "a transform makes the same on any thread", "while others call it");
      }
    });
    return findings_.report();
  }

 private:
  std::string place_name(std::size_t p) const {
    return "epoch " + std::to_string(p / inputs_.size()) + ", record " + std::to_string(p % inputs_.size());
  }

  Record apply(const TransformModel& transform, std::size_t p, const Preparation& preparation, bool owned) {
    const std::size_t index = p % inputs_.size();
    const Record input = inputs_[index];
    GuardedCells cells(out_);
    cells.begin({.content = preparation.content, .destinations = false});
    for (std::size_t slot = 0; slot < out_.size(); ++slot) {
      const auto old = in_.find(out_[slot].name);
      if (old && in_[*old].dtype == out_[slot].dtype && in_[*old].shape.rank() == out_[slot].shape.rank())
        cells.set(slot, input.values[*old], owned);
      if (preparation.destinations && !(old && in_[*old] == out_[slot])) cells.give_destination(slot);
    }
    Record record = make_record(cells, findings_, place_name(p), [&] {
      Sample sample(cells);
      const Place place{p / inputs_.size(), index, 0, 0};
      Context context(seed, stage_key, place, index);
      transform.apply(sample, context);
    });
    const std::string changed = difference(in_, inputs_[index], input);
    findings_.check(changed.empty(), "a value in a store's own memory is not written to",
                    [&] { return place_name(p) + ": " + changed; });
    return record;
  }

  void compare(std::size_t p, const Record& now, std::string_view contract, const std::string& when) {
    const std::string differs = difference(out_, records_[p], now);
    findings_.check(differs.empty(), contract, [&] { return place_name(p) + ", " + when + ": " + differs; });
  }

  const detail::MakeTransform& make_;
  const TransformOptions& options_;
  std::shared_ptr<const TransformModel> transform_;
  Findings findings_;
  Schema in_, out_;
  std::vector<Record> inputs_;
  std::vector<Record> records_;  // results of the first calls; index: epoch * number of inputs + record
};

}  // namespace

Report detail::check_transform(const MakeTransform& make, const AnySource& inputs, const TransformOptions& options) {
  return TransformSuite(make, inputs, options).run();
}

}  // namespace penstock::testing
