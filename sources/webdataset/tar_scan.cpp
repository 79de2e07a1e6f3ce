// SPDX-License-Identifier: Apache-2.0
#include "tar_scan.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <utility>

#include <penstock/extend/file_descriptor.hpp>

#include "errors.hpp"

namespace penstock::webdataset {

namespace {

constexpr std::size_t near_bytes = 64u << 10;  // bytes to read at once if the next header is near
constexpr std::uint64_t near_gap = 8u << 10;
constexpr std::size_t far_bytes = 4u << 10;  // bytes to read at once if the next header is not near
constexpr std::uint64_t max_extension_bytes = 1u << 20;
constexpr std::uint64_t looked_at_after_end = 1u << 20;

struct Compression {
  std::string_view magic;
  const char* name;
  const char* command;
};
constexpr std::array compressions{Compression{"\x1f\x8b", "gzip", "gunzip"},
                                  Compression{"\x28\xb5\x2f\xfd", "zstd", "unzstd"},
                                  Compression{"BZh", "bzip2", "bunzip2"},
                                  Compression{"\xfd"
                                              "7zXZ",
                                              "xz", "unxz"},
                                  Compression{"\x04\x22\x4d\x18", "lz4", "unlz4"}};

bool is_extension(char type) noexcept {
  return type == 'x' || type == 'X' || type == 'g' || type == 'L' || type == 'K';
}

// Old archives, from before folders had a type, mark a folder by a slash at the end of its name.
bool is_old_folder(const TarMember& member) noexcept {
  return (member.type == '0' || member.type == '\0') && member.name.ends_with('/');
}

TarBlockView block_of(std::string_view bytes) noexcept { return TarBlockView(bytes.data(), tar_block_bytes); }

}  // namespace

InputFile::InputFile(const std::string& path)
    : path_(path), fd_(uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); })) {
  if (fd_ < 0) throw system_error(errno, "opening the shard", path);
  struct stat status {};
  const int failed = ::fstat(fd_, &status) != 0 ? errno : 0;
  if (failed != 0 || !S_ISREG(status.st_mode)) {
    ::close(fd_);
    if (failed != 0) throw system_error(failed, "looking at the shard's size", path);
    throw error_in(path, Errc::invalid_argument, "it is not a regular file, which a shard must be");
  }
  bytes_ = static_cast<std::uint64_t>(status.st_size);
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

InputFile::~InputFile() { ::close(fd_); }

void InputFile::read(char* to, std::size_t count, std::uint64_t offset) const {
  const std::size_t got = read_whole(fd_, std::as_writable_bytes(std::span(to, count)), offset);
  if (got == count) return;
  if (errno != 0) throw system_error(errno, "reading the shard", path_).with_offset(offset + got);
  throw error_in(path_, Errc::io, "the shard was cut short while it was open; open it again", offset + got);
}

TarScan::TarScan(const ShardBytes& file, std::uint64_t begin, std::uint64_t end)
    : file_(file), begin_(begin), readable_end_(end), position_(begin) {}

TarScan::TarScan(const ShardBytes& file) : TarScan(file, 0, file.bytes()) {
  if (file.bytes() == 0) fail(Errc::corrupt, "the file is empty, not even tar's end mark is there", 0);
  const std::string_view head = look(0, static_cast<std::size_t>(std::min<std::uint64_t>(file.bytes(), 8)));
  for (const Compression& compression : compressions)
    if (head.starts_with(compression.magic))
      fail(Errc::unsupported,
           std::string("the shard is compressed with ") + compression.name +
               ", so its samples can't be found without reading all of it; decompress it (" + compression.command +
               "): images gain nothing from it",
           0);
}

void TarScan::fail(Errc code, std::string cause, std::uint64_t offset) const {
  throw error_in(file_.path(), code, std::move(cause), offset);
}

void TarScan::restart() {
  position_ = begin_;
  has_end_ = false;
}

std::string_view TarScan::look(std::uint64_t offset, std::size_t count) {
  if (offset > readable_end_ || count > readable_end_ - offset)
    fail(Errc::corrupt, "what begins here does not end where it should", offset);
  if (offset < window_begin_ || offset + count > window_end_) {
    const bool near = offset >= window_begin_ && offset <= window_end_ + near_gap;
    const std::uint64_t most = std::max<std::uint64_t>(count, near ? near_bytes : far_bytes);
    const auto part = static_cast<std::size_t>(std::min(readable_end_ - offset, most));
    if (window_.size() < part) window_.resize(part);
    window_end_ = window_begin_ = 0;
    file_.read(window_.data(), part, offset);
    window_begin_ = offset;
    window_end_ = offset + part;
  }
  return {window_.data() + (offset - window_begin_), count};
}

std::uint64_t TarScan::step_over(std::uint64_t offset, std::uint64_t size) const noexcept {
  // The last member's padding may be missing.
  return std::min(offset + size + padding_of(size), file_.bytes());
}

std::string TarScan::extension_data(const TarHeader& header, std::uint64_t at) {
  if (header.size > max_extension_bytes)
    fail(Errc::limit_exceeded,
         "an extended header of " + std::to_string(header.size) + " bytes; " + std::to_string(max_extension_bytes) +
             " are taken at most",
         at);
  return std::string(look(at + tar_block_bytes, static_cast<std::size_t>(header.size)));
}

// Throws if a second archive follows the first one, because the second one's samples would be left out silently.
void TarScan::refuse_what_follows() {
  const std::uint64_t end = std::min(readable_end_, position_ + looked_at_after_end);
  for (std::uint64_t at = position_; at + tar_block_bytes <= end; at += tar_block_bytes) {
    const TarBlockView block = block_of(look(at, tar_block_bytes));
    if (is_zero(block)) continue;
    if (has_checksum(block))
      fail(Errc::unsupported,
           "there are members after the end of the archive, as of several archives written one after the other; join "
           "them with tar --concatenate, or keep them as shards of their own",
           at);
    return;
  }
}

bool TarScan::next(TarMember& member) {
  bool listed = false;
  while (!listed)
    if (!take(member, listed)) return false;
  return true;
}

// Returns the next header's block, or nothing at the end of the archive.
std::optional<TarBlockView> TarScan::next_block() {
  const std::uint64_t left = file_.bytes() - position_;
  if (left < tar_block_bytes) {
    const std::string_view rest = look(position_, static_cast<std::size_t>(left));
    if (rest.find_first_not_of('\0') != std::string_view::npos)
      fail(Errc::corrupt, "the shard is truncated in the middle of a header; copy or make it again", position_);
    return std::nullopt;
  }
  const TarBlockView block = block_of(look(position_, tar_block_bytes));
  if (!is_zero(block)) return block;
  has_end_ = true;
  refuse_what_follows();
  return std::nullopt;
}

void TarScan::take_extension(const TarHeader& header, ExtendedHeader& extensions) {
  const std::uint64_t at = position_, data = at + tar_block_bytes;
  if (header.size > file_.bytes() - data)
    fail(Errc::corrupt, "the shard is truncated in an extended header; copy or make it again", at);
  const std::string text = extension_data(header, at);
  PaxRecords global;
  try {
    if (header.type == 'L')
      extensions.long_name = text.substr(0, text.find('\0'));
    else if (header.type != 'K')
      parse_pax(text, header.type == 'g' ? global : extensions.pax);
  } catch (TarDamage& damage) {
    damage.offset += tar_block_bytes;  // the caller counts from the header
    throw;
  }
  if (global.path || global.size || global.sparse)
    fail(Errc::unsupported, "a global extended header gives all members one name, size or map of holes", at);
  extensions.pending = extensions.pending || header.type != 'g';
  position_ = step_over(data, header.size);
}

// Checks that the member's data are in the file, and that the next member can be found. Sets `fault` if the member
// itself can't be read.
void TarScan::check(TarMember& member, bool sparse) const {
  const std::uint64_t at = position_;
  const bool old_folder = is_old_folder(member), has_data = member.is_file() || member.type == 'D' || sparse;
  const bool known = has_data || member.type == 'V' || (member.type >= '1' && member.type <= '6');
  member.fault = sparse                                ? TarFault::sparse
                 : !known                              ? TarFault::unknown_type
                 : member.name.size() > max_name_bytes ? TarFault::long_name
                                                       : TarFault::none;
  // By POSIX, a member of unknown type has data after its header, like a file.
  if (known && !has_data && member.size != 0)
    fail(Errc::unsupported,
         "the member \"" + printable(member.name) + "\" is a link, a folder or a device, but has a size, of " +
             std::to_string(member.size) + " bytes; what follows can't be told",
         at);
  if (old_folder && member.size != 0) fail(Errc::corrupt, "a folder has a size", at);
  if (member.size > file_.bytes() - member.offset)
    fail(Errc::corrupt,
         "the shard is truncated: the member \"" + printable(member.name) + "\" should have " +
             std::to_string(member.size) + " bytes, but the file ends after " +
             std::to_string(file_.bytes() - member.offset) + "; copy or make it again",
         at);
}

// Skips the rest of a sparse member's map of holes. In GNU's old format, the part of the map that does not fit into the
// header is in blocks after the header.
void TarScan::skip_maps(TarMember& member) {
  constexpr std::size_t in_header = 482, in_map = 504;
  if (member.type != 'S') return;
  bool more = look(member.offset - tar_block_bytes, tar_block_bytes)[in_header] != '\0';
  while (more) {
    if (file_.bytes() - member.offset < tar_block_bytes)
      fail(Errc::corrupt, "the shard is truncated in the middle of a header; copy or make it again", member.offset);
    more = look(member.offset, tar_block_bytes)[in_map] != '\0';
    member.offset += tar_block_bytes;
  }
}

// Reads one member of any type. Sets `listed` to whether `next` returns the member. Returns false at the end of the
// archive.
bool TarScan::take(TarMember& member, bool& listed) {
  ExtendedHeader extensions;
  const std::uint64_t first = position_;
  while (true) {
    const std::optional<TarBlockView> block = next_block();
    if (!block) {
      if (extensions.pending)
        fail(Errc::corrupt, "the shard ends with an extended header whose member is missing", first);
      return false;
    }
    const std::uint64_t at = position_;
    try {
      TarHeader header = parse_header(*block);
      if (is_extension(header.type)) {
        take_extension(header, extensions);
        continue;
      }
      member.type = header.type;
      member.name = extensions.pax.sparse_name      ? *extensions.pax.sparse_name
                    : extensions.pax.path           ? *extensions.pax.path
                    : !extensions.long_name.empty() ? extensions.long_name
                                                    : std::move(header.name);
      member.header = first;
      member.offset = at + tar_block_bytes;
      member.size = extensions.pax.size.value_or(header.size);
    } catch (const TarDamage& damage) {
      fail(Errc::corrupt, std::string(damage.what) + "; copy the shard or make it again", at + damage.offset);
    }
    skip_maps(member);
    check(member, member.type == 'S' || extensions.pax.sparse);
    position_ = step_over(member.offset, member.size);
    listed = member.type != '5' && member.type != 'V' && member.type != 'D' && !is_old_folder(member);
    return true;
  }
}

}  // namespace penstock::webdataset
