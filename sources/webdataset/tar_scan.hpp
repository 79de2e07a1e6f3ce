// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/error.hpp>

#include "shard_bytes.hpp"
#include "tar_header.hpp"

namespace penstock::webdataset {

/// A file that is open for reading as long as the object exists. The constructor throws Error(not_found | io), and
/// Error(invalid_argument) if the path is not a regular file's.
class InputFile final : public ShardBytes {
 public:
  explicit InputFile(const std::string& path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile() override;

  int descriptor() const noexcept { return fd_; }
  const std::string& path() const noexcept override { return path_; }
  std::uint64_t bytes() const noexcept override { return bytes_; }
  std::uint64_t device() const noexcept { return device_; }
  std::uint64_t inode() const noexcept { return inode_; }
  void read(char* to, std::size_t count, std::uint64_t offset) const override;

 private:
  std::string path_;
  int fd_ = -1;
  std::uint64_t bytes_ = 0, device_ = 0, inode_ = 0;
};

/// Why a member can't be read, although the members after it can.
enum class TarFault : std::uint8_t { none, sparse, unknown_type, long_name };

/// A member of a tar file.
struct TarMember {
  std::string name;  ///< the name as written in the file
  char type = '0';
  std::uint64_t header = 0;  ///< offset of the member's first block, which may be an extended header's
  std::uint64_t offset = 0;  ///< offset of the member's data
  std::uint64_t size = 0;    ///< bytes of the member's data, which end within the file
  TarFault fault = TarFault::none;

  /// Returns false for links, devices and similar members.
  bool is_file() const noexcept { return type == '0' || type == '\0' || type == '7'; }
};

/// Goes through the members of one tar file, except folders and volume labels. One thread at a time may use it.
class TarScan {
 public:
  /// `file` must outlive the object. @throws Error(unsupported) if the file is compressed, Error(corrupt) if it is
  /// empty.
  explicit TarScan(const ShardBytes& file);

  /// Sets `member` to the next member. Returns false if there is no further member. @throws
  /// Error(corrupt | unsupported | limit_exceeded | io), with the offset.
  bool next(TarMember& member);
  /// Returns the position after the padding of the member that was read last. The next member would begin there.
  std::uint64_t position() const noexcept { return position_; }
  /// Returns whether the archive has tar's end mark. Call this after `next` has returned false.
  bool has_end() const noexcept { return has_end_; }

 private:
  /// What extended headers specify about the member after them.
  struct ExtendedHeader {
    PaxRecords pax;
    std::string long_name;
    bool pending = false;  ///< there was an extended header, and its member must follow
  };

  /// Returns `count` bytes of the file from `offset`. The view is valid until the next call. REQUIRES: the range is
  /// within the file.
  std::string_view look(std::uint64_t offset, std::size_t count);
  bool take(TarMember& member, bool& listed);
  std::optional<TarBlockView> next_block();
  void take_extension(const TarHeader& header, ExtendedHeader& extensions);
  void check(TarMember& member, bool sparse) const;
  void skip_maps(TarMember& member);
  std::string extension_data(const TarHeader& header, std::uint64_t at);
  void refuse_what_follows();
  std::uint64_t step_over(std::uint64_t offset, std::uint64_t size) const noexcept;
  [[noreturn]] void fail(Errc code, std::string cause, std::uint64_t offset) const;

  const ShardBytes& file_;
  std::uint64_t position_ = 0;
  bool has_end_ = false;
  std::vector<char> window_;
  std::uint64_t window_begin_ = 0, window_end_ = 0;
};

}  // namespace penstock::webdataset
