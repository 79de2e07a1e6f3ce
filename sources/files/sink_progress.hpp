#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::files {

/// What a folder is made of: two runs that differ in it write different files.
struct SinkJob {
  std::string fields;   ///< the schema, as text
  std::string field;    ///< the one that becomes files
  std::string keys;     ///< "automatic" or "position"
  std::string classes;  ///< the names that the table has
  std::string job;
  std::uint64_t samples = 0;
  friend bool operator==(const SinkJob&, const SinkJob&) = default;
};

/// How far an unfinished folder is: the content of the file that marks it. What is committed is in the first
/// `table_bytes` of the table, and the files that they name are there.
struct SinkProgress {
  SinkJob job;
  std::uint64_t samples = 0;
  std::uint64_t table_bytes = 0;
  bool finishing = false;  ///< all is written, the table is being given its name
};

std::string to_json(const SinkProgress& progress);
/// @throws Error(state_mismatch), without a file.
SinkProgress parse_progress(std::string_view json);

/// What differs between an earlier run and this one, in words; empty when they agree.
std::string difference(const SinkJob& there, const SinkJob& wanted);

}  // namespace penstock::files
