// SPDX-License-Identifier: Apache-2.0
#include "faults.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "errors.hpp"
#include "member_name.hpp"
#include "members_apart.hpp"

namespace penstock::webdataset {

namespace {

[[noreturn]] void corrupt(std::string cause) { throw Error(Errc::corrupt, std::move(cause)); }

std::string why_unsupported(Entry entry, std::string_view key) {
  switch (entry.size) {
    case Entry::bad_name: {
      // If the key is good, the extension holds control characters.
      const char* const danger = danger_of(key);
      return "has a name that " + std::string(danger != nullptr ? danger : "holds control characters") +
             "; make the shard with names that stay below one folder";
    }
    case Entry::sparse:
      return "is sparse, so its bytes don't lie in the shard as they are; make the shard without --sparse";
    case Entry::unknown_type:
      return "is of a type that is not known; make the shard of files alone";
    default:
      return "is a link or a device, without data of its own; make the shard with tar --dereference "
             "--hard-dereference";
  }
}

}  // namespace

std::int64_t whole_number(std::span<const std::byte> bytes) {
  constexpr std::string_view space = " \t\r\n";
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t begin = all.find_first_not_of(space);
  if (begin == std::string_view::npos) corrupt("a whole number should stand here, but there is none");
  std::string_view text = all.substr(begin, all.find_last_not_of(space) + 1 - begin);
  if (text.front() == '+' && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  std::int64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size())
    corrupt("\"" + printable(text.substr(0, 40)) + "\" is not a whole number of 64 bits");
  return number;
}

void refuse_member(Entry entry, const PlannedField& field, const ShardIndex& index, std::uint64_t sample) {
  const std::string extensions = extensions_in_words(field);
  if (entry.offset == 0 && std::ranges::binary_search(index.apart, sample))
    corrupt("the sample has no member with " + extensions +
            " beside its others, and one elsewhere in the shard: " + std::string(way_to_put_together));
  if (entry.offset == 0) corrupt("the sample has no member with " + extensions);
  if (entry.size == Entry::twice) corrupt("the sample has two members with " + extensions);
  const std::string member = "the sample's member with " + extensions + " ";
  if (entry.size == Entry::long_name)
    throw Error(Errc::limit_exceeded, member + "has a name of more than 65536 bytes; make the shard with shorter ones");
  throw Error(Errc::unsupported, member + why_unsupported(entry, index.key(sample)));
}

Error explained(const Error& error, const Store& store, std::uint64_t index, Store::Location location,
                std::size_t slot) {
  const ShardIndex& shard = store.indices[location.shard];
  const Entry entry = store.entry(location, slot);
  const std::string_view key = shard.key(location.sample);
  const PlannedField& field = store.fields[slot];
  const std::string what = field.extensions.size() == 1 ? "member \"" + printable(key) + "." + field.extensions.front()
                                                        : "field \"" + printable(field.name);
  Error full(error.code(), what + "\": " + error.cause());
  full.with_source("webdataset").with_file(store.shards[location.shard]).with_index(index).with_key(key);
  if (error.offset()) full.with_offset(*error.offset());
  if (entry.offset != 0) full.with_offset(entry.offset);
  return full;
}

}  // namespace penstock::webdataset
