#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::webdataset {

/// What a store is made of and cut by: two runs that differ in it write different shards.
struct SinkJob {
  std::string fields;      ///< the schema, as text
  std::string extensions;  ///< "image=jpg|png|bin, label=cls"
  std::string keys;        ///< "automatic" or "position"
  std::string job;
  std::string classes;  ///< class names, as the file beside the shards has them
  std::uint64_t samples = 0, max_samples = 0, max_bytes = 0;
  friend bool operator==(const SinkJob&, const SinkJob&) = default;
};

/// How far an unfinished store is: the content of the file that marks it. Of shards before `shard` everything is
/// committed, of `shard` its first `shard_bytes`.
struct Progress {
  SinkJob job;
  std::uint64_t samples = 0;
  std::uint64_t shard = 0;
  std::uint64_t shard_bytes = 0;
  bool finishing = false;  ///< all is written, the shards are being given their names
};

std::string to_json(const Progress& progress);
/// @throws Error(state_mismatch), without a file.
Progress parse_progress(std::string_view json);

/// What differs between an earlier run and this one, in words; empty when they agree.
std::string difference(const SinkJob& there, const SinkJob& wanted);

}  // namespace penstock::webdataset
