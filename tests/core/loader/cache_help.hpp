// SPDX-License-Identifier: Apache-2.0
// What the tests of caches share: records of every kind of field, and stages before a cache that count their calls.
#pragma once

#include "support/catch.hpp"

#include <cstring>
#include <string_view>

#include <penstock/extend/cache.hpp>

#include "core/reorder/reordered_help.hpp"

namespace help {

/// How often each record came by.
struct Calls {
  std::mutex mutex;
  std::map<std::uint64_t, std::uint64_t> of;

  void add(std::uint64_t record) {
    const std::lock_guard lock(mutex);
    ++of[record];
  }
  std::uint64_t total() {
    const std::lock_guard lock(mutex);
    std::uint64_t n = 0;
    for (const auto& [record, times] : of) n += times;
    return n;
  }
  std::uint64_t most() {
    const std::lock_guard lock(mutex);
    std::uint64_t n = 0;
    for (const auto& [record, times] : of) n = std::max(n, times);
    return n;
  }
  void clear() {
    const std::lock_guard lock(mutex);
    of.clear();
  }
};

/// A field of every dtype, of rows of any size (some of them empty), padded, and of none.
struct EveryKind {
  std::uint64_t count = 60;
  std::shared_ptr<Calls> reads = std::make_shared<Calls>();

  std::uint64_t size() const { return count; }
  ps::Schema schema() const {
    std::vector<ps::Field> fields;
    for (int d = 0; d <= static_cast<int>(ps::DType::boolean); ++d) {
      const auto dtype = static_cast<ps::DType>(d);
      fields.push_back({"all " + std::string(ps::to_string(dtype)), dtype, d % 2 == 0 ? ps::Shape{} : ps::Shape{3}});
    }
    fields.push_back({"y", ps::DType::i64, {}});
    fields.push_back({"none", ps::DType::f32, {2, 0}});
    fields.push_back({"rows", ps::DType::u16, {ps::dynamic, 3}, ps::Collate::ragged()});
    fields.push_back({"plane", ps::DType::u8, {ps::dynamic, ps::dynamic}, ps::Collate::ragged()});
    fields.push_back({"tokens", ps::DType::i32, {ps::dynamic}, ps::Collate::pad(0, 5)});
    return ps::Schema(std::move(fields));
  }
  std::string name() const { return "every kind"; }
  std::string key(std::uint64_t i) const { return "key-" + std::to_string(i); }
  std::uint64_t identity() const { return 77; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    reads->add(i);
    const ps::Schema& fields = out.schema();
    for (std::size_t slot = 0; slot < fields.size(); ++slot) {
      ps::Shape shape = fields[slot].shape;
      for (std::size_t axis = 0; axis < shape.rank(); ++axis)
        if (shape[axis] == ps::dynamic) shape[axis] = static_cast<std::int64_t>(mix(i * 31 + slot * 7 + axis) % 6);
      if (fields[slot].name == "y") {
        out.scalar<std::int64_t>(slot, static_cast<std::int64_t>(i));
        continue;
      }
      const ps::TensorView to = out.emplace(slot, shape);
      for (std::size_t b = 0; b < to.bytes(); ++b) {
        const std::uint64_t value = mix(i * 1000 + slot * 100 + b);
        to.data[b] = static_cast<std::byte>(fields[slot].dtype == ps::DType::boolean ? value % 2 : value);
      }
    }
  }
};

/// Adds "made", of the record's number and of as many elements as that says, and changes "y" by a fixed amount.
struct Make {
  std::shared_ptr<Calls> calls = std::make_shared<Calls>();
  std::int64_t by = 1000;
  std::uint64_t which = 1;
  std::string called = "make";
  std::function<void(std::uint64_t)> before = {};

  ps::Schema schema(const ps::Schema& in) const {
    return in.with({"made", ps::DType::u32, {ps::dynamic}, ps::Collate::ragged()});
  }
  std::string name() const { return called; }
  std::uint64_t version() const { return which; }
  void operator()(ps::Sample& sample, ps::Context& context) const {
    calls->add(context.index());
    if (before) before(context.index());
    const std::uint64_t i = context.index();
    std::uint64_t j = 0;
    for (std::uint32_t& v : sample.emplace<std::uint32_t, 1>("made", {static_cast<std::int64_t>(i % 5)}))
      v = static_cast<std::uint32_t>(mix(i * 10 + j++));
    sample.view<std::int64_t, 0>("y")() += by;
  }
};

/// Mixes the values of field x, and adds no field.
struct Mix {
  std::shared_ptr<Calls> calls = std::make_shared<Calls>();
  std::string called = "mix";

  std::string name() const { return called; }
  std::uint64_t version() const { return 3; }
  void operator()(ps::Sample& sample, ps::Context& context) const {
    calls->add(context.index());
    for (std::uint32_t& v : sample.view<std::uint32_t, 1>("x")) v = static_cast<std::uint32_t>(mix(v));
  }
};

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

inline std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// A loader of so many epochs, which reads nothing ahead of its last one.
inline std::vector<Got> epochs_of(const ps::Pipeline& p, std::uint64_t epochs, unsigned threads = 3) {
  ps::Loader loader(p, {.threads = threads, .epochs = epochs});
  return collect(loader, epochs);
}

inline constexpr std::size_t plenty = std::size_t{64} << 20;

}  // namespace help
