// SPDX-License-Identifier: Apache-2.0
// What the tests of reordered pipelines share.
#pragma once

#include "core/help.hpp"

namespace help {

inline ps::Stage even() {
  return ps::filter("y", [](ps::View<const std::int64_t, 0> y) { return y() % 2 == 0; });
}

// Each record becomes y % 4 samples; "part" tells them apart.
struct Parts {
  std::function<void(std::uint64_t, std::uint32_t)> before_child = {};
  std::uint32_t most = 4;
  ps::Schema schema(const ps::Schema& in) const { return in.with({"part", ps::DType::u32, {}}); }
  std::string name() const { return "parts"; }
  std::uint32_t count(const ps::Sample& parent, ps::Context&) const {
    return static_cast<std::uint32_t>(parent.scalar<std::int64_t>("y")) % most;
  }
  void child(const ps::Sample&, std::uint32_t number, ps::Sample& out, ps::Context& context) const {
    if (before_child) before_child(context.index(), number);
    out.emplace<std::uint32_t, 0>("part", {})() = number;
  }
};

// Counts up; without a second instance it can't be read twice at once.
struct Counting {
  std::uint64_t count = 10;
  std::shared_ptr<Records::Shared> shared = std::make_shared<Records::Shared>();
  // What belongs to each copy, as each loader reads its own.
  struct Inside {
    std::atomic<int> readers{0};
    Inside() = default;
    Inside(const Inside&) {}
    Inside& operator=(const Inside&) { return *this; }
  } inside = {};
  std::uint64_t at = 0;
  ps::Schema schema() const { return {{"y", ps::DType::i64, {}}}; }
  void reset(std::uint64_t) { at = 0; }
  bool next(ps::SampleBuilder& out) {
    if (inside.readers.fetch_add(1) != 0) throw ps::Error(ps::Errc::invalid_argument, "two at once");
    if (shared->before_read) shared->before_read(at);
    inside.readers.fetch_sub(1);
    if (at == count) return false;
    ++shared->reads;
    out.scalar<std::int64_t>("y", static_cast<std::int64_t>(at++));
    return true;
  }
};
struct Seeking : Counting {
  void seek(std::uint64_t record) { at = record; }
};
struct OnlyOne : Counting {
  OnlyOne() = default;
  OnlyOne(OnlyOne&&) = default;
  OnlyOne& operator=(OnlyOne&&) = default;
};

inline std::vector<std::uint64_t> indices_of(const std::vector<Got>& batches) {
  std::vector<std::uint64_t> out;
  for (const Got& b : batches) out.insert(out.end(), b.indices.begin(), b.indices.end());
  return out;
}

}  // namespace help
