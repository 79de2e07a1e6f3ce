// SPDX-License-Identifier: Apache-2.0
#include "join/map_classes.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <penstock/classes.hpp>
#include <penstock/error.hpp>

#include "base/hash.hpp"
#include "data/class_map.hpp"
#include "join/forwarded_source.hpp"

namespace penstock {

namespace {

using detail::ClassMap;
using detail::SourceModel;

struct MappedField {
  std::size_t slot;
  ClassMap map;
};

class MappingReader final : public detail::ReaderModel {
 public:
  MappingReader(std::unique_ptr<ReaderModel> reader, const Schema& schema, const std::vector<MappedField>& mapped)
      : reader_(std::move(reader)), schema_(&schema), mapped_(&mapped) {}

  void read(std::uint64_t index, SampleBuilder& out) override {
    reader_->read(index, out);
    for (const MappedField& field : *mapped_) {
      try {
        field.map.apply(out.given(field.slot));
      } catch (Error& error) {
        throw Error(error.code(), "field \"" + (*schema_)[field.slot].name + "\": " + error.cause());
      }
    }
  }
  void expect(std::span<const std::uint64_t> indices) noexcept override { reader_->expect(indices); }
  void pause() noexcept override { reader_->pause(); }
  void lend(std::uint64_t index, detail::BlockData blocks, const Error* failure) noexcept override {
    reader_->lend(index, blocks, failure);
  }

 private:
  std::unique_ptr<ReaderModel> reader_;
  const Schema* schema_;
  const std::vector<MappedField>* mapped_;
};

class MappedClasses final : public detail::ForwardedSource {
 public:
  MappedClasses(std::shared_ptr<const SourceModel> source, Schema schema, std::vector<MappedField> mapped)
      : ForwardedSource(std::move(source)), schema_(std::move(schema)), mapped_(std::move(mapped)) {}

  Schema schema() const override { return schema_; }
  std::unique_ptr<detail::ReaderModel> open_branch(std::uint64_t branch) const override {
    return std::make_unique<MappingReader>(source().open_branch(branch), schema_, mapped_);
  }
  std::uint64_t identity() const override {
    std::uint64_t hash = detail::hash_text("classes", source().identity());
    for (const MappedField& field : mapped_)
      hash = detail::hash_mix(detail::hash_mix(hash, field.slot), field.map.hash());
    return hash;
  }
  std::optional<std::vector<std::int64_t>> labels(std::string_view field) const override {
    auto labels = source().labels(field);
    if (!labels) return labels;
    const auto mapped = std::ranges::find_if(mapped_, [&](const auto& f) { return schema_[f.slot].name == field; });
    if (mapped == mapped_.end()) return labels;
    for (std::size_t i = 0; i < labels->size(); ++i) {
      try {
        (*labels)[i] = mapped->map((*labels)[i]);
      } catch (Error& error) {
        describe(i, error);
        throw error.with_index(i);
      }
    }
    return labels;
  }
  // Rows of a renumbered field can't be copied from a block into a batch.
  std::optional<BlockRows> rows_of(std::uint64_t block) const override {
    auto rows = ForwardedSource::rows_of(block);
    if (rows && std::ranges::find(mapped_, rows->field, &MappedField::slot) != mapped_.end()) rows.reset();
    return rows;
  }

 private:
  const Schema schema_;
  const std::vector<MappedField> mapped_;
};

class NamedClasses final : public detail::ForwardedSource {
 public:
  NamedClasses(std::shared_ptr<const SourceModel> source, Schema schema)
      : ForwardedSource(std::move(source)), schema_(std::move(schema)) {}
  Schema schema() const override { return schema_; }

 private:
  const Schema schema_;
};

// Returns the source's schema, with the classes of `field` replaced by `classes`.
Schema with_classes(const SourceModel& source, const std::string& field, ClassNames classes, const char* stage) {
  try {
    const Schema schema = source.schema();
    Field changed = schema.at(field);
    changed.classes = std::move(classes);
    return schema.with(std::move(changed));
  } catch (const Error& error) {
    throw Error(Errc::schema_mismatch, error.cause()).with_stage(stage).with_source(source.name());
  }
}

}  // namespace

std::shared_ptr<const SourceModel> detail::with_classes_of(std::shared_ptr<const SourceModel> source,
                                                           const Schema& schema, const std::string& stage) {
  const Schema own = source->schema();
  std::vector<MappedField> mapped;
  for (std::size_t slot = 0; slot < own.size(); ++slot) {
    const ClassNames &from = own[slot].classes, &to = schema[slot].classes;
    if (from == to) continue;
    try {
      if (from.empty())
        throw Error(Errc::schema_mismatch, "nobody says which classes its numbers stand for; say it by name_classes");
      mapped.push_back({slot, ClassMap(from, to, own[slot].dtype)});
    } catch (const Error& error) {
      throw Error(error.code(), "field \"" + own[slot].name + "\": " + error.cause())
          .with_stage(stage)
          .with_source(source->name())
          .with_file(source->file());
    }
  }
  if (mapped.empty()) return source;
  return std::make_shared<const MappedClasses>(std::move(source), schema, std::move(mapped));
}

AnySource name_classes(AnySource source, std::string field, ClassNames classes) {
  Schema schema = with_classes(*source.model(), field, std::move(classes), "name_classes");
  return AnySource(
      std::shared_ptr<const SourceModel>(std::make_shared<const NamedClasses>(source.model(), std::move(schema))));
}

AnySource map_classes(AnySource source, std::string field, ClassNames classes) {
  const Schema schema = with_classes(*source.model(), field, std::move(classes), "map_classes");
  return AnySource(detail::with_classes_of(source.model(), schema, "map_classes"));
}

}  // namespace penstock
