// SPDX-License-Identifier: Apache-2.0
#include "member_record.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>
#include <utility>

#include "tar_header.hpp"

namespace penstock::webdataset {

namespace {

// The file: this mark; the numbers of Head, as little-endian words; the members; the hash of all of it.
constexpr std::string_view mark{"members1"};
enum Head : std::size_t { shard_size, member_count, end_position, end_mark, head_words };
constexpr std::size_t word_bytes = 8, head_bytes = 8 + head_words * word_bytes;

void put_word(std::string& out, std::uint64_t word) {
  for (std::size_t i = 0; i < word_bytes; ++i) out += static_cast<char>(word >> (8 * i));
}

std::uint64_t word_at(std::string_view text, std::size_t at) noexcept {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < word_bytes; ++i)
    word |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[at + i])) << (8 * i);
  return word;
}

// Seven bits a byte, the lowest first; the highest bit of a byte says that another follows.
void put_number(std::string& out, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) out += static_cast<char>(number | 0x80);
  out += static_cast<char>(number);
}

// Takes numbers and texts from the front of a record. After a fault, `good` is false and all further ones are empty.
struct Taker {
  std::string_view left;
  bool good = true;

  std::uint64_t number() noexcept {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64 && good && !left.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(left.front());
      left.remove_prefix(1);
      if (shift == 63 && byte > 1) break;
      number |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return number;
    }
    good = false;
    return 0;
  }
  std::string_view text(std::uint64_t bytes) noexcept {
    good = good && bytes <= left.size();
    if (!good) return {};
    const std::string_view taken = left.substr(0, static_cast<std::size_t>(bytes));
    left.remove_prefix(taken.size());
    return taken;
  }
};

std::uint64_t hash_of(std::string_view text) noexcept { return XXH3_64bits(text.data(), text.size()); }

}  // namespace

void MemberRecord::add(const TarMember& member) {
  put_number(members_, member.header - data_end_);
  put_number(members_, member.offset - member.header);
  put_number(members_, member.size);
  members_ += member.type;
  members_ += static_cast<char>(member.fault);
  put_number(members_, member.name.size());
  members_ += member.name;
  data_end_ = member.offset + member.size;
  ++count_;
}

bool MemberRecord::next(Place& place, TarMember& member) const {
  if (place.at == members_.size()) return false;
  Taker taker{std::string_view(members_).substr(place.at)};
  member.header = place.data_end + taker.number();
  member.offset = member.header + taker.number();
  member.size = taker.number();
  member.type = taker.text(1).front();
  member.fault = static_cast<TarFault>(taker.text(1).front());
  member.name = taker.text(taker.number());
  place = {members_.size() - taker.left.size(), member.offset + member.size};
  return true;
}

std::vector<std::byte> MemberRecord::to_bytes(std::uint64_t shard_bytes, End end) const {
  std::string text(mark);
  text.reserve(head_bytes + members_.size() + word_bytes);
  for (const std::uint64_t word : {shard_bytes, count_, end.position, std::uint64_t{end.has_mark}})
    put_word(text, word);
  text += members_;
  put_word(text, hash_of(text));
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::optional<MemberRecord::Read> MemberRecord::from_bytes(std::span<const std::byte> bytes,
                                                           std::uint64_t shard_bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.size() < head_bytes + word_bytes || !text.starts_with(mark)) return std::nullopt;
  if (hash_of(text.substr(0, text.size() - word_bytes)) != word_at(text, text.size() - word_bytes)) return std::nullopt;
  const auto head = [&](Head word) { return word_at(text, mark.size() + word * word_bytes); };
  Read read;
  read.end = {head(end_position), head(end_mark) != 0};
  if (head(shard_size) != shard_bytes || head(end_mark) > 1 || read.end.position > shard_bytes) return std::nullopt;
  read.record.count_ = head(member_count);
  const std::string_view members = text.substr(head_bytes, text.size() - head_bytes - word_bytes);
  Taker taker{members};
  std::uint64_t end = 0, count = 0;  // of the members so far
  for (; !taker.left.empty(); ++count) {
    const std::uint64_t gap = taker.number(), header_bytes = taker.number(), size = taker.number();
    taker.text(1);
    const std::string_view fault = taker.text(1);
    taker.text(taker.number());
    if (!taker.good || static_cast<unsigned char>(fault.front()) > static_cast<unsigned>(TarFault::long_name))
      return std::nullopt;
    // Each sum is within the shard before the next number is added.
    if (gap > shard_bytes - end || header_bytes < tar_block_bytes || header_bytes > shard_bytes - end - gap ||
        size > shard_bytes - end - gap - header_bytes)
      return std::nullopt;
    end += gap + header_bytes + size;
  }
  if (count != read.record.count_ || end > read.end.position) return std::nullopt;
  read.record.members_ = members;
  read.record.data_end_ = end;
  return read;
}

}  // namespace penstock::webdataset
