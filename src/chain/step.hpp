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

/// What a step is told of the sample in work.
struct StepCall {
  const Place& place;
  std::uint64_t index;
  std::span<std::byte* const> rows;  ///< the destination of each field of the final schema; empty: there are none
  std::uint64_t seed;
  const CheckOptions& check;
  std::size_t number;            ///< number of the step in its chain
  const std::string* cached_by;  ///< label of the cache that keeps what the step makes and allows no draws; or null
};

/// One step of a chain: what one stage, or some that were folded, does to a sample. Immutable once its chain is
/// compiled; any thread. A kind of step is a class of its own.
class Step {
 public:
  /// A slot whose final value this step makes, and the field of the batch that it is.
  struct Destination {
    std::size_t slot, row;
  };
  /// How slots differ from the step before: not at all; kept ones move down and new ones follow; in some other way.
  enum class Renumber : std::uint8_t { no, down, freely };

  Step(std::string its_label, std::uint64_t its_key) : label(std::move(its_label)), key(its_key) {}
  virtual ~Step() = default;
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  /// Does its work on the run's cells, which are set up for `schema`. False: the sample ends here.
  virtual bool run(ChainRun& run, const StepCall& call) const = 0;
  /// The step in words, for plan().
  virtual std::string describe(const CheckOptions& check) const = 0;
  /// Lines that stand below that.
  virtual std::vector<std::string> notes() const { return {}; }
  /// The label of what its images' remarks are about, in reports.
  virtual const std::string& remarks_label() const { return label; }

  // -- for the compiler --
  /// The value of this slot is a new one, rather than one that is changed in place or left alone. `before`: the schema
  /// before the step.
  virtual bool makes(const Schema& before, std::size_t slot) const = 0;
  /// The only slot whose old value it may change; none: any of them.
  virtual std::optional<std::size_t> only_slot() const { return std::nullopt; }
  /// Its schema, where that follows from the one before; for others it was said when the stage joined the pipeline.
  virtual void follow(const Schema&) {}
  /// Names of the fields that it resamples by nearest, as masks are.
  virtual std::vector<std::string> masks() const { return {}; }
  /// The field that it makes, or knows, under another name: what is called so before the step.
  virtual const std::string& name_before(const std::string& name) const { return name; }

  // -- for a run --
  /// All values are new: nothing is left of what the cells held.
  virtual bool starts_anew(const ChainRun&) const { return false; }
  /// Whether the value of this slot counts as made by it; `first`: no step was run before it.
  virtual bool counts(std::size_t slot, bool first) const {
    static_cast<void>(first);
    return only_slot() == slot;
  }
  /// Working state of its decoder, one for each run; null: it has none.
  virtual std::unique_ptr<ImageDecoding> start_decoding() const { return nullptr; }
  /// What it made of a size that only the value tells is below the limit. @throws Error(limit_exceeded).
  void check_sizes(const ChainRun& run) const;
  /// How many samples become of the one in work.
  virtual std::uint32_t count(ChainRun&, const StepCall&) const { return 1; }

  std::string label;
  const std::uint64_t key;
  Schema schema;  ///< fields after this step
  // Set by the compiler:
  std::size_t fields = 0;            ///< how many fields `schema` has
  std::vector<std::size_t> varying;  ///< slots it writes whose size is only known from the value
  Renumber renumber = Renumber::no;
  std::vector<std::ptrdiff_t> from;               ///< old slot of each new slot, -1 = none; where it renumbers
  std::vector<std::size_t> cleared;               ///< slots whose old value can't be read as the new type
  std::vector<Destination> destinations;          ///< destinations of dense fields
  std::vector<Destination> varying_destinations;  ///< destinations of the other fields

 protected:
  /// The field in this slot is new, or its values are of another kind than before. Names of classes don't count.
  bool declares_anew(const Schema& before, std::size_t slot) const;
  /// Every slot has a value, of a shape that its field admits. @throws Error(schema_mismatch | limit_exceeded).
  void check_values(const ChainRun& run) const;
};

/// Call after a callable ran whose result a cache keeps. @throws Error(invalid_argument) where it drew.
void refuse_draws(const StepCall& call, Context& context);

}  // namespace penstock::detail::runtime
