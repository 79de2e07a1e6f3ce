// SPDX-License-Identifier: Apache-2.0
// Epochs of a fixed number of batches.
#include "core/model/model.hpp"

#include <algorithm>
#include <optional>

#include "core/model/model_parts.hpp"

namespace model {

namespace {

// Where positions tell what stands in a batch: every rank has its part of each, whatever became of the others'.
std::vector<Event> run_whole_batches(const Spec& spec, u64 steps, u64 epochs, u64& acted, Rank rank) {
  const std::vector<Keyed> stages = keyed(spec);
  const u64 rows = max_rows(spec), size = size_of(spec);
  const Part part = part_of(rows, rank);
  Batcher batcher(spec, ~u64{0}, 0);
  std::vector<Event> events;
  std::vector<u64> positions;
  u64 epoch = 0, number = 0, pass = ~u64{0};
  acted = 0;
  for (u64 first = 0; epoch < epochs; first += rows) {
    u64 acted_now = acted;
    std::optional<Failure> failure;
    batcher.begin(epoch);
    for (u64 at = first + part.first; at < first + part.last && !failure; ++at) {
      if (pass != at / size) positions = order(spec, stages, stages.size(), pass = at / size);
      const Item item = items(spec, stages, {pass, at % size, 0, 0}, positions[at % size], positions).at(0);
      if (!item.bad.empty() && acted_now + 1 > spec.max_count)
        failure = Failure{"quota_exceeded", item.bad[0].stage, "", item.bad[0].index, true};
      else if (!item.fatal.empty())
        failure = item.fatal[0];
      acted_now += item.bad.empty() ? 0 : 1;
      if (!failure)
        (void)batcher.add(item.row, item.index, item.masked, {at + 1, 0}, {pass, at % size, 0, item.attempt});
    }
    if (failure) {
      events.push_back(
          {true, epoch++, number, {}, {}, {}, failure->code, failure->stage, failure->cause, failure->index});
      number = 0;
      continue;
    }
    acted = acted_now;
    for (Event& event : batcher.cut(part.last - part.first)) {
      event.epoch = epoch;
      event.number = number++;
      events.push_back(std::move(event));
    }
    if (number != steps) continue;
    if (is_lost(spec, events, epoch)) events.push_back(lost_epoch(epoch));
    ++epoch;
    number = 0;
  }
  return events;
}

}  // namespace

bool is_lost(const Spec& spec, const std::vector<Event>& events, u64 epoch) {
  u64 rows = 0;
  for (auto event = events.rbegin(); event != events.rend() && event->epoch == epoch && !event->failed; ++event) {
    if (std::ranges::find(event->mask, 1) != event->mask.end()) return false;
    rows += event->mask.size() - static_cast<u64>(std::ranges::count(event->indices, ~u64{0}));
  }
  return is_lost(spec) && rows != 0;
}

std::vector<Event> run_steps(const Spec& spec, u64 steps, u64 epochs, u64& acted, Rank rank) {
  if (!reordered(spec)) return run_whole_batches(spec, steps, epochs, acted, rank);
  const std::vector<Keyed> stages = keyed(spec);
  const Part part = part_of(max_rows(spec), rank);
  const u64 rows = part.last - part.first, size = size_of(spec);
  Batcher batcher(spec, rows, by_size(spec) ? spec.window : spec.window / max_rows(spec) * rows);
  std::vector<Event> events;
  u64 epoch = 0, number = 0, acted_now = 0, pass = ~u64{0};
  u64 survived = 0;  // after the last survivor
  std::vector<u64> positions;
  acted = 0;
  const auto deliver = [&](std::vector<Event> batches) {
    for (Event& event : batches) {
      if (epoch == epochs) return;
      acted = acted_now;
      event.epoch = epoch;
      event.number = number++;
      events.push_back(std::move(event));
      if (number != steps) continue;
      if (is_lost(spec, events, epoch)) events.push_back(lost_epoch(epoch));
      ++epoch;
      number = 0;
    }
  };
  const auto fails = [&](const Failure& f, Cursor after) {
    events.push_back({true, epoch++, number, {}, {}, {}, f.code, f.stage, f.cause, f.index});
    number = 0;
    acted_now = acted;
    survived = after.position;
    batcher.begin(0, after);
  };
  const auto ended = [&] { return epoch == epochs; };
  for (u64 at = rank.number; !ended(); at += rank.of) {
    if (pass != at / size) positions = order(spec, stages, stages.size(), pass = at / size);
    const std::vector<Item> made = items(spec, stages, {pass, at % size, 0, 0}, positions[at % size], positions);
    for (std::size_t i = 0; i < made.size() && !ended(); ++i) {
      const Item& item = made[i];
      const bool through = i + 1 == made.size();
      const Cursor after{through ? at + 1 : at, through ? 0 : static_cast<std::uint32_t>(i + 1)};
      if (!item.fatal.empty() || (!item.bad.empty() && acted_now + 1 > spec.max_count)) {
        if (!item.bad.empty() && acted_now + 1 > spec.max_count)
          fails({"quota_exceeded", item.bad[0].stage, "", item.bad[0].index, true}, after);
        else
          fails(item.fatal[0], after);
      } else if (!item.kept && after.position > survived + (8 * size + 1) * rank.of) {
        fails({"invalid_argument", "for_rank", "nothing was left", ~u64{0}, true}, after);
      } else {
        // The batch that this sample closes is not told of it.
        if (item.kept) survived = after.position;
        if (item.kept) deliver(batcher.make_room(item.row, item.masked));
        if (!item.bad.empty()) ++acted_now;
        if (item.kept && !ended())
          deliver(batcher.add(item.row, item.index, item.masked, after,
                              {pass, at % size, static_cast<std::uint32_t>(i), item.attempt}));
      }
    }
  }
  return events;
}

}  // namespace model
