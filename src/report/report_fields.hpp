// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <type_traits>

#include <penstock/report.hpp>

namespace penstock::detail::runtime {

/// `T` is `Of` or `const Of`.
template <class T, class Of>
concept MaybeConst = std::same_as<std::remove_const_t<T>, Of>;

// The following functions call `visit(name, member)` for each field of a report or of its parts, in the order in which
// fields are written.

template <MaybeConst<StageReport> T>
void for_each_field(T& stage, const auto& visit) {
  visit("name", stage.name);
  visit("samples", stage.samples);
  visit("bytes", stage.bytes);
  visit("cpu_us_per_sample", stage.cpu_us_per_sample);
  visit("wait_us_per_sample", stage.wait_us_per_sample);
  visit("share", stage.share);
}

template <MaybeConst<FileReport> T>
void for_each_field(T& file, const auto& visit) {
  visit("name", file.name);
  visit("measured", file.measured);
  visit("read_us", file.read_us);
  visit("share", file.share);
  visit("of_blocks", file.of_blocks);
}

template <MaybeConst<MemoryPurpose> T>
void for_each_field(T& row, const auto& visit) {
  visit("name", row.name);
  visit("count", row.count);
  visit("bytes_each", row.bytes_each);
}

template <MaybeConst<StreamTime> T>
void for_each_field(T& time, const auto& visit) {
  visit("timed", time.timed);
  visit("us", time.us);
  visit("share", time.share);
}

template <MaybeConst<DeviceReport> T>
void for_each_field(T& device, const auto& visit) {
  visit("name", device.name);
  visit("copy_bytes_per_s", device.copy_bytes_per_s);
  visit("copies", device.copies);
  visit("stages", device.stages);
  visit("buffer", device.buffer);
  visit("starved", device.starved);
}

template <MaybeConst<SendReport> T>
void for_each_field(T& sending, const auto& visit) {
  visit("batch_share", sending.batch_share);
  visit("buffer_share", sending.buffer_share);
  visit("read_share", sending.read_share);
  visit("call_share", sending.call_share);
}

template <MaybeConst<FetchReport> T>
void for_each_field(T& fetched, const auto& visit) {
  visit("seconds", fetched.seconds);
  visit("bytes", fetched.bytes);
  visit("reads", fetched.reads);
  visit("waited_reads", fetched.waited_reads);
  visit("retries", fetched.retries);
  visit("not_kept", fetched.not_kept);
  visit("waited_s", fetched.waited_s);
  visit("connections", fetched.connections);
  visit("busy_connections", fetched.busy_connections);
  visit("full_share", fetched.full_share);
  visit("bytes_per_s", fetched.bytes_per_s);
  visit("connection_bytes_per_s", fetched.connection_bytes_per_s);
}

template <MaybeConst<TuneTrial> T>
void for_each_field(T& step, const auto& visit) {
  visit("setting", step.setting);
  visit("from", step.from);
  visit("to", step.to);
  visit("before_samples_per_s", step.before_samples_per_s);
  visit("after_samples_per_s", step.after_samples_per_s);
  visit("kept", step.kept);
  visit("why", step.why);
}

template <MaybeConst<TuneReport> T>
void for_each_field(T& tuning, const auto& visit) {
  visit("done", tuning.done);
  visit("end", tuning.end);
  visit("batches", tuning.batches);
  visit("samples", tuning.samples);
  visit("seconds", tuning.seconds);
  visit("threads", tuning.threads);
  visit("depth", tuning.depth);
  visit("max_reorder_bytes", tuning.max_reorder_bytes);
  visit("max_block_bytes", tuning.max_block_bytes);
  visit("trials", tuning.trials);
}

template <MaybeConst<Report> T>
void for_each_field(T& report, const auto& visit) {
  visit("bound", report.bound);
  visit("verdict", report.verdict);
  visit("besides", report.besides);
  visit("lately", report.lately);
  visit("batches", report.batches);
  visit("samples", report.samples);
  visit("bytes", report.bytes);
  visit("copied_bytes", report.copied_bytes);
  visit("errors", report.errors);
  visit("seconds", report.seconds);
  visit("first_batch_s", report.first_batch_s);
  visit("samples_per_s", report.samples_per_s);
  visit("limit_samples_per_s", report.limit_samples_per_s);
  visit("limit_chains", report.limit_chains);
  visit("cpu_s_per_1000", report.cpu_s_per_1000);
  visit("device", report.device);
  visit("sink", report.sink);
  visit("commit_share", report.commit_share);
  visit("threads", report.threads);
  visit("threads_wanted", report.threads_wanted);
  visit("threads_seen", report.threads_seen);
  visit("cores", report.cores);
  visit("core_quota", report.core_quota);
  visit("next_p50_s", report.next_p50_s);
  visit("next_p99_s", report.next_p99_s);
  visit("consumer_wait_share", report.consumer_wait_share);
  visit("runner_idle_share", report.runner_idle_share);
  visit("runner_wait_share", report.runner_wait_share);
  visit("sample_p50_s", report.sample_p50_s);
  visit("sample_p99_s", report.sample_p99_s);
  visit("runner_delay_share", report.runner_delay_share);
  visit("caller_delay_share", report.caller_delay_share);
  visit("own_core_share", report.own_core_share);
  visit("other_core_share", report.other_core_share);
  visit("batch_allocations", report.batch_allocations);
  visit("block_decodes", report.block_decodes);
  visit("block_uses", report.block_uses);
  visit("block_decodes_saved", report.block_decodes_saved);
  visit("block_decodes_again", report.block_decodes_again);
  visit("idle", report.idle);
  visit("waits", report.waits);
  visit("wait_looks", report.wait_looks);
  visit("stages", report.stages);
  visit("fetched", report.fetched);
  visit("memory", report.memory);
  visit("devices", report.devices);
  visit("sending", report.sending);
  visit("files", report.files);
  visit("tuning", report.tuning);
  visit("notes", report.notes);
}

}  // namespace penstock::detail::runtime
