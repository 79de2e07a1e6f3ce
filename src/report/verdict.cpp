#include "report/verdict.hpp"

#include <algorithm>
#include <cmath>

#include "base/core_time.hpp"
#include "base/cores.hpp"
#include "base/number_text.hpp"
#include "order/block_shuffle.hpp"
#include "pipeline/pipeline_data.hpp"

namespace penstock::detail {

namespace {

// How often a step ran: with each sample, once for all that share a record, or with each record of a stream.
struct StepRuns {
  std::uint64_t all, measured_for;
  double each() const noexcept {
    return static_cast<double>(all) / static_cast<double>(std::max<std::uint64_t>(measured_for, 1));
  }
};
StepRuns runs_of(const Chain& chain, const RunTotals& t, std::size_t step) {
  if (step >= chain.children_begin()) return {t.samples, t.stood_for};
  if (step == 0 && chain.data().source->is_stream()) return {t.reads, t.reads_stood_for};
  return {t.parents, t.parents_stood_for};
}

// A quota is less than the cores it may be used on: what others have of those takes nothing from it.
void limit_cores(Report& r, const std::optional<CoreShares>& shares) {
  if (r.core_quota >= r.cores) r.core_quota = 0;
  if (shares) r.own_core_share = shares->own;
  if (r.core_quota == 0) {
    if (shares) r.other_core_share = shares->others;
    return;
  }
  if (shares) r.own_core_share = std::min(1.0, shares->own * r.cores / r.core_quota);
  r.notes.push_back("a quota leaves this process " + shortest(r.core_quota) + " of the time of the " +
                    std::to_string(r.cores) + " cores it may use");
  r.cores = static_cast<unsigned>(std::ceil(r.core_quota));
}

// Why nothing comes, or nothing of worth.
void note_what_is_missing(Report& r, const DeliveryCounters& c, const PipelineData& data) {
  if (c.beyond_epochs != 0)
    r.notes.push_back("an epoch after the last one was asked for: nothing comes after `epochs = " +
                      std::to_string(c.beyond_epochs) + "`");
  if (c.empty_epochs != 0)
    r.notes.push_back(std::to_string(c.empty_epochs) + (c.empty_epochs == 1 ? " epoch" : " epochs") +
                      " ended without a batch: no sample was left" +
                      (data.batch->options.tail == Tail::drop
                           ? ", or fewer than the " + std::to_string(data.batch->rows) +
                                 " rows of a batch, which Tail::drop leaves out"
                           : ""));
  if (data.policy_value().policy == OnError::mask && c.samples != 0 && c.acted >= c.samples)
    r.notes.push_back("all " + std::to_string(c.samples) +
                      " samples so far were bad: their rows are zeros with mask 0, and there is nothing to learn from");
}

bool shuffles_blocks(const OrderModel& order) { return dynamic_cast<const OrderOf<BlockShuffle>*>(&order) != nullptr; }

// How often blocks were decoded, and what would make it less.
std::string block_note(const BlockSchedule::Counts& blocks, const PipelineData& data) {
  const std::string decoded =
      std::to_string(blocks.loads) + " blocks were decoded for " + std::to_string(blocks.uses) + " uses";
  if (blocks.again == 0) return decoded + ", none of them twice in an epoch";
  std::string text = decoded + ", about " + std::to_string(blocks.again) +
                     " of them not for the first time in their epoch; `max_block_bytes` keeps more of them";
  bool by_blocks = false, shuffled = false;
  for (const BoundOrder& order : data.orders) {
    by_blocks = by_blocks || shuffles_blocks(*order.model);
    shuffled = shuffled || order.model->name() == "shuffle";
  }
  if (by_blocks) return text + ", and fewer `.window_blocks` ask for fewer at a time";
  return text + (shuffled ? ", and `shuffle({.blocks = true})` asks for fewer at a time" : "");
}

}  // namespace

Report make_report(const Engine& engine, const DeliveryCounters& c) {
  Report r;
  const RunTotals t = engine.totals();
  r.cores = usable_cores();
  r.core_quota = core_quota();
  r.batches = c.batches;
  r.samples = c.samples;
  r.errors = c.acted;
  r.copied_bytes = t.copied_bytes;
  r.threads = engine.setup().plan.threads;
  r.threads_seen = t.threads_seen;
  r.seconds = static_cast<double>(c.elapsed_ns) * 1e-9;
  r.first_batch_s = static_cast<double>(c.first_batch_ns) * 1e-9;
  r.next_p50_s = c.p50_s;
  r.next_p99_s = c.p99_s;
  r.bytes = c.bytes;

  // What filters leave out costs as well, so costs are told per sample that is kept.
  const double kept = static_cast<double>(std::max<std::uint64_t>(t.kept, 1));
  double cpu_us = 0, wait_ns = static_cast<double>(t.loads.wait_ns);
  for (const auto& s : t.steps) wait_ns += static_cast<double>(s.wait_ns);
  for (std::size_t i = 0; i < t.steps.size(); ++i) {
    const StepRuns runs = runs_of(engine.chain(), t, i);
    StageReport s;
    s.name = engine.chain().steps()[i]->label;
    s.samples = i < engine.chain().cache_step() ? runs.all - std::min(t.recalled, runs.all) : runs.all;
    s.bytes = static_cast<std::uint64_t>(static_cast<double>(t.steps[i].bytes) * runs.each());
    s.cpu_us_per_sample = static_cast<double>(t.steps[i].cpu_ns) * runs.each() / kept * 1e-3;
    s.wait_us_per_sample = static_cast<double>(t.steps[i].wait_ns) * runs.each() / kept * 1e-3;
    if (i == 0) {
      s.bytes += t.loads.bytes;
      s.cpu_us_per_sample += static_cast<double>(t.loads.cpu_ns) / kept * 1e-3;
      s.wait_us_per_sample += static_cast<double>(t.loads.wait_ns) / kept * 1e-3;
    }
    cpu_us += s.cpu_us_per_sample;
    r.stages.push_back(std::move(s));
  }
  for (StageReport& s : r.stages) s.share = cpu_us > 0 ? s.cpu_us_per_sample / cpu_us : 0;
  const double cpu_s_per_sample = cpu_us * 1e-6;
  r.cpu_s_per_1000 = cpu_s_per_sample * 1000;
  r.limit_chains = t.measured;
  if (t.measured != 0 && cpu_s_per_sample > 0) r.limit_samples_per_s = std::min(r.threads, r.cores) / cpu_s_per_sample;
  // A stream is read by one runner at a time, however many there are.
  if (engine.data().source->is_stream() && r.stages[0].cpu_us_per_sample > 0)
    r.limit_samples_per_s = std::min(r.limit_samples_per_s, 1e6 / r.stages[0].cpu_us_per_sample);
  if (t.wall_ns != 0) r.runner_wait_share = wait_ns / static_cast<double>(t.wall_ns);
  if (r.seconds > 0) {
    r.samples_per_s = static_cast<double>(r.samples) / r.seconds;
    r.consumer_wait_share = static_cast<double>(c.next_ns) * 1e-9 / r.seconds;
    r.runner_idle_share = std::clamp(1 - static_cast<double>(t.busy_ns) * 1e-9 / (r.seconds * r.threads), 0.0, 1.0);
  }
  if (t.delay_measured_ns != 0)
    r.runner_delay_share = static_cast<double>(t.delay_ns) / static_cast<double>(t.delay_measured_ns);
  r.caller_delay_share = c.caller_delay_share;
  limit_cores(r, c.cores);
  r.batch_allocations = engine.ring().allocations();
  r.memory = {{"batches", engine.ring().depth(), t.buffer_bytes}};
  if (t.entries != 0) r.memory.push_back({"samples that wait for those before them", t.entries, t.entry_bytes});
  if (t.blocks.loads != 0) r.memory.push_back({"blocks that records share", 1, t.blocks.peak_bytes});
  r.memory.push_back({"working memory of runners", r.threads, t.scratch_bytes});
  if (t.shared_records != 0)
    r.memory.push_back({"records that samples share", t.shared_records, t.shared_record_bytes});
  r.notes = engine.setup().plan.notes;
  for (std::string& note : engine.data().source->cache_notes()) r.notes.push_back(std::move(note));
  // A few where a runner was only being woken are not worth a word.
  if (t.helped * 20 > t.samples)
    r.notes.push_back("the caller made " + std::to_string(t.helped) + " of " + std::to_string(t.samples) +
                      " samples itself: while it waited, fewer runners got a thread than there are");
  if (t.joined * 20 > t.samples)
    r.notes.push_back(std::to_string(t.joined) + " of " + std::to_string(t.samples) +
                      " samples were made by the thread that waits for batches: they take so little time that it is "
                      "one of the runners meanwhile");
  if (!t.reader_error.empty())
    r.notes.push_back(std::to_string(t.readers) +
                      " readers do the work, one more could not be opened: " + t.reader_error);
  for (std::size_t i = 0; i < t.steps.size(); ++i)
    if (t.steps[i].remark != nullptr)
      r.notes.push_back(engine.chain().steps()[i]->label + ": " + std::to_string(t.steps[i].remarked) +
                        (t.steps[i].remarked == 1 ? " image " : " images ") + t.steps[i].remark);
  r.notes.insert(r.notes.end(), c.messages.begin(), c.messages.end());
  if (c.acted > c.messages.size()) r.notes.push_back(std::to_string(c.acted) + " bad samples in all");
  note_what_is_missing(r, c, engine.data());
  if (t.blocks.loads != 0) r.notes.push_back(block_note(t.blocks, engine.data()));
  judge(r, t.joined != 0);
  return r;
}

}  // namespace penstock::detail
