// SPDX-License-Identifier: Apache-2.0
#include "members_apart.hpp"

#include <algorithm>
#include <unordered_map>

#include "errors.hpp"
#include "member_name.hpp"
#include "member_source.hpp"
#include "sample_index.hpp"

namespace penstock::webdataset {

std::vector<std::uint64_t> samples_apart(const ShardIndex& index) {
  if (index.entries.complete()) return {};
  std::vector<std::uint64_t> apart;
  std::unordered_map<std::string_view, std::uint64_t> first;
  for (std::uint64_t sample = 0; sample < index.samples(); ++sample) {
    const auto [known, is_new] = first.emplace(index.key(sample), sample);
    if (is_new || index.entries.have_the_same_fields(known->second, sample)) continue;
    apart.push_back(known->second);
    apart.push_back(sample);
  }
  std::ranges::sort(apart);
  apart.erase(std::unique(apart.begin(), apart.end()), apart.end());
  return apart;
}

void refuse_members_apart(MemberSource& members) {
  members.restart();
  TarMember member;
  std::unordered_map<std::string, std::string> first;  // name of the first member of each key
  std::string key;
  while (members.next(member)) {
    const auto name = split_name(member.name);
    if (!name) continue;
    const auto [known, is_new] = first.emplace(name->key, member.name);
    if (!is_new && key != name->key && split_name(known->second)->extension != name->extension)
      throw error_in(members.path(), Errc::unsupported,
                     "the members \"" + printable(known->second) + "\" and \"" + printable(member.name) +
                         "\" of one sample lie apart; " + std::string(way_to_put_together),
                     member.header);
    key = name->key;
  }
}

}  // namespace penstock::webdataset
