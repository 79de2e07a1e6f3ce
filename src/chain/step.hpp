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
  const std::string* cached_by;  ///< label of a later cache that allows no draws before it; null: draws are allowed
};

/// One step of a chain: what one stage, or several folded stages, do to a sample. Each kind of step is its own class.
/// Immutable after its chain was compiled; any thread may use it.
class Step {
 public:
  /// A slot whose final value this step makes, and the number of the batch's field that gets the value.
  struct Destination {
    std::size_t slot, row;
  };
  /// How the slots differ from the slots of the step before. `no`: they are the same. `down`: kept fields stay in
  /// order, and new fields come after them. `freely`: in any other way.
  enum class Renumber : std::uint8_t { no, down, freely };

  Step(std::string its_label, std::uint64_t its_key) : label(std::move(its_label)), key(its_key) {}
  virtual ~Step() = default;
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  /// Does the step's work on the ChainRun's cells, which are set up for `schema`. Returns false if a filter leaves the
  /// sample out.
  virtual bool run(ChainRun& run, const StepCall& call) const = 0;
  /// Describes the step for plan().
  virtual std::string describe(const CheckOptions& check) const = 0;
  /// Returns the lines of plan() below the description.
  virtual std::vector<std::string> notes() const { return {}; }
  /// Returns the label under which reports list remarks about the step's images.
  virtual const std::string& remarks_label() const { return label; }

  // -- for the compiler --
  /// Returns whether the slot gets a new value. Returns false if the step keeps the old value or changes it in place.
  /// `before`: the schema before the step.
  virtual bool makes(const Schema& before, std::size_t slot) const = 0;
  /// Returns the only slot whose old value the step may change; empty: the step may change any slot.
  virtual std::optional<std::size_t> only_slot() const { return std::nullopt; }
  /// Sets `schema` of a step whose schema depends on the schema before the step. Other steps set `schema` in the
  /// constructor.
  virtual void follow(const Schema&) {}
  /// Returns the names of the fields that the step resamples by nearest, like masks.
  virtual std::vector<std::string> masks() const { return {}; }
  /// Returns the name that the field had before the step.
  virtual const std::string& name_before(const std::string& name) const { return name; }

  /// Returns the name of the field whose value the step gives to this field; `name` itself: the step copies no value.
  virtual const std::string& copied_from(const std::string& name) const { return name; }

  // -- for a run --
  /// Returns whether the step makes all values, so that all old cells may be cleared.
  virtual bool starts_anew(const ChainRun&) const { return false; }
  /// Returns whether reports count the bytes of the slot's value for this step. `first`: this step is the first one
  /// that ran for the sample.
  virtual bool counts(std::size_t slot, bool first) const {
    static_cast<void>(first);
    return only_slot() == slot;
  }
  /// Returns the working state of the step's decoder for one ChainRun; null: the step has no decoder.
  virtual std::unique_ptr<ImageDecoding> start_decoding() const { return nullptr; }
  /// Checks the values whose sizes differ between samples. @throws Error(limit_exceeded) if a value exceeds the limit.
  void check_sizes(const ChainRun& run) const;
  /// Returns how many samples the step makes of the current sample.
  virtual std::uint32_t count(ChainRun&, const StepCall&) const { return 1; }

  std::string label;
  const std::uint64_t key;
  Schema schema;  ///< the fields after the step
  // Set by the compiler:
  std::size_t fields = 0;            ///< number of fields in `schema`
  std::vector<std::size_t> varying;  ///< slots that the step may write and whose values differ in size
  Renumber renumber = Renumber::no;
  std::vector<std::ptrdiff_t> from;               ///< for each new slot: the old slot; -1: the field is new
  std::vector<std::size_t> cleared;               ///< slots whose old value can't be read as the new type
  std::vector<Destination> destinations;          ///< dense fields whose final value this step makes
  std::vector<Destination> varying_destinations;  ///< other fields whose final value this step makes

 protected:
  /// Returns whether the slot's field is new, or has a new dtype, shape or collation. Names of classes don't count.
  bool declares_anew(const Schema& before, std::size_t slot) const;
  /// Checks that every slot has a value, in a shape that its field allows. @throws Error(schema_mismatch |
  /// limit_exceeded).
  void check_values(const ChainRun& run) const;
};

/// Call after a user's callable ran. @throws Error(invalid_argument) if the callable drew random numbers although a
/// later cache keeps the result and does not allow draws.
void refuse_draws(const StepCall& call, Context& context);

}  // namespace penstock::detail::runtime
