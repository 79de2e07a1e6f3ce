// SPDX-License-Identifier: Apache-2.0
// Epochs.
#include "core/model/model.hpp"

#include <algorithm>
#include <optional>

#include "core/model/model_parts.hpp"

namespace model {

u64 size_of(const Spec& spec) { return spec.stream ? ~u64{0} : order(spec, keyed(spec), spec.stages.size(), 0).size(); }

bool reordered(const Spec& spec) {
  return spec.stream || spec.policy == Policy::drop || !spec.bucket.empty() || by_size(spec) ||
         std::ranges::any_of(spec.stages, [](const Stage& s) {
           return s.kind == Kind::filter || s.kind == Kind::filter_field || s.kind == Kind::flat_map;
         });
}

bool never_comes(const Spec& spec) {
  if (spec.stream) return false;
  const u64 size = size_of(spec);
  const bool more =
      by_size(spec) || std::ranges::any_of(spec.stages, [](const Stage& s) { return s.kind == Kind::flat_map; });
  return size == 0 || (spec.tail == Tail::drop && size < max_rows(spec) && !more);
}

Part part_of(u64 rows, Rank rank) {
  std::vector<u64> counts(rank.of);
  for (u64 i = 0; i < rows; ++i) ++counts[i % rank.of];
  Part part;
  for (u64 r = 0; r < rank.number; ++r) part.first += counts[r];
  part.last = part.first + counts[rank.number];
  return part;
}

std::vector<Event> run(const Spec& spec, u64 epochs, u64& acted, Rank rank) {
  const std::vector<Keyed> stages = keyed(spec);
  std::vector<Event> events;
  Batcher batcher(spec, rank.of > 1 ? ~u64{0} : max_rows(spec), spec.window);
  const u64 all_rows = max_rows(spec);
  const Part whole = part_of(all_rows, rank);
  const u64 rank_rows = whole.last - whole.first;
  acted = 0;
  for (u64 epoch = 0; epoch < epochs; ++epoch) {
    const std::vector<u64> positions = order(spec, stages, stages.size(), epoch);
    // Where it is known beforehand which batch is incomplete and unwanted, it is not even read.
    u64 wanted = positions.size();
    if (!reordered(spec) && spec.tail == Tail::drop) wanted = wanted / all_rows * all_rows;
    u64 acted_now = acted;
    bool ended = false, anything_good = false, anything_bad = false;
    batcher.begin(epoch);
    const auto fails = [&](const Failure& f) {
      events.push_back({true, epoch, batcher.number(), {}, {}, {}, f.code, f.stage, f.cause, f.index});
      ended = true;
    };
    // What is bad stands in the batch that is open when it is met; one that the next sample closes is not told of it.
    const auto deliver = [&](std::vector<Event> batches, u64 told) {
      if (!batches.empty()) acted = told;
      for (Event& event : batches) {
        if (ended) return;
        ended = event.failed;
        events.push_back(std::move(event));
      }
    };
    // Whether a rank of several has the row, and whether the row is the last of all ranks' batch.
    const auto has = [&](u64 p) {
      const u64 row = p % all_rows, all = std::min(all_rows, positions.size() - (p - row));
      const Part part = part_of(spec.tail == Tail::pad ? all_rows : all, rank);
      return row >= part.first && row < part.last;
    };
    const auto ends_batch = [&](u64 p) { return (p + 1) % all_rows == 0 || p + 1 == wanted; };
    for (u64 p = 0; p < wanted && !ended; ++p) {
      const u64 position = spec.stream ? positions[p] : p;
      if (rank.of > 1 && !has(p)) {
        if (ends_batch(p)) deliver(batcher.cut(rank_rows), acted_now);
        continue;
      }
      const std::vector<Item> made = items(spec, stages, {epoch, position, 0, 0}, positions[p], positions);
      for (std::size_t i = 0; i < made.size() && !ended; ++i) {
        const Item& item = made[i];
        const bool through = i + 1 == made.size();
        const Cursor after{through ? p + 1 : p, through ? 0 : static_cast<std::uint32_t>(i + 1)};
        if (!item.bad.empty() && acted_now + 1 > spec.max_count)
          fails({"quota_exceeded", item.bad[0].stage, "", item.bad[0].index, true});
        else if (!item.fatal.empty())
          fails(item.fatal[0]);
        if (ended) break;
        // Where whatever was made failed, that is an error.
        anything_good = anything_good || (item.kept && !item.masked);
        anything_bad = anything_bad || !item.bad.empty();
        if (item.kept) deliver(batcher.make_room(item.row, item.masked), acted_now);
        if (ended) break;
        if (!item.bad.empty()) ++acted_now;
        if (item.kept)
          deliver(batcher.add(item.row, item.index, item.masked, after,
                              {epoch, position, static_cast<std::uint32_t>(i), item.attempt}),
                  acted_now);
      }
      if (rank.of > 1 && !ended && ends_batch(p)) deliver(batcher.cut(rank_rows), acted_now);
    }
    if (!ended && rank.of == 1) deliver(batcher.end(), acted_now);
    const bool masked =
        spec.policy == Policy::mask && !spec.maps.empty() && !batcher.dropped_good() && is_lost(spec, events, epoch);
    if (!ended && ((anything_bad && !anything_good && is_lost(spec)) || masked)) {
      events.push_back(lost_epoch(epoch));
      ended = spec.policy == Policy::drop;
    }
    if (!ended) acted = acted_now;
  }
  return events;
}

}  // namespace model
