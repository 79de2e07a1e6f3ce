// SPDX-License-Identifier: Apache-2.0
#include "field_plan.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "errors.hpp"
#include "member_name.hpp"

namespace penstock::webdataset {

namespace {

constexpr std::size_t max_fields = 1024;
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
  if (fields.size() > max_fields) refuse("more than " + std::to_string(max_fields) + " fields");
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

std::string extensions_text(const PlannedField& field) {
  std::string text;
  for (const std::string& extension : field.extensions) text += (text.empty() ? "" : "|") + extension;
  return text;
}

std::string extensions_in_words(const PlannedField& field) {
  std::string text = field.extensions.size() == 1 ? "the extension" : "one of the extensions";
  for (const std::string& extension : field.extensions)
    text += (&extension == &field.extensions.front() ? " " : ", ") + extension;
  return text;
}

}  // namespace penstock::webdataset
