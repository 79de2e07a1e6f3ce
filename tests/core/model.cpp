// Batches.
#include "model.hpp"

#include <algorithm>

#include "model_parts.hpp"

namespace model {

u64 size_of(const Spec& spec) { return spec.stream ? ~u64{0} : order(spec, keyed(spec), spec.stages.size(), 0).size(); }

bool settled(const Spec& spec) {
  return spec.stream || spec.policy == Policy::drop || std::ranges::any_of(spec.stages, [](const Stage& s) {
           return s.kind == Kind::filter || s.kind == Kind::filter_field || s.kind == Kind::flat_map;
         });
}

std::vector<Event> run(const Spec& spec, u64 epochs, u64& acted) {
  const std::vector<Keyed> stages = keyed(spec);
  std::vector<Event> events;
  const Row zeros = zero_row(spec);
  acted = 0;
  for (u64 epoch = 0; epoch < epochs; ++epoch) {
    const std::vector<u64> positions = order(spec, stages, stages.size(), epoch);
    // Where it is known beforehand which batch is incomplete and unwanted, it is not even read.
    u64 wanted = positions.size();
    if (!settled(spec) && spec.tail == Tail::drop) wanted = wanted / spec.rows * spec.rows;
    Event event;
    event.epoch = epoch;
    std::vector<Row> rows;
    u64 acted_now = acted;
    bool ended = false;
    const auto fails = [&](const Failure& f) {
      events.push_back({true, epoch, event.number, {}, {}, {}, f.code, f.stage, f.cause, f.index});
      ended = true;
    };
    const auto deliver = [&] {
      acted = acted_now;
      if (spec.tail == Tail::pad) {
        rows.resize(spec.rows, zeros);
        event.indices.resize(spec.rows, ~u64{0});
        event.mask.resize(spec.rows, 0);
      }
      for (std::size_t f = 0; f < zeros.size(); ++f)
        for (const Row& row : rows) event.bytes.insert(event.bytes.end(), row[f].begin(), row[f].end());
      rows.clear();
      const u64 next = event.number + 1;
      events.push_back(std::move(event));
      event = {};
      event.epoch = epoch;
      event.number = next;
    };
    for (u64 p = 0; p < wanted && !ended; ++p) {
      const u64 position = spec.stream ? positions[p] : p;
      for (const Item& item : items(spec, stages, {epoch, position, 0, 0}, positions[p], positions)) {
        if (!item.bad.empty() && ++acted_now > spec.max_count)
          fails({"quota_exceeded", item.bad[0].stage, "", item.bad[0].index, true});
        else if (!item.fatal.empty())
          fails(item.fatal[0]);
        if (ended) break;
        if (!item.kept) continue;
        rows.push_back(item.masked ? zeros : item.row);
        event.indices.push_back(item.index);
        event.mask.push_back(item.masked ? 0 : 1);
        if (rows.size() == spec.rows) deliver();
      }
    }
    if (!ended && !rows.empty() && spec.tail != Tail::drop) deliver();
    if (!ended) acted = acted_now;
  }
  return events;
}

}  // namespace model
