// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <penstock/detail/source_model.hpp>
#include <penstock/schema.hpp>

namespace penstock::detail {

/// Returns whether the field is a scalar with a dtype of whole numbers.
bool is_label(const Field& field) noexcept;

/// Reads whole records, and returns from each the value of one scalar field of whole numbers. One thread at a time may
/// use it.
class LabelReader {
 public:
  /// @throws Error(schema_mismatch), with the stage `stage`, if `source` has no such field.
  LabelReader(const SourceModel& source, std::string_view field, std::string_view stage);
  ~LabelReader();
  LabelReader(const LabelReader&) = delete;
  LabelReader& operator=(const LabelReader&) = delete;
  /// Returns the value of a record. @throws what the source throws, with the record's index and key; and
  /// Error(limit_exceeded) if the value does not fit an int64.
  std::int64_t operator()(std::uint64_t index);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Returns the labels that the source knows without reading records; none if it knows none. @throws like `labels_of`.
std::optional<std::vector<std::int64_t>> known_labels_of(const SourceModel& source, std::string_view field,
                                                         std::string_view stage);

/// Returns the label of each record. Takes the labels from the source if it has them, otherwise reads the records.
/// @throws like LabelReader; and Error(invalid_argument) if the source does not return one label per record.
std::vector<std::int64_t> labels_of(const SourceModel& source, std::string_view field, std::string_view stage);

}  // namespace penstock::detail
