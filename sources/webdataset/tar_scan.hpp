// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/error.hpp>

#include "tar_header.hpp"

namespace penstock::webdataset {

/// A file that is open for reading as long as this lives. @throws Error.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  int descriptor() const noexcept { return fd_; }
  const std::string& path() const noexcept { return path_; }
  std::uint64_t bytes() const noexcept { return bytes_; }
  std::uint64_t device() const noexcept { return device_; }
  std::uint64_t inode() const noexcept { return inode_; }
  /// Reads exactly `count` bytes. @throws Error(io), also if the file has become shorter.
  void read(char* to, std::size_t count, std::uint64_t offset) const;

 private:
  std::string path_;
  int fd_ = -1;
  std::uint64_t bytes_ = 0, device_ = 0, inode_ = 0;
};

/// Why a member can't be read although later members can.
enum class TarFault : std::uint8_t { none, sparse, unknown_type, long_name };

/// A member of a tar file with its own header.
struct TarMember {
  std::string name;  ///< name as written
  char type = '0';
  std::uint64_t header = 0;  ///< offset of the first block that belongs to it
  std::uint64_t offset = 0;  ///< offset of its data
  std::uint64_t size = 0;    ///< bytes of its data, which are within the file
  TarFault fault = TarFault::none;

  /// Returns false for links, devices and similar members.
  bool is_file() const noexcept { return type == '0' || type == '\0' || type == '7'; }
};

/// Goes through the headers of one tar file, without directories. One thread at a time.
class TarScan {
 public:
  /// `file` must outlive this. @throws Error(unsupported) for a compressed file, Error(corrupt) for an empty one.
  explicit TarScan(const InputFile& file);

  /// Returns false at the end. @throws Error(corrupt | unsupported | io), with the offset.
  bool next(TarMember& member);
  /// Returns the position after the last member's padding, where a next member would begin.
  std::uint64_t position() const noexcept { return position_; }
  /// Returns whether tar's end mark was there, once the end was reached.
  bool has_end() const noexcept { return has_end_; }

 private:
  /// What extended headers specify about the member after them.
  struct Extensions {
    PaxRecords pax;
    std::string long_name;
    bool pending = false;  ///< there was one, which needs a member
  };

  /// The result is valid until the next call, and within the file.
  std::string_view look(std::uint64_t offset, std::size_t count);
  bool take(TarMember& member, bool& listed);
  std::optional<TarBlockView> next_block();
  void take_extension(const TarHeader& header, Extensions& extensions);
  void check(TarMember& member, bool sparse) const;
  void skip_maps(TarMember& member);
  std::string extension_data(const TarHeader& header, std::uint64_t at);
  void refuse_what_follows();
  std::uint64_t step_over(std::uint64_t offset, std::uint64_t size) const noexcept;
  [[noreturn]] void fail(Errc code, std::string cause, std::uint64_t offset) const;

  const InputFile& file_;
  std::uint64_t position_ = 0;
  bool has_end_ = false;
  std::vector<char> window_;
  std::uint64_t window_begin_ = 0, window_end_ = 0;
};

}  // namespace penstock::webdataset
