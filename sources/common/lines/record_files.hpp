// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/sources/file_access.hpp>

#include "common/lines/input_file.hpp"
#include "common/lines/line_index.hpp"

namespace penstock::common {

/// The text files of one source, whose records are one list. Immutable; any thread.
class RecordFiles {
 public:
  /// Where a record is.
  struct Location {
    std::size_t file = 0;
    std::uint64_t record = 0;  ///< number of the record in its file
  };

  RecordFiles() = default;
  /// `source`: the source's name in errors. `path`: the path that the source was given. `indices`: of each file, kept
  /// by the caller. @throws Error(not_found | io), also if a file is not the one that was indexed.
  RecordFiles(std::string_view source, std::string path, std::vector<std::string> files,
              std::vector<const LineIndex*> indices, FileAccess access);

  std::uint64_t size() const noexcept { return first_.back(); }
  const std::vector<std::string>& files() const noexcept { return files_; }
  /// Returns where record `index` is. @throws Error(not_found) if there is no such record.
  Location location_of(std::uint64_t index) const;
  /// Returns the location as a key: "file:line". Line numbers have leading zeros, so that the keys of a file are in the
  /// order of its records.
  std::string location_key(Location location) const;
  /// Returns `error`, which reading the record caused, with everything that is known about the record's location. The
  /// offset of `error` counts from the record's beginning.
  Error error_of(Location location, std::uint64_t index, const Error& error) const;
  /// Returns, for each file, the number of records up to its end. Returns an empty list if there is only one file.
  std::vector<std::uint64_t> block_ends() const;
  /// Returns the hash of the `file_revision` of each file when it was opened.
  std::uint64_t revision() const noexcept { return revision_; }
  /// Makes the processor fetch the records' text. Does nothing with FileAccess::read.
  void expect(std::span<const std::uint64_t> indices) const noexcept;

 private:
  friend class RecordText;

  std::string_view source_;
  std::string path_;
  std::vector<std::string> files_;
  std::vector<std::string> names_;  // the name of each file in keys and errors
  std::vector<const LineIndex*> indices_;
  std::vector<TextMap> maps_;  // empty with `FileAccess::read`
  // Index of each file's first record; the last entry is the number of all records.
  std::vector<std::uint64_t> first_{0};
  std::uint64_t revision_ = 0;
};

}  // namespace penstock::common
