#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <penstock/extend/sample.hpp>
#include <penstock/schema.hpp>

namespace penstock::files {

/// What the table beside the files says of each record: the file's name, then `label`, where there is such a field,
/// then the other fields in the schema's order. One thread at a time.
class TableColumns {
 public:
  /// All fields but `image`, which becomes the file. @throws Error(schema_mismatch | unsupported | invalid_argument),
  /// without a file.
  TableColumns(const Schema& schema, const std::string& image);

  /// Slot of the field that becomes the file.
  std::size_t image_slot() const noexcept { return image_slot_; }
  /// The first line.
  const std::string& header() const noexcept { return header_; }
  /// The names of classes, as text that is the same for the same ones only; empty where there are none.
  std::string classes_text() const;
  /// A record's line. Valid until the next one. @throws Error(invalid_argument), without a file.
  const std::string& line(std::string_view file, const Sample& sample);

 private:
  struct Column {
    std::size_t slot = 0;
    Field field;
    std::unordered_set<std::string_view> names;  // names of classes, which the field holds
  };
  void append_value(const Column& column, const TensorView& value);

  std::size_t image_slot_;
  std::vector<Column> columns_;
  std::string header_, line_;
};

}  // namespace penstock::files
