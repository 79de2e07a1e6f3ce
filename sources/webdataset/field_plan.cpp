#include "field_plan.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "errors.hpp"
#include "member_name.hpp"
#include "tar_scan.hpp"

namespace penstock::webdataset {

namespace {

constexpr std::size_t most_fields = 1024;
constexpr std::uint64_t samples_looked_at = 100;
constexpr std::array<std::string_view, 7> integer_extensions{"cls", "cls2", "class", "count", "index", "inx", "id"};

WebDatasetKind usual_kind(std::string_view extension) noexcept {
  const std::string_view last = extension.substr(extension.rfind('.') + 1);
  if (std::find(integer_extensions.begin(), integer_extensions.end(), last) != integer_extensions.end())
    return WebDatasetKind::integer;
  return last == "npy" ? WebDatasetKind::array : WebDatasetKind::bytes;
}

[[noreturn]] void refuse(const std::string& why) { throw Error(Errc::invalid_argument, why); }

std::vector<std::string> split(const std::string& list, const std::string& field) {
  std::vector<std::string> parts;
  std::string_view rest = list;
  while (true) {
    const std::size_t end = rest.find(';');
    const std::string_view part = rest.substr(0, end);
    if (part.empty() || part.front() == '.' || part.find('/') != std::string_view::npos)
      refuse("the extensions of the field \"" + field + "\", \"" + printable(list) +
             "\", are not of the form \"jpg;jpeg;png\"");
    parts.push_back(lower_case(part));
    if (end == std::string_view::npos) return parts;
    rest.remove_prefix(end + 1);
  }
}

}  // namespace

std::vector<PlannedField> plan_fields(const std::vector<WebDatasetField>& fields) {
  if (fields.size() > most_fields) refuse("more than " + std::to_string(most_fields) + " fields");
  std::vector<PlannedField> planned;
  for (const WebDatasetField& field : fields) {
    PlannedField made{field.name, split(field.extensions, field.name), field.kind};
    if (made.kind == WebDatasetKind::automatic) made.kind = usual_kind(made.extensions.front());
    planned.push_back(std::move(made));
  }
  std::vector<std::string> all;
  for (const PlannedField& field : planned) all.insert(all.end(), field.extensions.begin(), field.extensions.end());
  std::sort(all.begin(), all.end());
  if (const auto twice = std::adjacent_find(all.begin(), all.end()); twice != all.end())
    refuse("the extension \"" + printable(*twice) + "\" is given to two fields, or twice to one");
  return planned;
}

std::vector<PlannedField> infer_fields(const std::string& shard) {
  const InputFile file(shard);
  TarScan scan(file);
  TarMember member;
  struct Seen {
    std::string extension;
    std::uint64_t samples = 0;  // how many have it
    std::uint64_t last = 0;     // of these
  };
  std::vector<Seen> seen;
  std::string key;
  std::uint64_t samples = 0;
  while (scan.next(member)) {
    const auto name = split_name(member.name);
    if (!name) continue;
    if (samples == 0 || name->key != key) {
      if (samples == samples_looked_at) break;
      ++samples;
      key = name->key;
    }
    auto known = std::find_if(seen.begin(), seen.end(), [&](const Seen& s) { return s.extension == name->extension; });
    if (known == seen.end() && seen.size() < most_fields) known = seen.insert(seen.end(), {name->extension});
    if (known == seen.end() || known->last == samples) continue;
    ++known->samples;
    known->last = samples;
  }
  std::vector<WebDatasetField> fields;
  std::string all;
  for (const auto& [extension, count, last] : seen) {
    all += (all.empty() ? "" : ", ") + printable(extension);
    if (count > samples / 2 && !extension.empty() && extension.front() != '.' &&
        extension.find(';') == std::string::npos)
      fields.push_back({extension, extension});
  }
  if (fields.empty() && samples != 0)
    throw error_in(
        shard, Errc::invalid_argument,
        "no extension is in more than half of the first " + std::to_string(samples) +
            " samples, so the fields can't be told; say in `fields` which of these become what: " + all.substr(0, 300));
  return plan_fields(fields);
}

std::optional<std::size_t> slot_of(const std::vector<PlannedField>& fields, std::string_view extension) noexcept {
  for (std::size_t slot = 0; slot < fields.size(); ++slot)
    for (const std::string& one : fields[slot].extensions)
      if (one == extension) return slot;
  return std::nullopt;
}

std::string extensions_text(const PlannedField& field) {
  std::string text;
  for (const std::string& extension : field.extensions) text += (text.empty() ? "" : "|") + extension;
  return text;
}

}  // namespace penstock::webdataset
