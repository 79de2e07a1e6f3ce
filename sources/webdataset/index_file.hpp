// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "member_source.hpp"

namespace penstock::webdataset {

/// Index files of shards, X.idx beside X.tar, as DALI's wds2idx makes them. The first line is "v1.2 N". Each of the N
/// lines after it has one sample: "EXT OFFSET SIZE NAME" of each member, all separated by single spaces.
inline constexpr std::string_view index_extension = ".idx";

/// The largest index file that is read.
inline constexpr std::uint64_t max_index_bytes = std::uint64_t{1} << 30;
/// The most bytes between two members of an index file, and after the last one.
inline constexpr std::uint64_t max_unlisted_bytes = std::uint64_t{1} << 20;

/// Says what to do if an index file and its shard differ.
inline constexpr std::string_view way_to_right_index =
    "make the index file again with `penstock index`, remove it, or set `WebDataset::use_index` to false";

/// Thrown for an index file that can't be understood without doubt, so that it is not used.
struct IndexDoubt {
  std::string why;
};

/// The members that an index file lists. Its numbers are checked as far as they can be without the shard.
class IndexFileMembers final : public MemberSource {
 public:
  /// `file`: the index file's path, or its URL without secrets. @throws IndexDoubt; Error(corrupt) if the number of
  /// lines is not what the first line says.
  IndexFileMembers(std::string shard, std::uint64_t shard_bytes, std::string file, std::string text);

  const std::string& path() const noexcept override { return shard_; }
  std::uint64_t bytes() const noexcept override { return bytes_; }
  /// @throws IndexDoubt; Error(corrupt), which names the index file and the line, if the members can't be where the
  /// file says.
  bool next(TarMember& member) override;
  void restart() override;
  std::uint64_t position() const noexcept override { return end_; }
  /// What the size of the shard says; `require_end_as_claimed` looks.
  bool has_end() const noexcept override;
  std::string index_file() const override { return file_; }

 private:
  bool next_line();
  std::string_view next_word();
  std::uint64_t number(std::string_view word, const char* what) const;
  [[noreturn]] void refuse(const std::string& why) const;
  [[noreturn]] void doubt(const std::string& why) const;

  const std::string shard_;
  const std::uint64_t bytes_;
  const std::string file_, text_;
  std::string_view left_, line_;  // what is left of the file, and of the line
  bool in_line_ = false;
  std::uint64_t lines_ = 0, end_ = 0;
};

/// Returns the path of the index file beside a shard. Returns nothing if the shard's path does not end in ".tar".
std::optional<std::string> index_path(std::string_view shard);

struct IndexText {
  std::string text;
  std::uint64_t samples = 0;
};
/// Returns the index file of a shard's members. @throws Error(unsupported) if a member's name has a space or a line
/// break, a member is sparse, a link or the like has a sample's key, or too much follows the last member;
/// Error(invalid_argument) if there are no members; what MemberSource throws.
IndexText index_text(MemberSource& members);

/// What `write_index_file` did.
struct IndexWritten {
  std::uint64_t samples = 0;
  bool written = false;  ///< false: the file had these bytes already
};
/// Writes the index file of a shard on this machine. @throws what `index_text` throws; Error(invalid_argument) if there
/// is another kind of file; Error(io).
IndexWritten write_index_file(const std::string& shard, const std::string& file);

}  // namespace penstock::webdataset
