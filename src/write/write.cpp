// SPDX-License-Identifier: Apache-2.0
#include "write/write.hpp"

#include <algorithm>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/store_files.hpp>
#include <penstock/extend/stream_source.hpp>
#include <penstock/extend/system_error.hpp>

#include "base/clock.hpp"
#include "base/failure.hpp"
#include "base/process.hpp"
#include "pipeline/pipeline_facts.hpp"
#include "report/make_report.hpp"

namespace penstock {

namespace {

constexpr std::size_t position_digits = 8, record_digits = 10;

void append_number(std::string& text, std::uint64_t number, std::size_t width) {
  const std::string digits = std::to_string(number);
  text.append(width - std::min(width, digits.size()), '0').append(digits);
}
// All child numbers have the same number of digits, so that keys are in the order of the samples.
void append_child(std::string& text, std::uint32_t child) {
  text += '/';
  append_number(text, child, record_digits);
}

}  // namespace

std::string position_key(const SinkItem& item, std::uint64_t size) {
  const std::size_t most = size == 0 || size == unknown_size ? 0 : std::to_string(size - 1).size();
  std::string key;
  append_number(key, item.position, std::max(position_digits, most));
  if (item.child) append_child(key, *item.child);
  return key;
}

SinkThreads::SinkThreads(Executor executor, unsigned threads) : executor_(std::move(executor)), threads_(threads) {}

void SinkThreads::submit(std::function<void()> work) const noexcept {
  try {
    detail::check_not_forked();
    executor_.impl().submit(std::move(work));
  } catch (...) {
    // Not an error: `submit` does not promise that `work` runs. If `work` does not run, the sink itself does the work.
  }
}

namespace detail::runtime {

std::string WriteItems::key_of(std::uint64_t index) const {
  std::string key;
  try {
    key = data_->source->key(index);
  } catch (...) {
    throw current_error().with_stage("read").with_source(data_->source->name()).with_index(index);
  }
  // A child or a stream's record always needs a key. If the source gives no key, the key is the record's number.
  if (key.empty() && (data_->flat_maps || data_->source->is_stream())) append_number(key, index, record_digits);
  return key;
}

SinkItem WriteItems::at_position(std::uint64_t position) const {
  SinkItem item;
  item.position = position;
  try {
    data_->sample_order().fill(0, position, {&item.index, 1});
  } catch (...) {
    throw current_error().with_stage("order");
  }
  return item;
}

const SinkItem& WriteItems::at(const RowPlace& place, std::uint64_t index) {
  if (!begun_ || item_.index != index) {
    begun_ = false;
    item_.key = key_of(index);
    record_bytes_ = item_.key.size();
    begun_ = true;
  }
  item_.position = place.position;
  item_.index = index;
  if (data_->flat_maps) {
    item_.child = place.child;
    item_.key.resize(record_bytes_);
    append_child(item_.key, place.child);
  }
  return item_;
}

WriteRun::WriteRun(const PipelineData& data, SinkModel& sink, const WriteOptions& options)
    : data_(data), sink_(sink), options_(options), stage_("write to " + sink.name()), begun_ns_(now_ns()) {
  if (!options_.report) return;
  cores_begun_ = read_core_time();
  fetched_begun_ = {data_.source->fetched(), begun_ns_};
  report_ = make_write_report(sink.name());
}

void WriteRun::work_on(const SinkThreads& threads) {
  try {
    sink_.work_on(threads);
  } catch (...) {
    throw current_error().with_stage(stage_);
  }
}

void WriteRun::open() {
  const bool counted = !data_.filters && !data_.flat_maps && data_.policy_value().policy != OnError::drop;
  try {
    sink_.open({data_.schema, counted ? data_.size : unknown_size, sample_facts_of(data_)});
  } catch (...) {
    throw current_error().with_stage(stage_);
  }
}

bool WriteRun::has_some() {
  try {
    return sink_.has_some();
  } catch (...) {
    throw current_error().with_stage(stage_);
  }
}

bool WriteRun::has(const SinkItem& item) {
  try {
    return sink_.has(item);
  } catch (...) {
    throw current_error().with_stage(stage_).with_index(item.index);
  }
}

void WriteRun::put(const SinkItem& item, Sample& sample, std::uint64_t bytes) {
  storing_ = true;
  try {
    sink_.put(item, sample);
  } catch (...) {
    throw current_error().with_stage(stage_).with_index(item.index).with_key(item.key);
  }
  storing_ = false;
  progress.bytes += bytes;
  ++uncommitted_;
  uncommitted_bytes_ += bytes;
}

void WriteRun::commit() {
  storing_ = true;
  if (uncommitted_ != 0) {
    const std::uint64_t begun = now_ns();
    try {
      sink_.commit();
    } catch (...) {
      throw current_error().with_stage(stage_);
    }
    commit_ns_ += now_ns() - begun;
  }
  uncommitted_ = uncommitted_bytes_ = 0;
  if (options_.progress) options_.progress(progress);
  storing_ = false;
}

void WriteRun::commit_if_due() {
  if (uncommitted_ >= options_.commit_every || uncommitted_bytes_ >= options_.commit_bytes) commit();
}

void WriteRun::finish() {
  try {
    sink_.finish();
  } catch (...) {
    throw current_error().with_stage(stage_);
  }
}

void WriteRun::take_counts(const Chain& chain, const RunTotals& totals, std::uint64_t waited_ns) {
  if (!options_.report) return;
  WriteCounts counts{.sink = sink_.name(),
                     .samples = progress.done - progress.skipped - progress.filtered - progress.dropped,
                     .bytes = progress.bytes,
                     .dropped = progress.dropped,
                     .elapsed_ns = now_ns() - begun_ns_ - passed_over_ns_,
                     .waited_ns = waited_ns,
                     .commit_ns = commit_ns_};
  if (const std::optional<CoreTime> now = read_core_time(); now && cores_begun_)
    counts.cores = core_shares(*cores_begun_, *now);
  counts.fetched = since({data_.source->fetched(), now_ns()}, fetched_begun_);
  report_ = make_write_report(chain, totals, counts);
}

void WriteRun::report() {
  if (!options_.report) return;
  for (const BoundStage& stage : data_.stages)
    if (progress.skipped != 0 && !stage.work->versioned())
      report_.notes.push_back("what an earlier run has left was gone on with, and the callable of " + stage.label +
                              " says no version: that it is still the same is not known. Give it a version, and raise "
                              "that with each change");
  for (const std::string& folder : unsynced_folders())
    report_.notes.push_back("the file system of " + printable(folder) +
                            " does not sync folders: a power cut may take the names of files that were written last");
  options_.report(report_);
}

namespace {

void check(const PipelineData& data, const WriteOptions& options) {
  const OnError policy = data.policy_value().policy;
  if (policy != OnError::fail && policy != OnError::drop)
    throw Error(Errc::unsupported,
                "write() stops at the first bad sample, or drops it; on_error can't replace or mask what is stored")
        .with_stage("write");
  if (data.rank_value().world > 1 || data.fixed_steps() != 0)
    throw Error(Errc::unsupported,
                "write() stores all samples once, also those of the other ranks of for_rank(), and knows no "
                "`steps_per_epoch`; leave that stage away, or give each rank a split of its own and a store of its own")
        .with_stage("write");
  if (data.device || !data.after_batch.maps.empty())
    throw Error(Errc::unsupported,
                "write() stores samples, and stages after batch make none of them; leave those away, or put them "
                "before batch")
        .with_stage("write");
  if (options.commit_every == 0)
    throw Error(Errc::invalid_argument, "`commit_every` must not be 0").with_stage("write");
  constexpr std::size_t max_cells = 1u << 24;
  if (options.max_in_flight > max_cells)
    throw Error(Errc::invalid_argument, "`max_in_flight` of " + std::to_string(options.max_in_flight) +
                                            " samples; at most " + std::to_string(max_cells) + " can be in work")
        .with_stage("write");
  check_threads(options.threads);
}

WriteProgress run_write(const Pipeline& pipeline, SinkModel& sink, const WriteOptions& options) {
  const auto data = std::make_shared<const PipelineData>(pipeline.data());
  check(*data, options);
  check_not_forked();
  const Executor executor = options.executor ? *options.executor : Executor(options.threads);
  const unsigned threads = options.threads != 0 ? std::min(options.threads, executor.threads()) : executor.threads();
  data->open();
  WriteRun run(*data, sink, options);
  run.work_on(SinkThreads(executor, threads));
  const bool shares = data->flat_maps || data->source->is_stream() || data->source->block_model() != nullptr;
  const bool through = shares ? write_reordered(run, data, executor.impl(), threads)
                              : write_samples(run, data, executor.impl(), threads);
  if (through) run.finish();
  run.report();
  return run.progress;
}

}  // namespace

}  // namespace detail::runtime

WriteProgress detail::write(const Pipeline& pipeline, SinkModel& sink, const WriteOptions& options) {
  try {
    return runtime::run_write(pipeline, sink, options);
  } catch (...) {
    throw current_error();
  }
}

}  // namespace penstock
