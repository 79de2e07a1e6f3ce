#include "shard_map.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <utility>

#include "errors.hpp"
#include "tar_scan.hpp"

namespace penstock::webdataset {

ShardMap::ShardMap(const std::string& path, const ShardIndex& index, bool read_ahead) {
  const InputFile file(path);
  if (file.bytes() != index.bytes || file.inode() != index.inode || file.device() != index.device)
    throw error_in(path, Errc::io, "the shard was changed or replaced while it was opened; open it again");
  bytes_ = static_cast<std::size_t>(file.bytes());
  void* const data = ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, file.descriptor(), 0);
  if (data == MAP_FAILED) throw system_error(errno, "mapping the shard into memory", path);
  data_ = static_cast<const std::byte*>(data);
  if (!read_ahead) ::madvise(data, bytes_, MADV_RANDOM);
}

ShardMap::ShardMap(ShardMap&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

ShardMap::~ShardMap() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), bytes_);
}

}  // namespace penstock::webdataset
