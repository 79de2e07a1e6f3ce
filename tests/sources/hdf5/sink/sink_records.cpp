// SPDX-License-Identifier: Apache-2.0
#include "sources/hdf5/sink/sink_records.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include <penstock/sources/hdf5.hpp>

#include "sources/source_checks.hpp"

namespace penstock_test {

using namespace penstock;

namespace {

// Values of few kinds, so that some chunks shrink and others do not.
std::uint64_t mixed(std::uint64_t number) {
  number ^= number >> 31;
  number *= 0x9e3779b97f4a7c15u;
  return number ^ number >> 29;
}

}  // namespace

DrawnValue DrawnRecords::value(std::uint64_t index, std::size_t slot) const {
  const Field& field = schema_[slot];
  const std::uint64_t start = mixed(seed_ * 1'000'003 + index * 31 + slot);
  DrawnValue value{field.shape, {}};
  if (!field.shape.fixed()) value.shape = Shape{static_cast<std::int64_t>(index % 5 == 0 ? 0 : start % 700)};
  value.bytes.resize(static_cast<std::size_t>(value.shape.elements()) * size_of(field.dtype));
  const bool noise = index % 3 == 0;
  for (std::size_t i = 0; i < value.bytes.size(); ++i)
    value.bytes[i] = field.dtype == DType::boolean ? static_cast<std::byte>(mixed(start + i) % 2)
                     : noise                       ? static_cast<std::byte>(mixed(start + i))
                                                   : static_cast<std::byte>(i % 4);
  return value;
}

void DrawnRecords::read(std::uint64_t index, SampleBuilder& out) const {
  if (index >= count_) throw Error(Errc::not_found, "there is no such record");
  for (std::size_t slot = 0; slot < schema_.size(); ++slot) {
    const DrawnValue drawn = value(index, slot);
    const TensorView to = out.emplace(slot, drawn.shape);
    if (!drawn.bytes.empty()) std::memcpy(to.data, drawn.bytes.data(), drawn.bytes.size());
  }
}

Schema drawn_schema(H5Draw& draw) {
  constexpr std::uint64_t dtypes = 12;
  std::vector<Field> fields;
  for (std::uint64_t count = 1 + draw.below(4); count > 0; --count) {
    const std::string name = (draw.one_in(3) ? "group/inner/f" : "f") + std::to_string(count);
    const auto dtype = static_cast<DType>(draw.below(dtypes));
    std::vector<std::int64_t> shape;
    if (draw.one_in(4))
      shape = {dynamic};
    else
      for (std::uint64_t rank = draw.below(4); rank > 0; --rank)
        shape.push_back(static_cast<std::int64_t>(1 + draw.below(9)));
    fields.push_back({name, dtype, Shape(std::span<const std::int64_t>(shape))});
  }
  return Schema(std::move(fields));
}

Hdf5SinkOptions drawn_options(const Schema& schema, H5Draw& draw) {
  Hdf5SinkOptions options;
  options.job = "test";
  options.deflate = static_cast<unsigned>(draw.below(13));
  options.fletcher32 = draw.one_in(3);
  if (draw.one_in(3)) options.shuffle = draw.one_in(2);
  for (const Field& field : schema) {
    if (draw.one_in(3)) continue;
    Hdf5SinkField given{.field = field.name, .chunk_rows = draw.below(40)};
    if (draw.one_in(3)) given.deflate = static_cast<unsigned>(draw.below(13));
    if (draw.one_in(3)) given.shuffle = draw.one_in(2);
    if (draw.one_in(3)) given.fletcher32 = draw.one_in(2);
    options.fields.push_back(std::move(given));
  }
  if (draw.one_in(2)) options.keys = "names/keys";
  if (draw.one_in(2)) options.max_samples = 10 + draw.below(60);
  if (draw.one_in(3)) options.max_bytes = 3000 + draw.below(40'000);
  options.sync = false;
  return options;
}

void put(Hdf5Sink& sink, const DrawnRecords& records, std::uint64_t index) {
  OwnedSample sample(records.schema());
  SampleBuilder out = sample.builder();
  records.read(index, out);
  Sample view = sample.sample();
  sink.put({.position = index, .index = index, .key = records.key(index)}, view);
}

bool run(Hdf5Sink& sink, const DrawnRecords& records, std::uint64_t commit_every, std::uint64_t stop_after,
         bool commits_at_stop) {
  sink.open({records.schema(), records.size()});
  for (std::uint64_t i = 0; i < records.size(); ++i) {
    if (i == stop_after) {
      if (commits_at_stop) sink.commit();
      return false;
    }
    if (!sink.has({.position = i, .index = i, .key = records.key(i)})) put(sink, records, i);
    if ((i + 1) % commit_every == 0) sink.commit();
  }
  sink.commit();
  sink.finish();
  return true;
}

std::vector<std::string> shards_of(const std::string& path) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(path).parent_path()))
    if (entry.path().string().starts_with(path + "-") && entry.path().extension() == ".h5")
      files.push_back(entry.path().string());
  std::ranges::sort(files);
  return files;
}

std::string difference(const std::vector<std::string>& files, const DrawnRecords& records,
                       const Hdf5SinkOptions& options) {
  const Hdf5Source source({.paths = files});
  if (source.size() != records.size()) return "there are " + std::to_string(source.size()) + " records";
  if (source.keys() != options.keys) return "the keys are in \"" + source.keys() + "\"";
  const Schema schema = records.schema();
  if (source.schema().size() != schema.size()) return "the schema is " + source.schema().to_string();
  std::vector<std::string> names;
  for (const Field& field : schema) {
    Field stored = field;
    for (const Hdf5SinkField& given : options.fields)
      if (given.field == field.name && !given.dataset.empty()) stored.name = given.dataset;
    const auto found = source.schema().find(stored.name);
    if (!found || source.schema()[*found] != stored) return "the schema is " + source.schema().to_string();
    names.push_back(stored.name);
  }
  for (std::uint64_t i = 0; i < records.size(); ++i) {
    const OwnedSample sample = read_sample(source, i);
    for (std::size_t slot = 0; slot < schema.size(); ++slot) {
      const DrawnValue value = records.value(i, slot);
      const TensorView there = sample[names[slot]];
      if (there.shape != value.shape ||
          text_of(there) != std::string(reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size()))
        return "record " + std::to_string(i) + " differs in " + schema[slot].name;
    }
    if (!options.keys.empty() && source.key(i) != records.key(i))
      return "record " + std::to_string(i) + " has the key " + source.key(i);
  }
  return {};
}

}  // namespace penstock_test
