// SPDX-License-Identifier: Apache-2.0
#include "stages/stage_arguments.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "console/output.hpp"

namespace penstock::cli {

namespace {

// Reads `text` as a number. Returns nothing if `text` is not a finite number, or has more than the number in it.
template <class T>
std::optional<T> parse(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) return std::nullopt;
  }
  return value;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::string known(const std::vector<Parameter>& parameters) {
  return parameters.empty() ? "it takes none" : "it takes" + usage_of(parameters);
}

// Explains that a number is where the name of a field belongs. The usual cause is a size whose two sides were written
// as two words.
std::string number_for_field(const Word& stage, const Word& word, const std::vector<Parameter>& parameters) {
  std::string out = fmt::format("what stands here is the name of a field, and this is a number; {} takes{}", stage.text,
                                usage_of(parameters));
  if (std::ranges::any_of(parameters, [](const Parameter& p) { return p.hint == size_hint; }))
    out += ", and a size of height x width is one word, like 160x224";
  return out + fmt::format(" (write field={} for a field of that name)", word.text);
}

}  // namespace

void refuse_at(std::string_view line, const Word& word, const std::string& message) {
  constexpr std::size_t around = 24;
  const std::size_t first = word.at > around ? word.at - around : 0;
  const std::size_t end = word.at + word.text.size(), last = std::min(line.size(), end + around);
  throw UsageError(fmt::format("--stages, at character {}: {}{}>>{}<<{}{}: {}", word.at + 1, first > 0 ? "…" : "",
                               line.substr(first, word.at - first), word.text, line.substr(end, last - end),
                               last < line.size() ? "…" : "", message));
}

std::string usage_of(const std::vector<Parameter>& parameters) {
  std::string out;
  for (const Parameter& p : parameters)
    out += p.required ? fmt::format(" <{} {}>", p.name, p.hint) : fmt::format(" [{}={}]", p.name, p.hint);
  return out;
}

Arguments::Arguments(std::string_view line, const Word& stage, const std::vector<Word>& words,
                     const std::vector<Parameter>& parameters)
    : line_(line) {
  for (const Word& word : words) {
    const std::size_t equals = word.text.find('=');
    Bound bound{{}, word};
    if (equals == std::string_view::npos) {
      const auto parameter = std::ranges::find_if(parameters, [&](const Parameter& p) { return !given(p.name); });
      if (parameter == parameters.end())
        refuse_at(line, word, fmt::format("too many arguments for {}; {}", stage.text, known(parameters)));
      bound.name = parameter->name;
      if (bound.name == "field" && parse<double>(word.text))
        refuse_at(line, word, number_for_field(stage, word, parameters));
    } else {
      const auto parameter = std::ranges::find(parameters, word.text.substr(0, equals), &Parameter::name);
      if (parameter == parameters.end())
        refuse_at(line, word, fmt::format("{} has no such argument; {}", stage.text, known(parameters)));
      bound.name = parameter->name;
      bound.value = {word.text.substr(equals + 1), word.at + equals + 1};
    }
    if (given(bound.name)) refuse_at(line, word, fmt::format("{} of {} is given twice", bound.name, stage.text));
    bound_.push_back(bound);
  }
  for (const Parameter& p : parameters)
    if (p.required && !given(p.name))
      refuse_at(line, stage, fmt::format("{} needs {}: {}{}", stage.text, p.name, stage.text, usage_of(parameters)));
}

const Word* Arguments::find(std::string_view name) const {
  const auto bound = std::ranges::find(bound_, name, &Bound::name);
  return bound == bound_.end() ? nullptr : &bound->value;
}

void Arguments::refuse(const Word& value, std::string_view wanted) const {
  refuse_at(line_, value, fmt::format("this is not {}", wanted));
}

std::string Arguments::text(std::string_view name, std::string_view otherwise) const {
  const Word* const value = find(name);
  if (value != nullptr && value->text.empty()) refuse(*value, "a name");
  return std::string(value != nullptr ? value->text : otherwise);
}

std::uint64_t Arguments::count(std::string_view name, std::uint64_t otherwise) const {
  const Word* const value = find(name);
  if (value == nullptr) return otherwise;
  if (const auto n = parse<std::uint64_t>(value->text)) return *n;
  refuse(*value, "a whole number from 0");
}

std::int64_t Arguments::whole(std::string_view name, std::int64_t otherwise) const {
  const Word* const value = find(name);
  if (value == nullptr) return otherwise;
  if (const auto n = parse<std::int64_t>(value->text)) return *n;
  refuse(*value, "a whole number");
}

std::int32_t Arguments::pixels(std::string_view name, std::int32_t otherwise) const {
  const Word* const value = find(name);
  if (value == nullptr) return otherwise;
  if (const auto n = parse<std::int32_t>(value->text); n && *n >= 0) return *n;
  refuse(*value, "a number of pixels");
}

double Arguments::number(std::string_view name, double otherwise) const {
  const Word* const value = find(name);
  if (value == nullptr) return otherwise;
  if (const auto n = parse<double>(value->text)) return *n;
  refuse(*value, "a number");
}

bool Arguments::flag(std::string_view name, bool otherwise) const {
  return choice(name, {"false", "true", "no", "yes", "0", "1", "off", "on"}, otherwise ? 1 : 0) % 2 == 1;
}

Size Arguments::size(std::string_view name) const {
  const Word& value = *find(name);
  const auto sides = split(value.text, 'x');
  const auto height = parse<std::int32_t>(sides.front()), width = parse<std::int32_t>(sides.back());
  if (sides.size() > 2 || !height || !width || *height < 1 || *width < 1)
    refuse(value, "a size; write 224, or 160x224 for height x width");
  return {*height, *width};
}

std::vector<double> Arguments::numbers(std::string_view name, std::vector<double> otherwise) const {
  const Word* const value = find(name);
  if (value == nullptr) return otherwise;
  std::vector<double> list;
  for (const std::string_view part : split(value->text, ',')) {
    const auto n = parse<double>(part);
    if (!n) refuse(*value, "a list of numbers; write them like 0.5,0.5,0.5");
    list.push_back(*n);
  }
  return list;
}

std::array<double, 2> Arguments::pair(std::string_view name, std::array<double, 2> otherwise) const {
  const std::vector<double> list = numbers(name, {otherwise[0], otherwise[1]});
  if (list.size() != 2) refuse(*find(name), "two numbers, least and greatest; write them like 0.2,1");
  return {list[0], list[1]};
}

std::vector<std::uint64_t> Arguments::counts(std::string_view name) const {
  const Word& value = *find(name);
  std::vector<std::uint64_t> list;
  for (const std::string_view part : split(value.text, ',')) {
    const auto n = parse<std::uint64_t>(part);
    if (!n) refuse(value, "a list of whole numbers from 0; write them like 0,5,7");
    list.push_back(*n);
  }
  return list;
}

std::vector<std::string> Arguments::names(std::string_view name) const {
  const Word& value = *find(name);
  std::vector<std::string> list;
  for (const std::string_view part : split(value.text, ',')) {
    if (part.empty()) refuse(value, "a list of names; write them like image,label");
    list.emplace_back(part);
  }
  return list;
}

std::size_t Arguments::choice(std::string_view name, std::initializer_list<std::string_view> choices,
                              std::size_t otherwise) const {
  const Word* const value = find(name);
  if (value == nullptr) return otherwise;
  const auto* const found = std::ranges::find(choices, value->text);
  if (found == choices.end()) refuse(*value, fmt::format("one of {}", fmt::join(choices, ", ")));
  return static_cast<std::size_t>(found - choices.begin());
}

}  // namespace penstock::cli
