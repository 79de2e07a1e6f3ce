// SPDX-License-Identifier: Apache-2.0
#include "race_detector.hpp"

#include <algorithm>
#include <utility>

namespace penstock::detail {

RaceDetector::RaceDetector() { actors_.push_back({"the host", {1}}); }

RaceDetector::Actor RaceDetector::add_stream(std::string name) {
  name = "stream \"" + std::move(name) + "\"";
  if (!ended_.empty()) {
    // The new stream continues the clock of a removed stream. The host has seen all work of the removed stream, so for
    // the other streams this clock is like a new one.
    const Actor again = ended_.back();
    ended_.pop_back();
    actors_[again].name = std::move(name);
    return again;
  }
  const Actor added = actors_.size();
  // Reserves room for `remove_stream`, which must not fail.
  ended_.reserve(added);
  actors_[host].clock.resize(added + 1);
  actors_.push_back({std::move(name), Clock(added + 1)});
  return added;
}

void RaceDetector::remove_stream(Actor stream) noexcept {
  wait(host, actors_[stream].clock);
  ended_.push_back(stream);
}

void RaceDetector::join(Clock& into, const Clock& other) {
  if (into.size() < other.size()) into.resize(other.size());
  for (std::size_t i = 0; i < other.size(); ++i) into[i] = std::max(into[i], other[i]);
}

void RaceDetector::enqueue(Actor stream) {
  Clock& clock = actors_[stream].clock;
  join(clock, actors_[host].clock);
  ++clock[stream];
}

void RaceDetector::wait(Actor actor, const Clock& event) { join(actors_[actor].clock, event); }

bool RaceDetector::ordered(const Use& before, Actor actor) const {
  const Clock& clock = actors_[actor].clock;
  return before.actor == actor || (before.actor < clock.size() && clock[before.actor] >= before.time);
}

void RaceDetector::use(Actor actor, const MemoryUse& memory, std::string_view operation) {
  if (memory.bytes == 0) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data), end = begin + memory.bytes;
  for (const Use& before : uses_) {
    if (before.end <= begin || end <= before.begin || (!before.writes && !memory.writes)) continue;
    if (!ordered(before, actor))
      find(actors_[actor].name + (memory.writes ? " writes" : " reads") + " (" + std::string(operation) + ") what " +
           actors_[before.actor].name + (before.writes ? " writes" : " reads") + " (" + before.operation +
           "), and no event orders them");
  }
  // For a write, drops the earlier uses of its bytes that are ordered before it. A later use that clashes with a
  // dropped use clashes with the write too. For a read, drops the same actor's earlier reads of its bytes.
  std::erase_if(uses_, [&](const Use& before) {
    if (before.begin < begin || before.end > end) return false;
    return memory.writes ? ordered(before, actor) : before.actor == actor && !before.writes;
  });
  uses_.push_back({begin, end, memory.writes, actor, actors_[actor].clock[actor], std::string(operation)});
}

void RaceDetector::host_use(const MemoryUse& memory) {
  ++actors_[host].clock[host];
  use(host, memory, "the program");
}

void RaceDetector::forget(const void* data, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(data), end = begin + bytes;
  std::erase_if(uses_, [&](const Use& use) { return begin <= use.begin && use.end <= end; });
}

void RaceDetector::find(std::string finding) {
  if (std::find(findings_.begin(), findings_.end(), finding) == findings_.end())
    findings_.push_back(std::move(finding));
}

}  // namespace penstock::detail
