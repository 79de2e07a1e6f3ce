// SPDX-License-Identifier: Apache-2.0
#include "join/zipped.hpp"

#include <algorithm>
#include <utility>

#include <penstock/error.hpp>

#include "base/failure.hpp"
#include "base/hash.hpp"
#include "data/labels.hpp"
#include "join/branches.hpp"
#include "join/forwarded_source.hpp"
#include "join/lent_blocks.hpp"
#include "join/parts.hpp"
#include "order/groups.hpp"

namespace penstock::detail {

namespace {

struct Part {
  std::shared_ptr<const SourceModel> source;
  Schema schema;      // with the part's own field names
  std::size_t first;  // slot of the part's first field in the join
  // Null if the part has no blocks, or if they may change from the plan to the reading. Then the lent blocks could not
  // be told apart, so the part's reader loads its blocks itself.
  const BlockModel* blocks;
  std::uint64_t first_block;  // number of the part's first block in the join
  // For each record of the join, the index of the part's record. Empty if each index is the record's index in the join.
  std::vector<std::uint64_t> indices;

  std::uint64_t record(std::uint64_t index) const { return indices.empty() ? index : indices[index]; }
};

class Zipped final : public SourceModel, public ForwardedBlocks {
 public:
  explicit Zipped(SideBySide joined) : kind_(std::move(joined.kind)), notes_(std::move(joined.notes)) {
    std::vector<Field> fields;
    std::vector<std::string> names;
    size_ = joined.size;
    identity_ = hash_text(kind_);
    for (std::size_t i = 0; i < joined.parts.size(); ++i) {
      ZipPart& part = joined.parts[i];
      std::vector<std::uint64_t>& indices = joined.indices[i];
      const std::shared_ptr<const SourceModel>& model = part.source.model();
      names.push_back(model->name());
      const BlockModel* const blocks = model->blocks_vary() ? nullptr : model->block_model();
      parts_.push_back({model, model->schema(), fields.size(), blocks, blocks_, {}});
      if (parts_.back().blocks != nullptr) blocks_ += parts_.back().blocks->blocks();
      if (blocks != nullptr) blocks_ahead_ = most_ahead(blocks_ahead_, blocks->blocks_ahead());
      for (Field field : parts_.back().schema) {
        field.name = part.prefix + field.name;
        refuse_second(fields, field, names.back());
        fields.push_back(std::move(field));
      }
      identity_ = hash_mix(identity_, model->identity());
      if (!indices.empty()) identity_ = hash_bytes(indices.data(), indices.size() * sizeof indices[0], identity_);
      parts_.back().indices = std::move(indices);
      wants_advice_ = wants_advice_ || model->wants_advice();
      branches_.add(*model, kind_);
      if (keyed_ == parts_.size() - 1 && !model->has_keys()) ++keyed_;
    }
    schema_ = Schema(std::move(fields));
    name_ = joined_name(kind_, names);
  }

  std::uint64_t size() const override { return size_; }
  Schema schema() const override { return schema_; }
  std::string name() const override { return name_; }
  bool has_keys() const noexcept override { return keyed_ < parts_.size(); }
  std::string key(std::uint64_t index) const override {
    require_record(*this, index);
    return has_keys() ? parts_[keyed_].source->key(parts_[keyed_].record(index)) : "";
  }
  std::uint64_t identity() const override { return identity_; }
  bool identified() const noexcept override {
    return std::ranges::all_of(parts_, [](const Part& part) { return part.source->identified(); });
  }
  std::uint64_t revision() const override {
    std::uint64_t hash = 0;
    for (const Part& part : parts_) hash = hash_mix(hash, part.source->revision());
    return hash;
  }
  std::vector<FetchCounts> fetched() const override {
    std::vector<FetchCounts> all;
    for (const Part& part : parts_) add_fetched(all, *part.source);
    return all;
  }
  bool wants_advice() const noexcept override { return wants_advice_; }
  void will_need(std::span<const std::uint64_t> indices) const noexcept override {
    for (const Part& part : parts_)
      if (part.source->wants_advice())
        with_records(part, indices, [&](std::span<const std::uint64_t> own) { part.source->will_need(own); });
  }
  std::string file() const override {
    for (const Part& part : parts_)
      if (std::string file = part.source->file(); !file.empty()) return file;
    return {};
  }
  // Returns the files of all parts. In an error about one field, `describe_field` names the part that has the field.
  std::string file_of(std::uint64_t index) const override {
    require_record(*this, index);
    std::vector<std::string> files;
    for (const Part& part : parts_)
      if (std::string file = part.source->file_of(part.record(index));
          !file.empty() && std::ranges::find(files, file) == files.end())
        files.push_back(std::move(file));
    std::string text;
    for (const std::string& file : files) text += (text.empty() ? "" : " and ") + file;
    return text;
  }
  std::vector<std::uint64_t> block_ends() const override {
    for (const Part& part : parts_) {
      std::vector<std::uint64_t> ends = part.source->block_ends();
      if (ends.empty() || !std::ranges::is_sorted(part.indices)) continue;
      if (!part.indices.empty())
        for (std::uint64_t& end : ends)
          end = static_cast<std::uint64_t>(std::ranges::lower_bound(part.indices, end) - part.indices.begin());
      ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
      if (ends.size() > 1 && ends.front() == 0) ends.erase(ends.begin());
      return ends;
    }
    return {};
  }
  // Returns the groups of the first part that has groups.
  std::vector<Group> groups() const override {
    for (const Part& part : parts_) {
      std::vector<Group> own = known_groups(*part.source, kind_);
      if (own.empty() || part.indices.empty()) {
        if (!own.empty()) return own;
        continue;
      }
      GroupNameLookup whose(own);
      std::vector<Group> all;
      for (std::uint64_t i = 0; i < size_; ++i) append_group(all, whose.name_of(part.record(i)), i + 1);
      return all;
    }
    return {};
  }
  std::optional<std::vector<std::int64_t>> labels(std::string_view field) const override {
    const auto slot = schema_.find(field);
    if (!slot || !is_label(schema_[*slot])) return std::nullopt;
    const Part& part = *std::prev(std::ranges::upper_bound(parts_, *slot, {}, &Part::first));
    const std::string& own_name = part.schema[*slot - part.first].name;
    std::optional<std::vector<std::int64_t>> own = part.source->labels(own_name);
    if (own && part.indices.empty()) return own;
    std::optional<LabelReader> read;
    if (!own) read.emplace(*part.source, own_name, "labels_of");
    std::vector<std::int64_t> labels;
    labels.reserve(size_);
    for (std::uint64_t i = 0; i < size_; ++i) {
      try {
        labels.push_back(own ? own->at(part.record(i)) : (*read)(part.record(i)));
      } catch (...) {
        Error error = as_record(current_error(), part, i);
        if (error.sample_scoped()) return std::nullopt;  // an order after the join may leave this record out
        throw error.with_index(i);
      }
    }
    return labels;
  }
  std::vector<std::string> notes() const override {
    std::vector<std::string> all = notes_;
    for (const Part& part : parts_)
      for (std::string& note : part.source->notes()) all.push_back(part.source->name() + ": " + std::move(note));
    return all;
  }
  void describe_field(std::uint64_t index, std::size_t slot, Error& error) const override {
    const Part& part = *std::prev(std::ranges::upper_bound(parts_, slot, {}, &Part::first));
    error = as_record(error, part, index, slot - part.first);
    describe(index, error);
  }
  std::unique_ptr<ReaderModel> open_reader() const override { return open_branch(0); }
  std::unique_ptr<ReaderModel> open_branch(std::uint64_t branch) const override {
    return std::make_unique<Reader>(*this, branch);
  }
  void for_each_part(const std::function<void(std::size_t, const SourceModel&)>& visit) const override {
    for (std::size_t i = 0; i < parts_.size(); ++i) visit(i, *parts_[i].source);
  }
  std::uint64_t branches() const noexcept override { return branches_.branches(); }
  bool draws() const override { return branches_.draws(); }

  // The blocks of a record are the blocks of its parts' records, in the order of the parts.
  const BlockModel* block_model() const noexcept override { return blocks_ == 0 ? nullptr : this; }
  std::uint64_t blocks() const override { return blocks_; }
  BlocksAhead blocks_ahead() const override { return blocks_ahead_; }
  MemoryAhead take_memory(std::size_t most) const override {
    std::vector<const BlockModel*> sources;
    for (const Part& part : parts_) sources.push_back(part.blocks);
    return take_memory_of(sources, most);
  }
  // Returns none for a part with `indices`, because its consecutive records may not be consecutive in the join.
  std::optional<BlockRows> rows_of(std::uint64_t block) const override {
    const Part& part = part_of_block(block);
    if (!part.indices.empty()) return std::nullopt;
    std::optional<BlockRows> rows = part.blocks->rows_of(block - part.first_block);
    if (rows) rows->field += part.first;
    return rows;
  }
  void blocks_of(std::uint64_t index, std::vector<std::uint64_t>& ids) const override {
    require_record(*this, index);
    for (const Part& part : parts_) {
      if (part.blocks == nullptr) continue;
      const std::size_t before = ids.size();
      part.blocks->blocks_of(part.record(index), ids);
      for (std::size_t i = before; i < ids.size(); ++i) ids[i] += part.first_block;
    }
  }

 private:
  class Reader final : public ReaderModel {
   public:
    Reader(const Zipped& all, std::uint64_t branch) : all_(&all), branch_(branch), readers_(all.parts_.size()) {}
    void read(std::uint64_t index, SampleBuilder& out) override {
      require_record(*all_, index);
      std::optional<LentBlocks::Lent> lent = lent_.take(index);
      for (std::size_t i = 0; i < readers_.size(); ++i) {
        const Part& part = all_->parts_[i];
        try {
          if (readers_[i] == nullptr) readers_[i] = part.source->open_branch(branch_of_part(branch_, i));
          if (lent && part.blocks != nullptr) lend_part(*readers_[i], part, part.record(index), *lent);
          SampleBuilder own(out, part.first, part.schema);
          readers_[i]->read(part.record(index), own);
        } catch (...) {
          throw all_->as_record(current_error(), part, index);
        }
      }
    }
    void lend(std::uint64_t index, BlockData blocks, const Error* failure) noexcept override {
      lent_.set(index, blocks, failure);
    }
    void expect(std::span<const std::uint64_t> indices) noexcept override {
      for (std::size_t i = 0; i < readers_.size(); ++i)
        if (readers_[i] != nullptr)
          with_records(all_->parts_[i], indices, [&](std::span<const std::uint64_t> own) { readers_[i]->expect(own); });
    }
    void pause() noexcept override {
      lent_.forget();
      for (const auto& reader : readers_)
        if (reader != nullptr) reader->pause();
    }

   private:
    // Takes the part's blocks from the front of `left` and lends them to the part's reader.
    void lend_part(ReaderModel& reader, const Part& part, std::uint64_t own, LentBlocks::Lent& left) {
      ids_.clear();
      part.blocks->blocks_of(own, ids_);
      const bool whole = ids_.size() <= left.blocks.size();
      const BlockData blocks = left.blocks.first(whole ? ids_.size() : left.blocks.size());
      left.blocks = left.blocks.subspan(blocks.size());
      reader.lend(own, blocks, whole ? nullptr : left.failure);
    }

    const Zipped* all_;
    std::uint64_t branch_;
    std::vector<std::unique_ptr<ReaderModel>> readers_;
    LentBlocks lent_;
    std::vector<std::uint64_t> ids_;
  };

  BlockOrigin block_origin(std::uint64_t block) const override {
    const Part& part = part_of_block(block);
    return {*part.blocks, block - part.first_block};
  }
  const Part& part_of_block(std::uint64_t block) const {
    const auto has = [block](const Part& part) {
      return part.blocks != nullptr && block - part.first_block < part.blocks->blocks();
    };
    return *std::ranges::find_if(parts_, has);
  }

  // Calls f with the part's own indices of these records.
  template <class F>
  static void with_records(const Part& part, std::span<const std::uint64_t> indices, F f) noexcept {
    if (part.indices.empty()) return f(indices);
    try {
      std::vector<std::uint64_t> own;
      own.reserve(indices.size());
      for (const std::uint64_t index : indices)
        if (index < part.indices.size()) own.push_back(part.indices[index]);
      f(own);
    } catch (...) {  // no memory for advice
    }
  }

  // Adds the description of the part's record to the error. Returns the result as an error of the join's record.
  Error as_record(Error error, const Part& part, std::uint64_t index, std::optional<std::size_t> slot = {}) const {
    const std::uint64_t own = part.record(index);
    try {
      if (slot)
        part.source->describe_field(own, *slot, error);
      else
        part.source->describe(own, error);
    } catch (...) {  // the part can't describe the record
    }
    if (part.indices.empty()) return error;
    return of_record(error, "; it is record " + std::to_string(own) + " of part " +
                                std::to_string(static_cast<std::size_t>(&part - parts_.data())) + " of " + name_);
  }

  void refuse_second(const std::vector<Field>& before, const Field& field, const std::string& source) const {
    for (const Field& other : before)
      if (other.name == field.name)
        throw Error(Errc::invalid_argument, "part " + std::to_string(parts_.size() - 1) + " has a field \"" +
                                                field.name +
                                                "\", as a part before it has; give it a prefix: {source, \"b_\"}")
            .with_stage(kind_)
            .with_source(source);
  }

  std::string kind_;
  std::vector<Part> parts_;
  Schema schema_;
  std::string name_;
  std::vector<std::string> notes_;
  std::uint64_t size_ = 0, identity_ = 0, blocks_ = 0;
  BlocksAhead blocks_ahead_;
  bool wants_advice_ = false;
  BranchCount branches_;
  std::size_t keyed_ = 0;  // number of the first part with keys; the number of parts if no part has keys
};

}  // namespace

std::shared_ptr<const SourceModel> side_by_side(SideBySide joined) {
  return std::make_shared<Zipped>(std::move(joined));
}

}  // namespace penstock::detail
