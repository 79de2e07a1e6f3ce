#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <penstock/detail/source_model.hpp>
#include <penstock/schema.hpp>

namespace penstock::detail {

/// Scalar, and of whole numbers.
bool is_label(const Field& field) noexcept;

/// Reads the value of a scalar field of whole numbers from records that are read whole. One thread at a time.
class LabelReader {
 public:
  /// @throws Error(schema_mismatch) of `stage` where there is no such field.
  LabelReader(const SourceModel& source, std::string_view field, std::string_view stage);
  ~LabelReader();
  LabelReader(const LabelReader&) = delete;
  LabelReader& operator=(const LabelReader&) = delete;
  /// @throws what reading throws, with the record's index and key; Error(limit_exceeded) for what is no int64.
  std::int64_t operator()(std::uint64_t index);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// One for each record: as the source says, else read. @throws as LabelReader; Error(invalid_argument) where the source
/// says another number of them.
std::vector<std::int64_t> labels_of(const SourceModel& source, std::string_view field, std::string_view stage);

}  // namespace penstock::detail
