#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/image_decoder.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/schema.hpp>

#include "findings.hpp"
#include "guarded_memory.hpp"

namespace penstock::testing {

/// One field's value, copied out.
struct Value {
  Shape shape;
  std::vector<std::byte> bytes;
};

/// What came of making one record: its values, by slot, or how it failed.
struct Record {
  std::vector<Value> values;
  std::optional<Errc> failure;
  std::string said;  ///< what the failure said
  bool sample_scoped = true;
};

/// Where two records differ, in words; empty where they are the same. Failures are the same when their code is.
std::string difference(const Schema& schema, const Record& a, const Record& b);

/// A value that lies in a store's own memory.
struct StoreView {
  std::size_t slot;
  const std::byte* data;
  std::size_t bytes;
};

/// How a record's memory is prepared: its content may not matter, nor whether values have a destination already.
struct Preparation {
  std::byte content{0xa5};
  bool destinations = true;
};

/// A record in work, as the engine has it, with guards around every value.
class GuardedCells final : public penstock::detail::Cells {
 public:
  /// `schema` must outlive this.
  explicit GuardedCells(const Schema& its_schema) { schema = &its_schema; }

  /// All fields unset.
  void begin(const Preparation& preparation);
  /// Field `slot` begins as this value. A view of `value`, which must stay; or, with `owned`, a copy that may be
  /// written.
  void set(std::size_t slot, const Value& value, bool owned);
  /// A destination for a value that is still to be made.
  void give_destination(std::size_t slot);

  std::vector<StoreView> views() const;
  Record copy() const;

  /// Holds what was made to the schema and to the promises of memory. `who` begins the evidence. False where the
  /// values are not to be looked at.
  bool check(Findings& findings, const std::string& who) const;
  /// True when fields were given more often than there are.
  std::size_t made() const noexcept { return made_; }

 protected:
  std::byte* scratch(std::size_t bytes) override;
  std::byte* promise_memory(std::size_t bytes) override;

 private:
  Preparation preparation_;
  std::vector<GuardedMemory> blocks_;
  std::size_t made_ = 0;  // values that had no destination
};

/// Runs `act`, which makes a record in `cells`, and copies out what it made or how it failed. `jpeg`: decode_jpeg, for
/// the stored JPEGs of promised images; null: they are not decoded.
Record make_record(GuardedCells& cells, Findings& findings, const std::string& who, const std::function<void()>& act,
                   const ImageDecoder* jpeg = nullptr);

/// Up to `most` of `size` indices in ascending order: all, or the first, the last and what is spread between.
std::vector<std::uint64_t> spread(std::uint64_t size, std::uint64_t most);

}  // namespace penstock::testing
