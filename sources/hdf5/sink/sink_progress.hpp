#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::hdf5 {

/// What a store is made of and cut by: two runs that differ in it write different files.
struct SinkJob {
  std::string fields;    ///< the schema, as text
  std::string datasets;  ///< the datasets, as `text_of` has them
  std::string classes;   ///< the classes, as text
  std::string job;
  std::uint64_t samples = 0, max_samples = 0, max_bytes = 0;  ///< the latter two 0 for a single file
};

/// How far an unfinished store is: the content of the file that marks it. Shards before `shard` are whole; of `shard`
/// are there the first `shard_bytes` of its data, and the rows that fill no chunk in one of two files beside it.
struct SinkProgress {
  SinkJob job;
  std::uint64_t samples = 0;  ///< samples of all shards
  std::uint64_t shard = 0;
  std::uint64_t shard_bytes = 0;  ///< 0: nothing of it is there
  std::uint64_t shard_rows = 0;
  std::uint64_t shard_values = 0;  ///< bytes of its values before they are compressed
  unsigned rows_file = 0;
  bool finishing = false;  ///< all is written, the files are being given their names
};

std::string to_json(const SinkProgress& progress);
/// @throws Error(state_mismatch), without a file.
SinkProgress parse_progress(std::string_view json);

/// The job alone, as a finished file keeps it.
std::string to_json(const SinkJob& job);
/// One that nothing agrees with where the text is none.
SinkJob parse_job(std::string_view json);

/// What differs between an earlier run and this one, in words; empty when they agree.
std::string difference(const SinkJob& there, const SinkJob& wanted);

}  // namespace penstock::hdf5
