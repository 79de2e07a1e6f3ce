// SPDX-License-Identifier: Apache-2.0
#include "chain/part_source.hpp"

#include <algorithm>
#include <utility>

#include "base/failure.hpp"
#include "chain/chain_run.hpp"
#include "data/labels.hpp"
#include "join/parts.hpp"
#include "pipeline/pipeline_facts.hpp"

namespace penstock::detail::runtime {

namespace {

// Lends the reader of the records to a ChainRun, and takes it back.
class LentReader {
 public:
  LentReader(ChainRun& run, std::unique_ptr<ReaderModel>& reader) noexcept : run_(run), reader_(reader) {
    run_.reader = std::move(reader_);
  }
  LentReader(const LentReader&) = delete;
  LentReader& operator=(const LentReader&) = delete;
  ~LentReader() { reader_ = std::move(run_.reader); }

 private:
  ChainRun& run_;
  std::unique_ptr<ReaderModel>& reader_;
};

// Reads the samples of a part. Usually it is called by the reading of a whole pipeline's sample. Then it runs the
// branch of that pipeline's chain.
class PartReader final : public ReaderModel {
 public:
  PartReader(const PartSource& part, std::uint64_t branch)
      : part_(part), branch_(branch), reader_(part.open_source_reader()) {}

  void read(std::uint64_t index, SampleBuilder& out) override {
    const std::uint64_t record = part_.record(index);
    if (ChainRun* const outer = out.cells().chain_run(); outer != nullptr) {
      if (const auto number = outer->chain().find_branch(branch_))
        return read_within(*outer->branches.inner[*number], record, out.first_slot());
    }
    read_alone(record, out);
  }
  void expect(std::span<const std::uint64_t> indices) noexcept override {
    try {
      reader_->expect(part_.records(indices));
    } catch (...) {  // no memory for advice
    }
  }
  void pause() noexcept override { reader_->pause(); }
  void lend(std::uint64_t index, BlockData blocks, const Error* failure) noexcept override {
    try {
      reader_->lend(part_.record(index), blocks, failure);
    } catch (...) {  // an order failed for this record, and will fail when it is read
    }
  }

 private:
  void read_within(ChainRun& run, std::uint64_t record, std::size_t first_slot) {
    const LentReader lent(run, reader_);
    run.branches.first_slot = first_slot;
    guarded(run, record, [&] { run.chain().run_branch(run, record); });
    run.hand_over();
  }
  void read_alone(std::uint64_t record, SampleBuilder& out) {
    const Chain& chain = part_.chain_alone();
    if (alone_ == nullptr) alone_ = std::make_unique<ChainRun>(chain, ScratchArena::no_limit, nullptr);
    ChainRun& run = *alone_;
    const LentReader lent(run, reader_);
    guarded(run, record, [&] {
      chain.run(run, Place{0, record, 0, 0}, record, {});
      for (std::size_t slot = 0; slot < run.cells.size(); ++slot)
        out.view(slot, run.value(slot), run.cells[slot].shape);
    });
  }
  // The error gets the index of the whole's record later.
  template <class F>
  static void guarded(ChainRun& run, std::uint64_t record, F make) {
    try {
      make();
    } catch (...) {
      throw of_record(run.chain().describe_failure(run, record), "");
    }
  }

  const PartSource& part_;
  const std::uint64_t branch_;
  std::unique_ptr<ReaderModel> reader_;
  std::unique_ptr<ChainRun> alone_;
};

}  // namespace

PartSource::PartSource(std::shared_ptr<const PipelineData> data)
    : Selected(data->source, data->orders, data->size, facts_of(*data).fingerprint), data_(std::move(data)) {}

std::unique_ptr<ReaderModel> PartSource::open_branch(std::uint64_t branch) const {
  return std::make_unique<PartReader>(*this, branch);
}

bool PartSource::draws() const {
  return source().draws() || std::ranges::any_of(data_->stages, [](const BoundStage& s) { return s.work->draws(); });
}

PartSource::FieldOrigin PartSource::origin_of(std::string_view field) const {
  FieldOrigin from{.name = std::string(field), .changed_by = {}};
  for (auto stage = data_->stages.rbegin(); stage != data_->stages.rend(); ++stage) {
    const WorkStage& work = *stage->work;
    if (const std::string& before = work.name_before(from.name); before != from.name)
      from.name = std::string(before);
    else if (work.gives(from.name) || !stage->in.find(from.name))
      from.changed_by = stage->label;
    else
      from.may_change = from.may_change || work.may_give(from.name);
  }
  return from;
}

// Running the stages for all records would take as long as an epoch. So that is left to the caller, and only if a stage
// may change the labels without saying so.
std::optional<std::vector<std::int64_t>> PartSource::labels(std::string_view field) const {
  const FieldOrigin from = origin_of(field);
  if (!from.changed_by.empty())
    throw Error(Errc::schema_mismatch,
                "field \"" + std::string(field) + "\" is made by the stage " + from.changed_by +
                    " of a part; records are drawn and split before any stage is run, by fields of a source")
        .with_source(name());
  if (from.may_change) return std::nullopt;
  if (auto known = known_labels_of(source(), from.name, "labels_of")) return labels_here(std::move(*known));
  LabelReader read(source(), from.name, "labels_of");
  std::vector<std::int64_t> own;
  own.reserve(size());
  try {
    for_each_record([&](std::uint64_t record) { own.push_back(read(record)); });
  } catch (const Error& error) {
    if (!error.sample_scoped()) throw;
    return std::nullopt;  // an order after the join may leave this record out
  }
  return own;
}

void PartSource::describe_field(std::uint64_t index, std::size_t slot, Error& error) const {
  const auto of_source = data_->source_schema.find(origin_of(data_->schema[slot].name).name);
  if (!of_source) return describe(index, error);
  Selected::describe_field(index, *of_source, error);
}

const Chain& PartSource::chain_alone() const {
  std::call_once(made_alone_, [this] { alone_.emplace(data_, "a part"); });
  return *alone_;
}

}  // namespace penstock::detail::runtime
