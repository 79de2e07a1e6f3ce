// SPDX-License-Identifier: Apache-2.0
#include "report/run_notes.hpp"

#include <cmath>

#include "order/block_shuffle.hpp"
#include "pipeline/nested_branches.hpp"
#include "pipeline/pipeline_data.hpp"

namespace penstock::detail::runtime {

namespace {

using Notes = std::vector<std::string>;

// Notes how many samples the caller's thread made because no runner came, and how many it made as one of the runners.
// Notes each number only if it is more than 5 % of all samples. Also notes why a reader could not be opened.
void note_makers(Notes& notes, const RunTotals& t) {
  if (t.helped * 20 > t.samples.all)
    notes.push_back("the caller made " + std::to_string(t.helped) + " of " + std::to_string(t.samples.all) +
                    " samples itself: while it waited, fewer runners got a thread than there are");
  if (t.joined * 20 > t.samples.all)
    notes.push_back(std::to_string(t.joined) + " of " + std::to_string(t.samples.all) +
                    " samples were made by the thread that waits for batches: they take so little time that it is "
                    "one of the runners meanwhile");
  if (!t.reader_error.empty())
    notes.push_back(std::to_string(t.readers) +
                    " readers do the work, one more could not be opened: " + t.reader_error);
}

void note_remarks(Notes& notes, const Chain& chain, const RunTotals& t) {
  const std::vector<const Step*> steps = chain.all_steps();
  for (std::size_t i = 0; i < t.steps.size(); ++i)
    if (t.steps[i].remark != nullptr)
      notes.push_back(steps[i]->remarks_label() + ": " + std::to_string(t.steps[i].remarked) +
                      (t.steps[i].remarked == 1 ? " image " : " images ") + t.steps[i].remark);
}

void note_bad_samples(Notes& notes, const DeliveryCounters& c) {
  notes.insert(notes.end(), c.messages.begin(), c.messages.end());
  if (c.acted > c.messages.size()) notes.push_back(std::to_string(c.acted) + " bad samples in all");
}

// Notes why an epoch had no batch, or that all samples so far were bad.
void note_what_is_missing(Notes& notes, const DeliveryCounters& c, const PipelineData& data) {
  if (c.beyond_epochs != 0)
    notes.push_back("an epoch after the last one was asked for: nothing comes after `epochs = " +
                    std::to_string(c.beyond_epochs) + "`");
  if (c.empty_epochs != 0)
    notes.push_back(std::to_string(c.empty_epochs) + (c.empty_epochs == 1 ? " epoch" : " epochs") +
                    " ended without a batch: no sample was left" +
                    (data.batch->options.tail == Tail::drop
                         ? ", or fewer than the " + std::to_string(data.batch->rows) +
                               " rows of a batch, which Tail::drop leaves out"
                         : ""));
  if (data.policy_value().policy == OnError::mask && c.samples != 0 && c.acted - c.acted_before >= c.samples)
    notes.push_back("all " + std::to_string(c.samples) +
                    " samples so far were bad: their rows are zeros with mask 0, and there is nothing to learn from");
}

bool shuffles_blocks(const OrderModel& order) { return dynamic_cast<const OrderOf<BlockShuffle>*>(&order) != nullptr; }

// Describes what twice the `max_block_bytes` would save.
std::string saving(const BlockSchedule::Counts& blocks, double cpu_share) {
  const auto percent = [](double share) { return std::to_string(std::lround(100 * share)) + " %"; };
  const double share = static_cast<double>(blocks.saved_by_double) / static_cast<double>(blocks.loads);
  if (share < 0.05) return "`max_block_bytes` keeps more of them, but twice as much of it saves hardly any load";
  return "twice the `max_block_bytes` would save about " + percent(share) + " of the loads" +
         (cpu_share * share >= 0.01 ? ", and with them " + percent(cpu_share * share) + " of the stages' CPU time"
                                    : "");
}

// Describes how often blocks were decoded, and how to decode them less often.
std::string block_note(const BlockSchedule::Counts& blocks, const PipelineData& data, double cpu_share) {
  const std::string loaded =
      std::to_string(blocks.loads) + " blocks were loaded for " + std::to_string(blocks.uses) + " uses";
  if (blocks.again == 0) return loaded + ", none of them twice in an epoch";
  std::string text = loaded + ", about " + std::to_string(blocks.again) +
                     " of them not for the first time in their epoch; " + saving(blocks, cpu_share);
  bool by_blocks = false, shuffled = false;
  for (const BoundOrder& order : data.orders) {
    by_blocks = by_blocks || shuffles_blocks(*order.model);
    shuffled = shuffled || order.model->name() == "shuffle";
  }
  if (by_blocks) return text + ", and fewer `.window_blocks` ask for fewer at a time";
  return text + (shuffled ? ", and `shuffle({.blocks = true})` asks for fewer at a time" : "");
}

}  // namespace

std::vector<std::string> run_notes(const Engine& engine, const RunTotals& t, const DeliveryCounters& c,
                                   double share_of_loads) {
  const PipelineData& data = engine.data();
  Notes notes = engine.setup().plan.notes;
  for (std::string& note : data.source->cache_notes()) notes.push_back(std::move(note));
  for_each_nested_branch(*data.source, [&](const Branch& branch) {
    if (!branch.pipeline->cache) return;
    for (const std::string& note : branch.pipeline->source->cache_notes()) notes.push_back(branch.name + ": " + note);
  });
  note_makers(notes, t);
  note_remarks(notes, engine.chain(), t);
  note_bad_samples(notes, c);
  note_what_is_missing(notes, c, data);
  if (t.blocks.loads != 0) notes.push_back(block_note(t.blocks, data, share_of_loads));
  return notes;
}

}  // namespace penstock::detail::runtime
