// SPDX-License-Identifier: Apache-2.0
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

/// A copy of one field's value.
struct Value {
  Shape shape;
  std::vector<std::byte> bytes;
};

/// The result of making one record: its values, by slot, or how it failed.
struct Record {
  std::vector<Value> values;
  std::optional<Errc> failure;
  std::string said;  ///< text of the failure
  bool sample_scoped = true;
};

/// Describes how two records differ; returns "" if they are equal. Failures are equal if their codes are.
std::string difference(const Schema& schema, const Record& a, const Record& b);

/// A value in a store's own memory.
struct StoreView {
  std::size_t slot;
  const std::byte* data;
  std::size_t bytes;
};

/// How a record's memory is prepared. Neither its content nor destinations of values may change the result.
struct Preparation {
  std::byte content{0xa5};
  bool destinations = true;
};

/// A record like the engine's while it is processed, with guards around every value.
class GuardedCells final : public penstock::detail::Cells {
 public:
  /// `schema` must outlive this.
  explicit GuardedCells(const Schema& its_schema) { schema = &its_schema; }

  /// Makes all fields unset.
  void begin(const Preparation& preparation);
  /// Sets the initial value of field `slot`: a view of `value`, which must stay valid, or, with `owned`, a copy that
  /// may be changed.
  void set(std::size_t slot, const Value& value, bool owned);
  /// Gives field `slot` a destination, for a value that is still to be made.
  void give_destination(std::size_t slot);

  std::vector<StoreView> views() const;
  Record copy() const;

  /// Checks what was made against the schema and the promises about memory. `who` begins the evidence. Returns false if
  /// the values must not be read.
  bool check(Findings& findings, const std::string& who) const;
  /// Number of values that were made without a destination.
  std::size_t made() const noexcept { return made_; }

 protected:
  std::byte* scratch(std::size_t bytes) override;
  std::byte* promise_memory(std::size_t bytes) override;

 private:
  Preparation preparation_;
  std::vector<GuardedMemory> blocks_;
  std::size_t made_ = 0;  // values that were made without a destination
};

/// Runs `act`, which makes a record in `cells`. Returns a copy of what it made, or how it failed. `jpeg` is
/// decode_jpeg, for the stored JPEGs of promised images. Null: they are not decoded.
Record make_record(GuardedCells& cells, Findings& findings, const std::string& who, const std::function<void()>& act,
                   const ImageDecoder* jpeg = nullptr);

/// Returns at most `most` of `size` indices in ascending order: all, or the first, the last and some spread between.
std::vector<std::uint64_t> spread(std::uint64_t size, std::uint64_t most);

}  // namespace penstock::testing
