#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/emulated_gpu.hpp>

namespace penstock::detail {

/// Finds accesses to the same memory, one of them a write, that no event orders, whatever order they happened to run
/// in: a vector clock for the host and for each stream (Lamport; Mattern 1989). All threads of the host count as one,
/// as they order themselves by other means. One thread at a time.
class HappensBefore {
 public:
  /// How much of each actor's doing is known to be over.
  using Clock = std::vector<std::uint64_t>;
  using Actor = std::size_t;
  static constexpr Actor host = 0;

  HappensBefore();
  Actor add_stream(std::string name);
  /// Ended, after all that was on it: another one may get its number.
  void remove_stream(Actor stream) noexcept;
  /// Something is put on a stream: what the host has done so far comes before it.
  void enqueue(Actor stream);
  const Clock& now(Actor actor) const { return actors_[actor].clock; }
  /// What `actor` does from now on comes after `event`.
  void wait(Actor actor, const Clock& event);
  /// The actor's present operation uses this memory.
  void use(Actor actor, const MemoryUse& memory, std::string_view operation);
  /// The host does something of its own.
  void host_use(const MemoryUse& memory);
  /// The memory is given back.
  void forget(const void* data, std::size_t bytes);
  void find(std::string finding);
  /// One line each, without repetition.
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
  std::vector<Use> uses_;  // uses that a later one may still clash with
  std::vector<std::string> findings_;
};

}  // namespace penstock::detail
