// SPDX-License-Identifier: Apache-2.0
#include "chain/chain.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <penstock/error.hpp>

#include "base/failure.hpp"
#include "base/hash.hpp"
#include "base/profiled_range.hpp"
#include "base/trace.hpp"
#include "join/branches.hpp"
#include "pipeline/rank_rows.hpp"

namespace penstock::detail::runtime {

namespace {

// Adds the time from construction to destruction, and with it the cost of measuring.
class BranchTime {
 public:
  explicit BranchTime(Clocks& sum) noexcept : sum_(sum), begun_(read_clocks()) {}
  BranchTime(const BranchTime&) = delete;
  BranchTime& operator=(const BranchTime&) = delete;
  ~BranchTime() {
    const Clocks ended = read_clocks();
    sum_.cpu_ns += ended.cpu_ns - begun_.cpu_ns;
    sum_.wall_ns += ended.wall_ns - begun_.wall_ns;
  }

 private:
  Clocks& sum_;
  const Clocks begun_;
};

// Returns the pipeline of a branch with the whole's settings, and with stages that are named after the branch.
std::shared_ptr<const PipelineData> data_of_branch(const Branch& branch, const PipelineData& whole) {
  auto data = std::make_shared<PipelineData>(*branch.pipeline);
  data->seed = hash_mix(whole.seed_value(), branch.key);
  data->check = whole.check_value();
  for (BoundStage& stage : data->stages) stage.label += " of " + branch.name;
  if (data->cache) data->cache->label += " of " + branch.name;
  return data;
}

}  // namespace

Chain::Chain(std::shared_ptr<const PipelineData> data, const std::string& name)
    : data_(std::move(data)),
      layout_(data_->batch ? std::optional<RowLayout>(data_->schema) : std::nullopt),
      seed_(data_->seed_value()),
      check_(data_->check_value()),
      program_(ChainCompiler(*data_, layout()).compile(name)) {
  add_branches(name);
  if (data_->cache && !data_->cache->allows.random) cached_by_ = &data_->cache->label;
  if (!layout_) return;
  BatchSpec of_rank = *data_->batch;
  of_rank.rows = max_rows_of_rank(*data_);
  const Schema made = data_->made();
  const auto hidden = static_cast<std::ptrdiff_t>(made.size() - data_->sample().size());
  bounds_.emplace(Schema(std::vector<Field>(made.begin(), made.end() - hidden)), of_rank, data_->groups.get());
  const RowLayout layout_of_made(made);
  for (const RowField& field : layout_of_made.fields())
    row_bytes_.push_back(field.kind == RowField::Kind::dense ? field.row_bytes : 0);
}

void Chain::add_branches(const std::string& name) {
  for_each_branch(*data_->source, name, [&](const Branch& branch) {
    branch_numbers_.emplace_back(branch.key, branches_.size());
    branches_.push_back(
        {branch.key, branch.name, std::make_unique<const Chain>(data_of_branch(branch, *data_), branch.name)});
  });
  std::ranges::sort(branch_numbers_);
}

std::optional<std::size_t> Chain::find_branch(std::uint64_t key) const noexcept {
  const auto found = std::ranges::lower_bound(branch_numbers_, key, {}, &std::pair<std::uint64_t, std::size_t>::first);
  if (found == branch_numbers_.end() || found->first != key) return std::nullopt;
  return found->second;
}

std::vector<const Step*> Chain::all_steps() const {
  std::vector<const Step*> all;
  for (const auto& step : steps()) all.push_back(step.get());
  for (const ChainBranch& branch : branches_)
    for (const Step* const step : branch.chain->all_steps()) all.push_back(step);
  return all;
}

std::size_t Chain::first_step(ChainRun& run, std::uint64_t index) const {
  run.recalls = false;
  if (cache_step() == 0) return 0;
  run.at = &steps()[cache_step()]->label;
  run.recalls = run.reader->holds(index);
  return run.recalls ? cache_step() : 0;
}

StepCall Chain::call_of(const ChainRun& run, std::size_t number, const Place& place, std::uint64_t index,
                        std::span<std::byte* const> rows) const noexcept {
  const std::string* cached_by = number < cache_step() ? cached_by_ : nullptr;
  if (cached_by == nullptr && run.branches.outer != nullptr)
    cached_by = run.branches.outer->branches.reading->cached_by;
  return {place, index, rows, seed_, check_, number, cached_by};
}

// Returns false if a filter leaves the sample out.
bool Chain::execute(ChainRun& run, std::size_t number, const Place& place, std::uint64_t index,
                    std::span<std::byte* const> rows) const {
  const Step& step = *steps()[number];
  run.at = &step.label;
  const ProfiledRange range(step.label);
  const TracedRange traced(run.runner.trace, step.label.c_str());
  run.begin(step, rows);
  // The result of the steps before a cache must not depend on the epoch in which the cache stores it.
  const Place of_record{0, index, 0, 0};
  return step.run(run, call_of(run, number, number < cache_step() ? of_record : place, index, rows));
}

// Copies each value that is not in its row yet to the row. Dense fields have fixed shapes, which every step checked.
void Chain::finish(ChainRun& run, std::span<std::byte* const> rows) const {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (row_bytes_[i] == 0) continue;
    const std::byte* const value = run.value(i);
    if (value == rows[i]) continue;
    std::memcpy(rows[i], value, row_bytes_[i]);
    run.copied_bytes += row_bytes_[i];
  }
  if (!run.row.varying.empty()) finish_varying(run, rows);
}

void Chain::finish_varying(ChainRun& run, std::span<std::byte* const> rows) const {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const RowField& field = (*layout_)[i];
    if (field.kind == RowField::Kind::dense) continue;
    const Cell& cell = run.cells[i];
    const Field& is = data_->schema[i];
    if (field.kind == RowField::Kind::padded && cell.shape[0] > field.to)
      throw Error(Errc::limit_exceeded, "field \"" + is.name + "\" has " + std::to_string(cell.shape[0]) +
                                            " elements in this sample and is padded to " + std::to_string(field.to) +
                                            "; cut it with a map, or pad to more")
          .with_stage("pad(" + is.name + ")");
    RaggedRow& out = run.row.varying[field.varying];
    const std::size_t bytes = static_cast<std::size_t>(cell.shape.elements()) * size_of(is.dtype);
    const std::byte* const value = run.value(i);
    if (value != out.data || !(cell.shape == out.shape)) {
      std::byte* const to = run.destination(i, cell.shape);
      if (bytes != 0) std::memcpy(to, value, bytes);
      run.copied_bytes += bytes;
    }
    if (field.kind == RowField::Kind::padded) fill_padding(field, out.data + bytes, field.row_bytes - bytes);
  }
  bounds_->check(run.row.varying);
}

bool Chain::run_steps(ChainRun& run, std::size_t first, std::size_t last, const Place& place, std::uint64_t index,
                      std::span<std::byte* const> rows) const {
  for (std::size_t i = first; i < last; ++i)
    if (!execute(run, i, place, index, rows)) return false;
  if (!rows.empty()) finish(run, rows);
  return true;
}

bool Chain::run(ChainRun& run, const Place& place, std::uint64_t index, std::span<std::byte* const> rows,
                std::uint64_t stands_for) const {
  const TracedRange traced(run.runner.trace, "sample", index);
  std::size_t first = 0;
  for (RaggedRow& row : run.row.varying) row.data = nullptr;
  if (run.parent != nullptr) {
    first = children_begin();
    run.adopt();
  } else {
    first = first_step(run, index);
  }
  const bool kept = stands_for == 0 ? run_steps(run, first, steps().size(), place, index, rows)
                                    : run_measured(run, first, steps().size(), place, index, rows, stands_for);
  run.counters.totals.samples.add(1);
  if (run.copied_bytes != 0) {
    run.counters.totals.copied_bytes.add(run.copied_bytes);
    run.copied_bytes = 0;
  }
  return kept;
}

void Chain::run_branch(ChainRun& run, std::uint64_t index) const {
  run.follow_outer();
  ChainRunBranches& outer = run.branches.outer->branches;
  const Place& place = outer.reading->place;
  const std::size_t first = first_step(run, index);
  if (outer.measured_for == 0) {
    run_steps(run, first, steps().size(), place, index, {});
  } else {
    const BranchTime time(outer.time);
    run_measured(run, first, steps().size(), place, index, {}, outer.measured_for);
  }
  run.counters.totals.samples.add(1);
}

bool Chain::open(ChainRun& parent, const Place& place, std::uint64_t index, std::uint64_t stands_for) const {
  const TracedRange traced(parent.runner.trace, "record", index);
  const std::size_t first = data_->source->is_stream() ? 1 : first_step(parent, index);
  const bool kept = stands_for == 0 ? run_steps(parent, first, children_begin(), place, index, {})
                                    : run_measured(parent, first, children_begin(), place, index, {}, stands_for);
  parent.counters.totals.samples.add(1);
  // Copies the values that only view the reader's memory. They become invalid when the reader reads another record.
  if (kept)
    for (std::size_t slot = 0; slot < parent.cells.size(); ++slot) parent.own(slot);
  parent.counters.totals.copied_bytes.add(std::exchange(parent.copied_bytes, 0));
  return kept;
}

std::uint32_t Chain::count(ChainRun& parent, const Place& place, std::uint64_t index) const {
  if (children_begin() == steps().size()) return 1;
  const Step& step = *steps()[children_begin()];
  parent.at = &step.label;
  return step.count(parent, call_of(parent, children_begin(), place, index, {}));
}

bool Chain::read(ChainRun& parent, StreamModel& stream) const {
  const Step& step = *steps()[0];
  parent.at = &step.label;
  parent.begin(step, {});
  SampleBuilder out(parent);
  if (!stream.next(out)) return false;
  for (std::size_t slot = 0; slot < step.fields; ++slot) {
    parent.own(slot);
  }
  step.check_sizes(parent);
  parent.counters.totals.copied_bytes.add(std::exchange(parent.copied_bytes, 0));
  return true;
}

// If a sample fails, the steps up to the failure are counted, because they took time too.
bool Chain::run_measured(ChainRun& run, std::size_t first, std::size_t last, const Place& place, std::uint64_t index,
                         std::span<std::byte* const> rows, std::uint64_t stands_for) const {
  // Samples that usually take a few microseconds may wait from time to time, for a page of a file. So every measured
  // step is checked for waits. The system is asked only about a step that was off its core for more than
  // `worth_asking_ns`, because asking costs as much as making a short sample.
  constexpr std::uint64_t worth_asking_ns = 1'000;
  ChainRunCounters& counters = run.counters;
  WaitWatch watch(counters.sample_ns == 0 || counters.sample_ns > 20000);
  run.branches.measured_for = stands_for;
  run.branches.time = {};
  Clocks before = read_clocks();
  const Clocks begun = before;
  std::uint64_t read_ns = 0;
  const auto count = [&](std::size_t i) {
    const Clocks after = read_clocks();
    std::uint64_t cpu_ns = after.cpu_ns - before.cpu_ns, wall_ns = after.wall_ns - before.wall_ns;
    if (i == 0) read_ns = wall_ns;
    // The branches count their time themselves.
    const Clocks elsewhere = std::exchange(run.branches.time, {});
    cpu_ns -= std::min(cpu_ns, elsewhere.cpu_ns);
    wall_ns -= std::min(wall_ns, elsewhere.wall_ns);
    counters.steps[i].cpu_ns.add(stands_for * cpu_ns);
    before = after;
    if (wall_ns <= cpu_ns + worth_asking_ns) return;
    counters.steps[i].wait_ns.add(stands_for * watch.waited(wall_ns - cpu_ns));
    before = read_clocks();
  };
  const auto count_all = [&] {
    run.branches.measured_for = 0;
    counters.sample_ns = before.wall_ns - begun.wall_ns;
    if (run.branches.outer != nullptr) return;
    counters.totals.wall_ns.add(stands_for * counters.sample_ns);
    counters.totals.measured.add(1);
    counters.totals.stood_for.add(stands_for);
    counters.totals.scratch_bytes.set(run.arena.peak());
    run.runner.delay.tick(before.wall_ns);
    if (counters.measured_samples != nullptr) counters.measured_samples->add({index, read_ns, counters.sample_ns});
  };
  std::size_t i = first;
  bool kept = true;
  if (first == last && !rows.empty()) finish(run, rows);  // no step is left: the child equals its parent
  try {
    for (; i < last && kept; ++i) {
      kept = execute(run, i, place, index, rows);
      if (kept && i + 1 == last && !rows.empty()) finish(run, rows);
      count(i);
      std::uint64_t bytes = 0;
      const Step& step = *steps()[i];
      for (std::size_t slot = 0; slot < run.cells.size(); ++slot)
        if (step.counts(slot, i == first)) bytes += run.cells[slot].shape.elements() * size_of(step.schema[slot].dtype);
      counters.steps[i].bytes.add(stands_for * bytes);
    }
  } catch (...) {
    count(i);
    count_all();
    throw;
  }
  count_all();
  return kept;
}

Error Chain::describe_failure(const ChainRun& run, std::uint64_t index) const {
  Error error = current_error();
  error.with_stage(*(run.at != nullptr ? run.at : &steps().front()->label));
  try {
    if (run.decoding)
      data_->source->describe_field(index, *run.decoding, error);
    else
      data_->source->describe(index, error);
  } catch (...) {  // the source can't name the key or itself, so the error stays without them
  }
  return error.with_index(index);
}

}  // namespace penstock::detail::runtime
