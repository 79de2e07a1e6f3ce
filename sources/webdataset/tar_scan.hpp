// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/error.hpp>

#include "member_source.hpp"
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

/// Reads the members' headers.
class TarScan final : public MemberSource {
 public:
  /// `file` must outlive the object. @throws Error(unsupported) if the file is compressed, Error(corrupt) if it is
  /// empty.
  explicit TarScan(const ShardBytes& file);
  /// Begins with the header at `begin`, and reads only bytes before `end`. `next` throws Error(corrupt) where it would
  /// need further ones.
  TarScan(const ShardBytes& file, std::uint64_t begin, std::uint64_t end);

  const std::string& path() const noexcept override { return file_.path(); }
  std::uint64_t bytes() const noexcept override { return file_.bytes(); }
  /// @throws Error(corrupt | unsupported | limit_exceeded | io), with the offset.
  bool next(TarMember& member) override;
  void restart() override;
  /// The position after the padding of the member that was read last.
  std::uint64_t position() const noexcept override { return position_; }
  bool has_end() const noexcept override { return has_end_; }

 private:
  /// What extended headers specify about the member after them.
  struct ExtendedHeader {
    PaxRecords pax;
    std::string long_name;
    bool pending = false;  ///< there was an extended header, and its member must follow
  };

  /// Returns `count` bytes of the file from `offset`. The view is valid until the next call. REQUIRES: the range is
  /// within the file. @throws Error(corrupt) if the bytes are not to be read.
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
  const std::uint64_t begin_, readable_end_;
  std::uint64_t position_;
  bool has_end_ = false;
  std::vector<char> window_;
  std::uint64_t window_begin_ = 0, window_end_ = 0;
};

}  // namespace penstock::webdataset
