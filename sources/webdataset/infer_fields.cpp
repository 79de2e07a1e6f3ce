// SPDX-License-Identifier: Apache-2.0
#include "infer_fields.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "errors.hpp"
#include "member_name.hpp"
#include "members_apart.hpp"
#include "usual_extensions.hpp"

namespace penstock::webdataset {

namespace {

constexpr std::size_t max_extensions = 1024;
constexpr std::uint64_t samples_looked_at = 100;

struct Seen {
  std::string extension;
  std::uint64_t samples = 0;  // how many samples have the extension
  std::uint64_t last = 0;     // number of the last sample that has the extension
  bool beside = false;        // in some sample, another image has the same prefix
  std::string_view last_part() const { return std::string_view(extension).substr(prefix_bytes()); }
  std::string prefix() const { return extension.substr(0, prefix_bytes()); }  // with its dot
  std::size_t prefix_bytes() const {
    const std::size_t dot = extension.rfind('.');
    return dot == std::string::npos ? 0 : dot + 1;
  }
};

struct Candidate {
  std::vector<std::string> extensions;
  std::string short_name;  // empty: the field has no short name
  std::uint64_t samples = 0;
};

class Shard {
 public:
  explicit Shard(MemberSource& members) {
    TarMember member;
    std::string key;
    while (members.next(member)) {
      const auto name = split_name(member.name);
      if (!name) continue;
      if (samples == 0 || name->key != key) {
        if (samples == samples_looked_at) break;
        ++samples;
        key = name->key;
      }
      add(name->extension);
    }
  }

  std::uint64_t samples = 0;
  std::vector<Seen> seen;

 private:
  void add(const std::string& extension) {
    auto known = std::ranges::find(seen, extension, &Seen::extension);
    if (known == seen.end() && seen.size() < max_extensions) known = seen.insert(seen.end(), Seen{extension});
    if (known == seen.end() || known->last == samples) return;
    ++known->samples;
    known->last = samples;
    if (!is_image(known->last_part())) return;
    for (Seen& other : seen)
      if (&other != &*known && other.last == samples && is_image(other.last_part()) &&
          other.prefix() == known->prefix())
        other.beside = known->beside = true;
  }
};

bool may_be_field(const std::string& extension) {
  return !extension.empty() && extension.front() != '.' && extension.find(';') == std::string::npos;
}

// Images whose extensions have the same prefix are one field, whatever their encodings. But if a sample has several
// images with that prefix, each of these extensions is a field of its own.
std::vector<Candidate> candidates_of(const std::vector<Seen>& all) {
  std::vector<Candidate> candidates;
  for (const Seen& seen : all) {
    if (!may_be_field(seen.extension)) continue;
    const std::string prefix = seen.prefix(), name = prefix.substr(0, prefix.empty() ? 0 : prefix.size() - 1);
    const bool image = is_image(seen.last_part());
    std::string usual = name;
    if (name.empty()) usual = image && seen.last_part() != "bin" ? "image" : seen.last_part() == "cls" ? "label" : "";
    if (!image && seen.last_part() != "cls" && seen.last_part() != "npy") usual.clear();
    const auto same = [&](const Candidate& other) {
      return std::ranges::find(other.extensions, seen.extension) != other.extensions.end();
    };
    if (const auto known = std::ranges::find_if(candidates, same); known != candidates.end()) {
      known->samples += seen.samples;
      if (known->short_name.empty()) known->short_name = usual;  // the bare extension "bin" gives no short name
      continue;
    }
    Candidate made{{seen.extension}, usual, seen.samples};
    for (const std::string_view other : image_extensions) {
      const std::string extension = prefix + std::string(other);
      const auto found = std::ranges::find(all, extension, &Seen::extension);
      if (image && !seen.beside && extension != seen.extension && (found == all.end() || !found->beside))
        made.extensions.push_back(extension);
    }
    candidates.push_back(std::move(made));
  }
  return candidates;
}

// Returns a field's name. If several fields have the same short name, only a field whose extension has no dot can get
// it. If several images have such extensions, the image whose extension is first in `image_extensions` gets the name.
// Each of the other fields gets its extension as its name.
std::string name_of(const Candidate& candidate, const std::vector<Candidate>& all) {
  const std::string& own = candidate.extensions.front();
  const auto rank = [](const Candidate& c) {
    const bool bare = c.extensions.front().find('.') == std::string::npos;
    return bare ? std::ranges::find(image_extensions, c.extensions.front()) - image_extensions.begin()
                : std::ptrdiff_t{1000};
  };
  if (candidate.short_name.empty()) return own;
  for (const Candidate& other : all) {
    if (&other == &candidate) continue;
    if (other.short_name == candidate.short_name && rank(other) <= rank(candidate)) return own;
  }
  return candidate.short_name;
}

}  // namespace

std::vector<WebDatasetField> infer_fields(MemberSource& members) {
  const Shard looked_at(members);
  std::vector<Candidate> candidates = candidates_of(looked_at.seen);
  std::erase_if(candidates, [&](const Candidate& c) { return c.samples <= looked_at.samples / 2; });
  if (candidates.empty() && looked_at.samples != 0) {
    refuse_members_apart(members);
    std::string all;
    for (const Seen& seen : looked_at.seen) all += (all.empty() ? "" : ", ") + printable(seen.extension);
    throw error_in(
        members.path(), Errc::invalid_argument,
        "no extension is in more than half of the first " + std::to_string(looked_at.samples) +
            " samples, so the fields can't be told; say in `fields` which of these become what: " + all.substr(0, 300));
  }
  std::vector<WebDatasetField> fields;
  for (const Candidate& candidate : candidates) {
    std::string extensions;
    for (const std::string& extension : candidate.extensions) extensions += (extensions.empty() ? "" : ";") + extension;
    fields.push_back({name_of(candidate, candidates), std::move(extensions)});
  }
  // A short name may also be the extension of another field. A field whose name is its extension keeps the name. The
  // other field gets its own extension as its name.
  for (bool again = true; std::exchange(again, false);)
    for (std::size_t i = 0; i < fields.size(); ++i)
      for (const WebDatasetField& other : fields)
        if (&other != &fields[i] && other.name == fields[i].name &&
            fields[i].name != candidates[i].extensions.front()) {
          fields[i].name = candidates[i].extensions.front();
          again = true;
        }
  return fields;
}

}  // namespace penstock::webdataset
