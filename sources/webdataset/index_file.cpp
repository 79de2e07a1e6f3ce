// SPDX-License-Identifier: Apache-2.0
#include "index_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "errors.hpp"
#include "member_name.hpp"
#include "shard_paths.hpp"
#include "tar_header.hpp"

namespace penstock::webdataset {

namespace {

constexpr std::string_view version = "v1.2";

constexpr const char* sparse_why =
    "is sparse, so its bytes don't lie in the shard as they are; make the shard without --sparse";

struct IndexName {
  std::string_view key, extension;
};

// Splits a name as wds2idx does. A name without a dot loses its last byte as a key, and is its own extension.
IndexName split_for_index(std::string_view name) noexcept {
  const std::size_t dot = name.find('.', name.rfind('/') + 1);  // npos + 1 is 0
  if (dot == std::string_view::npos) return {name.substr(0, name.empty() ? 0 : name.size() - 1), name};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

std::string shown(std::string_view text) { return "\"" + printable(text, 100) + "\""; }

}  // namespace

IndexFileMembers::IndexFileMembers(std::string shard, std::uint64_t shard_bytes, std::string file, std::string text)
    : shard_(std::move(shard)), bytes_(shard_bytes), file_(std::move(file)), text_(std::move(text)) {
  restart();
}

void IndexFileMembers::restart() {
  left_ = text_;
  lines_ = end_ = 0;
  if (!left_.starts_with("v1.") || !next_line()) doubt("it does not begin like an index file of wds2idx");
  if (const std::string_view its = next_word(); its != version)
    doubt("it is of version " + printable(its, 20) + ", and only those of version " + std::string(version) +
          " are used");
  if (!in_line_) refuse("the number of samples is missing");
  const std::uint64_t samples = number(next_word(), "the number of samples");
  if (in_line_) refuse("more than the number of samples is there");
  const auto lines = static_cast<std::uint64_t>(std::ranges::count(left_, '\n'));
  if (!text_.ends_with('\n') || lines != samples)
    refuse("there should be " + std::to_string(samples) + " further lines, and there are " + std::to_string(lines));
  if (samples == 0) doubt("it lists no samples");
}

bool IndexFileMembers::next_line() {
  const std::size_t end = left_.find('\n');
  if (end == std::string_view::npos) return false;
  line_ = left_.substr(0, end);
  left_.remove_prefix(end + 1);
  in_line_ = true;
  ++lines_;
  return true;
}

// REQUIRES: `in_line_`.
std::string_view IndexFileMembers::next_word() {
  const std::size_t space = line_.find(' ');
  const std::string_view word = line_.substr(0, space);
  in_line_ = space != std::string_view::npos;
  line_.remove_prefix(in_line_ ? space + 1 : line_.size());
  return word;
}

std::uint64_t IndexFileMembers::number(std::string_view word, const char* what) const {
  std::uint64_t number = 0;
  const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (word.empty() || failed != std::errc() || end != word.data() + word.size())
    refuse(std::string(what) + " is " + shown(word) + ", which is not a number below 2^64");
  return number;
}

void IndexFileMembers::refuse(const std::string& why) const {
  throw error_in(
      file_, Errc::corrupt,
      "line " + std::to_string(lines_) + " of the index file: " + why + "; " + std::string(way_to_right_index));
}

void IndexFileMembers::doubt(const std::string& why) const {
  throw IndexDoubt{"line " + std::to_string(lines_) + ": " + why};
}

bool IndexFileMembers::has_end() const noexcept { return bytes_ - end_ >= tar_block_bytes; }

bool IndexFileMembers::next(TarMember& member) {
  if (!in_line_ && !next_line()) {
    if (bytes_ - end_ > max_unlisted_bytes)
      refuse(std::to_string(bytes_ - end_) +
             " bytes follow the last member in the shard, so it has more than the index file, which may be old");
    return false;
  }
  // A name with a space would show in the words after it.
  std::array<std::string_view, 4> words;
  for (std::string_view& word : words) {
    if (!in_line_) doubt("it is not made of EXTENSION OFFSET SIZE NAME; names with spaces can't be told apart");
    word = next_word();
  }
  const auto [extension, offset_text, size_text, name] = words;
  if (name.empty() || split_for_index(name).extension != extension)
    doubt(shown(extension) + " is not the extension of " + shown(name) + "; names with spaces can't be told apart");
  const std::uint64_t offset = number(offset_text, "an offset"), size = number(size_text, "a size");
  const auto refuse_it = [&, at = offset, bytes = size, of = name](const std::string& why) {
    refuse("the member " + shown(of) + ", of " + std::to_string(bytes) + " bytes from offset " + std::to_string(at) +
           " on, " + why);
  };
  if (offset % tar_block_bytes != 0) refuse_it("does not begin at a multiple of 512, as tar's members do");
  if (offset < tar_block_bytes || offset - tar_block_bytes < end_)
    refuse_it("begins before the end of what is before it, which is at " + std::to_string(end_));
  if (offset > bytes_ || size > bytes_ - offset)
    refuse_it("ends after the shard, which has " + std::to_string(bytes_) + " bytes");
  if (offset - tar_block_bytes - end_ > max_unlisted_bytes)
    doubt("the shard has more than " + std::to_string(max_unlisted_bytes) + " bytes before " + shown(name) +
          " that the index file does not list");
  member.name = name;
  member.type = '0';
  member.header = end_;
  member.offset = offset;
  member.size = size;
  member.fault = name.size() > max_name_bytes ? TarFault::long_name : TarFault::none;
  end_ = std::min(offset + size + padding_of(size), bytes_);
  return true;
}

std::optional<std::string> index_path(std::string_view shard) {
  if (shard.size() < shard_extension.size()) return std::nullopt;
  const std::string_view stem = shard.substr(0, shard.size() - shard_extension.size());
  if (lower_case(shard.substr(stem.size())) != shard_extension) return std::nullopt;
  return std::string(stem) + std::string(index_extension);
}

IndexText index_text(MemberSource& members) {
  std::string lines, key;
  std::uint64_t samples = 0, end = 0;
  members.restart();
  for (TarMember member; members.next(member);) {
    const auto [own_key, extension] = split_for_index(member.name);
    const auto refuse = [&](const char* why) {
      throw error_in(members.path(), Errc::unsupported, "the member " + shown(member.name) + " " + why, member.header);
    };
    // A scan counts it as a part of a sample, so with the index file the samples would be others.
    if (!member.is_file() && split_name(member.name))
      refuse(member.fault == TarFault::sparse
                 ? sparse_why
                 : "is named like a part of a sample and is no file, and an index file lists files alone; make the "
                   "shard without links, as by tar --dereference --hard-dereference");
    if (!member.is_file() || own_key.empty() || own_key.ends_with('/')) continue;
    if (member.name.find_first_of(" \n\r") != std::string::npos)
      refuse(
          "has a space or a line break in its name, which an index file can't hold; make the shard with other names");
    if (member.fault == TarFault::sparse) refuse(sparse_why);
    if (samples == 0 || own_key != key) {
      lines += samples++ == 0 ? "" : "\n";
      key = own_key;
    } else {
      lines += ' ';
    }
    lines += extension;
    lines += ' ' + std::to_string(member.offset) + ' ' + std::to_string(member.size) + ' ';
    lines += member.name;
    end = member.offset + member.size + padding_of(member.size);
  }
  if (samples == 0)
    throw error_in(members.path(), Errc::invalid_argument, "the shard has no samples, so there is nothing to index");
  if (members.bytes() > end && members.bytes() - end > max_unlisted_bytes)
    throw error_in(members.path(), Errc::unsupported,
                   std::to_string(members.bytes() - end) +
                       " bytes follow the last member of a sample, more than an index file allows; make the shard "
                       "without other files",
                   end);
  return {std::string(version) + " " + std::to_string(samples) + "\n" + lines + "\n", samples};
}

}  // namespace penstock::webdataset
