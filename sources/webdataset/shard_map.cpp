// SPDX-License-Identifier: Apache-2.0
#include "shard_map.hpp"

#include <sys/mman.h>

#include "errors.hpp"
#include "tar_scan.hpp"

namespace penstock::webdataset {

ShardMap::ShardMap(const std::string& path, const ShardIndex& index, bool read_ahead, FileAccess access) {
  const InputFile file(path);
  if (file.bytes() != index.bytes || file.inode() != index.inode || file.device() != index.device)
    throw error_in(path, Errc::io, "the shard was changed or replaced while it was opened; open it again");
  try {
    map_ = common::FileMap(file.descriptor(), static_cast<std::size_t>(file.bytes()), source_name, path);
  } catch (const Error&) {
    if (access == FileAccess::map) throw;
    return;
  }
  if (!read_ahead) ::madvise(const_cast<std::byte*>(map_.bytes().data()), map_.bytes().size(), MADV_RANDOM);
}

}  // namespace penstock::webdataset
