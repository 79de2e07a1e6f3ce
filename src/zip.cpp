#include <algorithm>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/joined.hpp>

#include "failure.hpp"
#include "hash.hpp"
#include "parts.hpp"

namespace penstock {

namespace {

using detail::ReaderModel;
using detail::SourceModel;

struct Part {
  std::shared_ptr<const SourceModel> source;
  Schema schema;      // its own names
  std::size_t first;  // slot of its first field among all
};

class Zipped final : public SourceModel {
 public:
  explicit Zipped(std::vector<ZipPart> parts) {
    if (parts.empty()) throw Error(Errc::invalid_argument, "give at least one source").with_stage("zip");
    std::vector<Field> fields;
    std::vector<std::string> names;
    size_ = parts.front().source.size();
    identity_ = detail::hash_text("zip");
    for (ZipPart& part : parts) {
      const std::shared_ptr<const SourceModel>& model = part.source.model();
      names.push_back(model->name());
      if (model->size() != size_)
        throw Error(Errc::invalid_argument, "part " + std::to_string(names.size() - 1) + " has " +
                                                std::to_string(model->size()) + " records, but part 0 (" +
                                                names.front() + ") has " + std::to_string(size_) +
                                                "; records that stand beside each other need sources of one size")
            .with_stage("zip")
            .with_source(names.back())
            .with_file(model->file());
      parts_.push_back({model, model->schema(), fields.size()});
      for (Field field : parts_.back().schema) {
        field.name = part.prefix + field.name;
        refuse_second(fields, field, names.back());
        fields.push_back(std::move(field));
      }
      identity_ = detail::hash_mix(identity_, model->identity());
      wants_advice_ = wants_advice_ || model->wants_advice();
      if (keyed_ == nullptr && model->has_keys()) keyed_ = model.get();
    }
    schema_ = Schema(std::move(fields));
    name_ = detail::joined_name("zip", names);
  }

  std::uint64_t size() const override { return size_; }
  Schema schema() const override { return schema_; }
  std::string name() const override { return name_; }
  bool has_keys() const noexcept override { return keyed_ != nullptr; }
  std::string key(std::uint64_t index) const override {
    detail::require_record(*this, index);
    return keyed_ == nullptr ? "" : keyed_->key(index);
  }
  std::uint64_t identity() const override { return identity_; }
  bool identified() const noexcept override {
    return std::ranges::all_of(parts_, [](const Part& part) { return part.source->identified(); });
  }
  std::uint64_t revision() const override {
    std::uint64_t hash = 0;
    for (const Part& part : parts_) hash = detail::hash_mix(hash, part.source->revision());
    return hash;
  }
  bool wants_advice() const noexcept override { return wants_advice_; }
  void will_need(std::span<const std::uint64_t> indices) const noexcept override {
    for (const Part& part : parts_)
      if (part.source->wants_advice()) part.source->will_need(indices);
  }
  std::string file() const override {
    for (const Part& part : parts_)
      if (std::string file = part.source->file(); !file.empty()) return file;
    return {};
  }
  std::vector<std::uint64_t> block_ends() const override {
    for (const Part& part : parts_)
      if (std::vector<std::uint64_t> ends = part.source->block_ends(); !ends.empty()) return ends;
    return {};
  }
  std::unique_ptr<ReaderModel> open_reader() const override { return std::make_unique<Reader>(*this); }

 private:
  class Reader final : public ReaderModel {
   public:
    explicit Reader(const Zipped& all) : all_(&all), readers_(all.parts_.size()) {}
    void read(std::uint64_t index, SampleBuilder& out) override {
      detail::require_record(*all_, index);
      for (std::size_t i = 0; i < readers_.size(); ++i) {
        const Part& part = all_->parts_[i];
        try {
          if (readers_[i] == nullptr) readers_[i] = part.source->open_reader();
          SampleBuilder own(out, part.first, part.schema);
          readers_[i]->read(index, own);
        } catch (...) {
          Error error = detail::current_error();
          try {
            part.source->describe(index, error);
          } catch (...) {  // a part that can't even name itself
          }
          throw error;
        }
      }
    }
    void expect(std::span<const std::uint64_t> indices) noexcept override {
      for (const auto& reader : readers_)
        if (reader != nullptr) reader->expect(indices);
    }
    void pause() noexcept override {
      for (const auto& reader : readers_)
        if (reader != nullptr) reader->pause();
    }

   private:
    const Zipped* all_;
    std::vector<std::unique_ptr<ReaderModel>> readers_;
  };

  void refuse_second(const std::vector<Field>& before, const Field& field, const std::string& source) const {
    for (const Field& other : before)
      if (other.name == field.name)
        throw Error(Errc::invalid_argument, "part " + std::to_string(parts_.size() - 1) + " has a field \"" +
                                                field.name +
                                                "\", as a part before it has; give it a prefix: {source, \"b_\"}")
            .with_stage("zip")
            .with_source(source);
  }

  std::vector<Part> parts_;
  Schema schema_;
  std::string name_;
  std::uint64_t size_ = 0, identity_ = 0;
  bool wants_advice_ = false;
  const SourceModel* keyed_ = nullptr;
};

}  // namespace

AnySource zip(std::vector<ZipPart> parts) {
  return AnySource(std::shared_ptr<const SourceModel>(std::make_shared<Zipped>(std::move(parts))));
}

}  // namespace penstock
