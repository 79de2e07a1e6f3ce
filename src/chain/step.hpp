// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <penstock/extend/image_decoder.hpp>
#include <penstock/extend/transform.hpp>
#include <penstock/schema.hpp>
#include <penstock/stages/check.hpp>
#include <penstock/state.hpp>

namespace penstock::detail::runtime {

class ChainRun;

/// What a step receives about the current sample.
struct StepCall {
  const Place& place;
  std::uint64_t index;
  std::span<std::byte* const> rows;  ///< the destination of each field of the final schema; empty: there are no
                                     ///< destinations
  std::uint64_t seed;
  const CheckOptions& check;
  std::size_t number;            ///< number of the step in its chain
  const std::string* cached_by;  ///< label of the cache that keeps the step's result and so allows no draws; or null
};

/// One step of a chain: what one stage, or several folded stages, do to a sample. Each kind of step is its own class.
/// Immutable once its chain is compiled; any thread.
class Step {
 public:
  /// A slot whose final value this step makes, and the batch's field for it.
  struct Destination {
    std::size_t slot, row;
  };
  /// How slots differ from the step before: not at all; kept ones move down and new ones follow; or in any other way.
  enum class Renumber : std::uint8_t { no, down, freely };

  Step(std::string its_label, std::uint64_t its_key) : label(std::move(its_label)), key(its_key) {}
  virtual ~Step() = default;
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  /// Does its work on the run's cells, which are set up for `schema`. Returns false if the sample ends here.
  virtual bool run(ChainRun& run, const StepCall& call) const = 0;
  /// Describes the step for plan().
  virtual std::string describe(const CheckOptions& check) const = 0;
  /// Returns the lines below that description.
  virtual std::vector<std::string> notes() const { return {}; }
  /// Returns the label that reports use for remarks about its images.
  virtual const std::string& remarks_label() const { return label; }

  // -- for the compiler --
  /// Returns whether the slot gets a new value, as opposed to one that is changed in place or kept. `before`: the
  /// schema before the step.
  virtual bool makes(const Schema& before, std::size_t slot) const = 0;
  /// Returns the only slot whose old value it may change; none: any slot.
  virtual std::optional<std::size_t> only_slot() const { return std::nullopt; }
  /// Sets its schema if that follows from the schema before. Other steps got theirs when the stage joined the pipeline.
  virtual void follow(const Schema&) {}
  /// Returns the names of the fields that it resamples by nearest, like masks.
  virtual std::vector<std::string> masks() const { return {}; }
  /// Returns the name that the field had before the step.
  virtual const std::string& name_before(const std::string& name) const { return name; }

  // -- for a run --
  /// Returns whether all values are new, so that nothing of the old cells is left.
  virtual bool starts_anew(const ChainRun&) const { return false; }
  /// Returns whether the slot's value counts as made by this step. `first`: no step ran before it.
  virtual bool counts(std::size_t slot, bool first) const {
    static_cast<void>(first);
    return only_slot() == slot;
  }
  /// Returns the working state of its decoder for one run; null: it has no decoder.
  virtual std::unique_ptr<ImageDecoding> start_decoding() const { return nullptr; }
  /// Checks the sizes of values whose size is known only now. @throws Error(limit_exceeded) if one exceeds the limit.
  void check_sizes(const ChainRun& run) const;
  /// Returns how many samples are made of the current one.
  virtual std::uint32_t count(ChainRun&, const StepCall&) const { return 1; }

  std::string label;
  const std::uint64_t key;
  Schema schema;  ///< fields after this step
  // Set by the compiler:
  std::size_t fields = 0;            ///< how many fields `schema` has
  std::vector<std::size_t> varying;  ///< slots it writes whose size is known only from the value
  Renumber renumber = Renumber::no;
  std::vector<std::ptrdiff_t> from;               ///< old slot of each new slot, -1 = none; only if slots are
                                                  ///< renumbered
  std::vector<std::size_t> cleared;               ///< slots whose old value can't be read as the new type
  std::vector<Destination> destinations;          ///< destinations of dense fields
  std::vector<Destination> varying_destinations;  ///< destinations of the other fields

 protected:
  /// Returns whether the slot's field is new, or has values of a different kind than before. Names of classes don't
  /// count.
  bool declares_anew(const Schema& before, std::size_t slot) const;
  /// Checks that every slot has a value, in a shape that its field allows. @throws Error(schema_mismatch |
  /// limit_exceeded).
  void check_values(const ChainRun& run) const;
};

/// Call after a callable whose result a cache keeps. @throws Error(invalid_argument) if it drew.
void refuse_draws(const StepCall& call, Context& context);

}  // namespace penstock::detail::runtime
