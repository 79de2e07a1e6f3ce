#include <cstring>
#include <limits>
#include <string>

#include <penstock/draw.hpp>
#include <penstock/error.hpp>

#include "failure.hpp"
#include "integer_at.hpp"
#include "scratch.hpp"

namespace penstock {

namespace {

class OneRecord final : public detail::Cells {
 public:
  explicit OneRecord(const Schema& fields) {
    schema = &fields;
    cells.resize(fields.size());
  }
  void clear() {
    arena_.reset();
    for (detail::Cell& cell : cells) cell = {};
  }

 protected:
  std::byte* scratch(std::size_t bytes) override { return arena_.allocate(bytes); }

 private:
  detail::ScratchArena arena_;
};

bool is_label(const Field& field) {
  return field.shape.rank() == 0 && field.dtype != DType::f16 && field.dtype != DType::f32 && field.dtype != DType::f64;
}

std::int64_t label_at(const std::byte* data, DType dtype) {
  const std::int64_t value = detail::integer_at(dtype, data);
  if (dtype == DType::u64 && value < 0)
    throw Error(Errc::limit_exceeded, "the label " + std::to_string(static_cast<std::uint64_t>(value)) +
                                          " is larger than " +
                                          std::to_string(std::numeric_limits<std::int64_t>::max()));
  return value;
}

}  // namespace

std::vector<std::int64_t> labels_of(const AnySource& source, std::string_view field) {
  const detail::SourceModel& model = *source.model();
  const Schema schema = model.schema();
  const auto found = schema.find(field);
  if (!found || !is_label(schema[*found]))
    throw Error(Errc::schema_mismatch, "there is no field \"" + std::string(field) +
                                           "\" of one whole number; the fields are " + schema.to_string())
        .with_stage("labels_of")
        .with_source(model.name());
  const auto reader = model.open_reader();
  OneRecord record(schema);
  SampleBuilder out(record);
  std::vector<std::int64_t> labels;
  for (std::uint64_t i = 0, n = model.size(); i < n; ++i) {
    try {
      record.clear();
      reader->read(i, out);
      if (record.cells[*found].data == nullptr) record.missing(*found);
      labels.push_back(label_at(record.cells[*found].data, schema[*found].dtype));
    } catch (...) {
      Error error = detail::current_error();
      error.with_stage("labels_of");
      try {
        model.describe(i, error);
      } catch (...) {  // a source that can't even name the record
      }
      throw error.with_index(i);
    }
  }
  return labels;
}

}  // namespace penstock
