// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/emulated_gpu.hpp>

namespace penstock::detail {

/// Finds pairs of accesses to the same memory that no event orders, if at least one of the two is a write. Finds them
/// even if they happened to run in the right order. Keeps a vector clock for each actor (Lamport; Mattern 1989). The
/// actors are the host and each stream. All threads of the host are one actor, because they order their accesses by
/// other means. One thread at a time uses a RaceDetector.
class RaceDetector {
 public:
  /// For each actor, how many of its operations are known to be done.
  using Clock = std::vector<std::uint64_t>;
  using Actor = std::size_t;
  static constexpr Actor host = 0;

  RaceDetector();
  Actor add_stream(std::string name);
  /// Removes a stream after all its work is done. Its number may be used again.
  void remove_stream(Actor stream) noexcept;
  /// Records that work is put on a stream. Everything that the host has done so far comes before this work.
  void enqueue(Actor stream);
  const Clock& now(Actor actor) const { return actors_[actor].clock; }
  /// Records that everything that `actor` does after this call comes after `event`.
  void wait(Actor actor, const Clock& event);
  /// Records that the actor's current operation uses this memory.
  void use(Actor actor, const MemoryUse& memory, std::string_view operation);
  /// Records that the host itself uses this memory.
  void host_use(const MemoryUse& memory);
  /// Forgets all uses of memory that is freed.
  void forget(const void* data, std::size_t bytes);
  void find(std::string finding);
  /// Returns the findings, one line each, without repetition.
  const std::vector<std::string>& findings() const noexcept { return findings_; }

 private:
  struct Known {
    std::string name;
    Clock clock;
  };
  struct Use {
    std::uintptr_t begin, end;
    bool writes;
    Actor actor;
    std::uint64_t time;
    std::string operation;
  };
  static void join(Clock& into, const Clock& other);
  bool ordered(const Use& before, Actor actor) const;

  std::vector<Known> actors_;
  std::vector<Actor> ended_;
  std::vector<Use> uses_;  // uses that a later use may still clash with
  std::vector<std::string> findings_;
};

}  // namespace penstock::detail
