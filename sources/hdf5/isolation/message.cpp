// SPDX-License-Identifier: Apache-2.0
#include "isolation/message.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/version.hpp>

namespace penstock::hdf5 {

namespace {

constexpr std::uint64_t max_rank = H5S_MAX_RANK;

[[noreturn]] void refuse() {
  throw Error(Errc::corrupt, "the process that reads this file gave an answer that can't be understood");
}

}  // namespace

std::string greeting() { return std::string("penstock-hdf5-reader 4 ") + version(); }

MessageWriter& MessageWriter::put(std::string_view text) { return put(std::as_bytes(std::span(text))); }

MessageWriter& MessageWriter::put(std::span<const std::byte> bytes) {
  put<std::uint64_t>(bytes.size());
  bytes_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return *this;
}

MessageWriter& MessageWriter::put(std::span<const std::uint64_t> values) {
  put<std::uint64_t>(values.size());
  for (const std::uint64_t value : values) put(value);
  return *this;
}

MessageWriter& MessageWriter::put(const std::vector<std::string>& texts) {
  put<std::uint64_t>(texts.size());
  for (const std::string& text : texts) put(std::string_view(text));
  return *this;
}

MessageWriter& MessageWriter::put(const std::vector<ListedDataset>& datasets) {
  put<std::uint64_t>(datasets.size());
  for (const ListedDataset& dataset : datasets)
    put(std::string_view(dataset.path))
        .put(std::span(dataset.dims))
        .put(dataset.members)
        .put(std::string_view(dataset.link))
        .put(std::string_view(dataset.unreadable));
  return *this;
}

MessageWriter& MessageWriter::put(const DatasetFacts& facts) {
  put(std::span(facts.dims)).put(std::span(facts.chunk)).put(facts.element_bytes);
  put(facts.variable).put(facts.layout).put(facts.elsewhere).put(facts.external).put(facts.plain_edges);
  put(facts.offset.has_value()).put(facts.offset.value_or(0));
  put<std::uint64_t>(facts.filters.size());
  for (const FilterFacts& filter : facts.filters) {
    put(filter.kind);
    for (const std::uint64_t value : filter.values) put(value);
    put(std::string_view(filter.name)).put(std::string_view(filter.missing));
  }
  return put(std::span(facts.fill))
      .put(facts.files)
      .put(facts.absent)
      .put(facts.faults)
      .put(std::span(facts.lost))
      .put(facts.told);
}

MessageWriter& MessageWriter::put(const ElementFacts& facts) {
  put(facts.form).put(facts.dtype).put<std::uint64_t>(facts.shape.rank());
  for (const std::int64_t d : facts.shape.dims()) put(static_cast<std::uint64_t>(d));
  put<std::uint64_t>(facts.bytes).put<std::uint64_t>(facts.offset);
  return put(static_cast<std::uint8_t>(facts.padding)).put(facts.string);
}

MessageWriter& MessageWriter::put(const std::optional<Hdf5Attribute>& attribute) {
  put(attribute.has_value());
  if (!attribute) return *this;
  put<std::uint64_t>(attribute->shape.size());
  for (const std::int64_t d : attribute->shape) put(static_cast<std::uint64_t>(d));
  put(static_cast<std::uint8_t>(attribute->values.index()));
  if (const auto* texts = std::get_if<std::vector<std::string>>(&attribute->values)) return put(*texts);
  std::visit([this](const auto& values) { put(std::as_bytes(std::span(values))); }, attribute->values);
  return *this;
}

MessageWriter& MessageWriter::put(const Texts& texts) {
  return put(std::string_view(texts.bytes)).put(std::span(texts.ends));
}

std::span<const std::byte> MessageParser::take(std::uint64_t bytes) {
  if (bytes > left_.size()) refuse();
  return std::exchange(left_, left_.subspan(bytes)).first(bytes);
}

std::uint8_t MessageParser::byte() { return std::to_integer<std::uint8_t>(take(1).front()); }

std::uint8_t MessageParser::choice(std::uint8_t last) {
  const std::uint8_t value = byte();
  if (value > last) refuse();
  return value;
}

std::uint32_t MessageParser::number32() {
  std::uint32_t value = 0;
  std::memcpy(&value, take(sizeof value).data(), sizeof value);
  return value;
}

std::uint64_t MessageParser::number() {
  std::uint64_t value = 0;
  std::memcpy(&value, take(sizeof value).data(), sizeof value);
  return value;
}

std::uint64_t MessageParser::count(std::uint64_t bytes_each) {
  const std::uint64_t n = number();
  if (n > left_.size() / bytes_each) refuse();
  return n;
}

std::string MessageParser::text() {
  const std::span<const std::byte> bytes = take(number());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::byte> MessageParser::data() {
  const std::span<const std::byte> bytes = take(number());
  return {bytes.begin(), bytes.end()};
}

std::vector<std::uint64_t> MessageParser::numbers() {
  std::vector<std::uint64_t> values(count(sizeof(std::uint64_t)));
  for (std::uint64_t& value : values) value = number();
  return values;
}

std::vector<std::string> MessageParser::texts() {
  std::vector<std::string> values(count(sizeof(std::uint64_t)));
  for (std::string& value : values) value = text();
  return values;
}

std::vector<ListedDataset> MessageParser::datasets() {
  std::vector<ListedDataset> found(count(5 * sizeof(std::uint64_t)));
  for (ListedDataset& dataset : found) {
    dataset.path = text();
    dataset.dims = numbers();
    dataset.members = texts();
    dataset.link = text();
    dataset.unreadable = text();
  }
  return found;
}

DatasetFacts MessageParser::dataset() {
  DatasetFacts facts;
  facts.dims = numbers();
  facts.chunk = numbers();
  facts.element_bytes = number();
  facts.variable = truth();
  facts.layout =
      static_cast<DatasetFacts::Layout>(choice(static_cast<std::uint8_t>(DatasetFacts::Layout::virtual_parts)));
  facts.elsewhere = truth();
  facts.external = truth();
  facts.plain_edges = truth();
  const bool has_offset = truth();
  const std::uint64_t offset = number();
  if (has_offset) facts.offset = offset;
  facts.filters.resize(count(1 + 7 * sizeof(std::uint64_t)));
  for (FilterFacts& filter : facts.filters) {
    filter.kind = static_cast<FilterFacts::Kind>(choice(static_cast<std::uint8_t>(FilterFacts::Kind::other)));
    for (std::uint64_t& value : filter.values) value = number();
    filter.name = text();
    filter.missing = text();
  }
  facts.fill = data();
  facts.files = texts();
  facts.absent = texts();
  facts.faults = texts();
  facts.lost = numbers();
  facts.told = texts();
  return facts;
}

ElementFacts MessageParser::element() {
  ElementFacts facts;
  facts.form = static_cast<ElementFacts::Form>(choice(static_cast<std::uint8_t>(ElementFacts::Form::variable)));
  facts.dtype = static_cast<DType>(choice(static_cast<std::uint8_t>(DType::boolean)));
  std::vector<std::int64_t> dims;
  for (const std::uint64_t d : numbers()) {
    if (d > (std::uint64_t{1} << 60) && d != static_cast<std::uint64_t>(dynamic)) refuse();
    dims.push_back(static_cast<std::int64_t>(d));
  }
  if (dims.size() > Shape::max_rank) refuse();
  facts.shape = Shape(std::span<const std::int64_t>(dims));
  facts.bytes = number();
  facts.offset = number();
  facts.padding = static_cast<H5T_str_t>(choice(H5T_STR_SPACEPAD));
  facts.string = truth();
  return facts;
}

std::optional<Hdf5Attribute> MessageParser::attribute() {
  if (!truth()) return std::nullopt;
  Hdf5Attribute attribute;
  for (const std::uint64_t d : numbers()) {
    if (attribute.shape.size() == max_rank || d > (std::uint64_t{1} << 32)) refuse();
    attribute.shape.push_back(static_cast<std::int64_t>(d));
  }
  const auto fill = [&]<class T>(std::vector<T> values) {
    const std::span<const std::byte> bytes = take(number());
    if (bytes.size() % sizeof(T) != 0) refuse();
    values.resize(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    attribute.values = std::move(values);
  };
  switch (choice(2)) {
    case 0:
      fill(std::vector<std::int64_t>());
      break;
    case 1:
      fill(std::vector<double>());
      break;
    default:
      attribute.values = texts();
  }
  std::uint64_t elements = 1;
  for (const std::int64_t d : attribute.shape) {
    const auto n = static_cast<std::uint64_t>(d);
    if (n != 0 && elements > (std::uint64_t{1} << 32) / n) refuse();
    elements *= n;
  }
  if (std::visit([](const auto& values) { return values.size(); }, attribute.values) != elements) refuse();
  return attribute;
}

Texts MessageParser::texts_together() {
  Texts texts;
  texts.bytes = text();
  texts.ends = numbers();
  if (!std::ranges::is_sorted(texts.ends) || (texts.ends.empty() ? 0 : texts.ends.back()) != texts.bytes.size())
    refuse();
  return texts;
}

void MessageParser::end() const {
  if (!left_.empty()) refuse();
}

}  // namespace penstock::hdf5
