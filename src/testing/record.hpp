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

/// The result of making one record: its values by slot, or its failure.
struct Record {
  std::vector<Value> values;
  std::optional<Errc> failure;
  std::string said;  ///< text of the failure
  bool sample_scoped = true;
};

/// Describes how two records differ; returns "" if they are equal. Two failures are equal if their codes are equal.
std::string difference(const Schema& schema, const Record& a, const Record& b);

/// A value that is a view of the store's memory.
struct StoreView {
  std::size_t slot;
  const std::byte* data;
  std::size_t bytes;
};

/// How the memory of a record is prepared before the record is made. The memory is filled with `content`. If
/// `destinations` is true, fields of fixed shape get destinations. The record must be the same with every preparation.
struct Preparation {
  std::byte content{0xa5};
  bool destinations = true;
};

/// Cells like the engine's cells, with guard bytes around every value.
class GuardedCells final : public penstock::detail::Cells {
 public:
  /// `its_schema` must outlive this object.
  explicit GuardedCells(const Schema& its_schema) { schema = &its_schema; }

  /// Makes all fields unset and prepares their memory.
  void begin(const Preparation& preparation);
  /// Sets the initial value of field `slot`. With `owned`, the field gets a copy of `value`, which may be changed.
  /// Otherwise the field gets a view of `value`, and `value` must stay valid.
  void set(std::size_t slot, const Value& value, bool owned);
  /// Gives field `slot` a destination, to which the code under test must write the value. Does nothing if the field's
  /// shape is not fixed.
  void give_destination(std::size_t slot);

  std::vector<StoreView> views() const;
  Record copy() const;

  /// Checks the values against the schema and the promises about memory. The evidence begins with `who`. Returns false
  /// if the values must not be read.
  bool check(Findings& findings, const std::string& who) const;
  /// Returns how many values were made without a destination.
  std::size_t made() const noexcept { return made_; }

 protected:
  std::byte* scratch(std::size_t bytes) override;
  std::byte* promise_memory(std::size_t bytes) override;

 private:
  Preparation preparation_;
  std::vector<GuardedMemory> blocks_;
  std::size_t made_ = 0;  // values that were made without a destination
};

/// Calls `act`, after which a record must be in `cells`, and checks the record. Returns a copy of it, or its failure.
/// `jpeg`: see `check_stored_jpeg`. The evidence begins with `who`.
Record make_record(GuardedCells& cells, Findings& findings, const std::string& who, const std::function<void()>& act,
                   const ImageDecoder* jpeg = nullptr);

/// Returns at most `most` of the indices below `size`, in ascending order; `most` = 0 means 1. If `size` is larger than
/// `most`, the result is the first index, the last, and indices spread between them. If `most` is 1, the result is the
/// first index alone.
std::vector<std::uint64_t> spread(std::uint64_t size, std::uint64_t most);

}  // namespace penstock::testing
