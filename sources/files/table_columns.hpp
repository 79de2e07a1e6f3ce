// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <penstock/extend/sample.hpp>
#include <penstock/schema.hpp>

namespace penstock::files {

/// The columns of the table next to the files: the file's name, then `label`, if that field exists, then the other
/// fields in the schema's order. One thread at a time.
class TableColumns {
 public:
  /// Makes columns of all fields except `image`, which becomes the file. @throws Error(schema_mismatch | unsupported |
  /// invalid_argument), which names no file.
  TableColumns(const Schema& schema, const std::string& image);

  /// Returns the slot of the field that becomes the file.
  std::size_t image_slot() const noexcept { return image_slot_; }
  /// Returns the first line.
  const std::string& header() const noexcept { return header_; }
  /// Returns the class names of all fields as one text. If any name differs, the text differs. The text is empty if no
  /// field has classes.
  std::string classes_text() const;
  /// Returns a record's line, valid until the next call. @throws Error(invalid_argument), which names no file.
  const std::string& line(std::string_view file, const Sample& sample);

 private:
  struct Column {
    std::size_t slot = 0;
    Field field;
    std::unordered_set<std::string_view> names;  // views of the class names in `field`
  };
  void append_value(const Column& column, const TensorView& value);

  std::size_t image_slot_;
  std::vector<Column> columns_;
  std::string header_, line_;
};

}  // namespace penstock::files
