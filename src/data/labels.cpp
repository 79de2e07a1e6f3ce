// SPDX-License-Identifier: Apache-2.0
#include "data/labels.hpp"

#include <limits>
#include <string>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/float_mode.hpp>
#include <penstock/stages/draw.hpp>

#include "base/failure.hpp"
#include "base/integer_at.hpp"
#include "data/one_record.hpp"

namespace penstock {

namespace {

std::int64_t label_at(const std::byte* data, DType dtype) {
  const std::int64_t value = detail::integer_at(dtype, data);
  if (dtype == DType::u64 && value < 0)
    throw Error(Errc::limit_exceeded, "the label " + std::to_string(static_cast<std::uint64_t>(value)) +
                                          " is larger than " +
                                          std::to_string(std::numeric_limits<std::int64_t>::max()));
  return value;
}

std::size_t slot_of_label(const detail::SourceModel& source, const Schema& schema, std::string_view field,
                          std::string_view stage) {
  const auto found = schema.find(field);
  if (!found || !detail::is_label(schema[*found]))
    throw Error(Errc::schema_mismatch, "there is no field \"" + std::string(field) +
                                           "\" of one whole number; the fields are " + schema.to_string())
        .with_stage(stage)
        .with_source(source.name());
  return *found;
}

}  // namespace

namespace detail {

bool is_label(const Field& field) noexcept { return field.shape.rank() == 0 && is_whole(field.dtype); }

struct LabelReader::Impl {
  Impl(const SourceModel& s, std::string_view field, std::string_view stage_name)
      : source(s), stage(stage_name), schema(s.schema()), slot(slot_of_label(s, schema, field, stage_name)) {}

  const SourceModel& source;
  std::string stage;
  Schema schema;
  std::size_t slot;
  OneRecord record{schema};
  SampleBuilder out{record};
  std::unique_ptr<ReaderModel> reader = source.open_reader();
};

LabelReader::LabelReader(const SourceModel& source, std::string_view field, std::string_view stage)
    : impl_(std::make_unique<Impl>(source, field, stage)) {}
LabelReader::~LabelReader() = default;

std::int64_t LabelReader::operator()(std::uint64_t index) {
  const FloatMode standard;
  Impl& it = *impl_;
  try {
    it.record.clear();
    it.reader->read(index, it.out);
    return label_at(it.record.value(it.slot), it.schema[it.slot].dtype);
  } catch (...) {
    Error error = current_error();
    error.with_stage(it.stage);
    try {
      it.source.describe(index, error);
    } catch (...) {  // the source can't even name the record
    }
    throw error.with_index(index);
  }
}

std::optional<std::vector<std::int64_t>> known_labels_of(const SourceModel& source, std::string_view field,
                                                         std::string_view stage) {
  slot_of_label(source, source.schema(), field, stage);
  const std::uint64_t size = source.size();
  try {
    std::optional<std::vector<std::int64_t>> own = source.labels(field);
    if (own && own->size() != size) {
      throw Error(Errc::invalid_argument, "the source says " + std::to_string(own->size()) + " labels for " +
                                              std::to_string(size) + " records; its `labels` must give one for each")
          .with_source(source.name());
    }
    return own;
  } catch (...) {
    throw current_error().with_stage(stage);
  }
}

std::vector<std::int64_t> labels_of(const SourceModel& source, std::string_view field, std::string_view stage) {
  if (auto known = known_labels_of(source, field, stage)) return std::move(*known);
  LabelReader read(source, field, stage);
  std::vector<std::int64_t> labels;
  labels.reserve(source.size());
  for (std::uint64_t i = 0; i < source.size(); ++i) labels.push_back(read(i));
  return labels;
}

}  // namespace detail

std::vector<std::int64_t> labels_of(const AnySource& source, std::string_view field) {
  return detail::labels_of(*source.model(), field, "labels_of");
}

}  // namespace penstock
