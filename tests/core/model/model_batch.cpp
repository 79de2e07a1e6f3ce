// SPDX-License-Identifier: Apache-2.0
// Survivors into batches: any number of rows, of any size, in any order that the spec wants.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/model/model_parts.hpp"

namespace model {

namespace {

u64 unit(const Cell& cell) {
  return std::accumulate(cell.shape.begin() + 1, cell.shape.end(), u64{cell.element}, std::multiplies<>());
}

void add_number(std::vector<std::uint8_t>& out, u64 n, unsigned bytes) {
  for (unsigned b = 0; b < bytes; ++b) out.push_back(static_cast<std::uint8_t>(n >> (8 * b)));
}

void add_padding(std::vector<std::uint8_t>& out, const Cell& cell, double value, u64 bytes) {
  for (u64 i = 0; i < bytes / cell.element; ++i) {
    u64 bits = 0;
    if (cell.element == 8 && cell.name[0] == 'f')
      std::memcpy(&bits, &value, 8);
    else
      bits = static_cast<u64>(value);
    add_number(out, bits, cell.element);
  }
}

const Collate* how(const Spec& spec, const Cell& cell) {
  const auto found = spec.collates.find(cell.name);
  return found == spec.collates.end() ? nullptr : &found->second;
}

// What a field of some rows counts, and takes.
struct Sizes {
  u64 tokens = 0, bytes = 0;
};
Sizes sizes(const Spec& spec, const std::vector<const Row*>& rows) {
  Sizes out;
  for (std::size_t f = 0; !rows.empty() && f < rows[0]->size(); ++f) {
    const Collate* const c = how(spec, (*rows[0])[f]);
    u64 tokens = 0, bytes = 0, longest = 0;
    for (const Row* const row : rows) {
      const Cell& cell = (*row)[f];
      const u64 length = cell.shape.empty() ? 1 : cell.shape[0];
      longest = std::max(longest, length);
      tokens += c != nullptr && c->to != 0 ? c->to : length;
      bytes += c != nullptr && c->to != 0 ? c->to * unit(cell) : cell.bytes.size();
    }
    if (c != nullptr && c->pads && c->to == 0) {
      tokens = rows.size() * longest;
      bytes = tokens * unit((*rows[0])[f]);
    }
    if ((*rows[0])[f].name == spec.tokens) out.tokens = tokens;
    out.bytes += bytes;
  }
  return out;
}

}  // namespace

u64 fixed_bytes(const Spec& spec) {
  const Row zeros = zero_row(spec);
  return sizes(spec, {&zeros}).bytes;
}

bool by_size(const Spec& spec) {
  const auto free = [](const auto& c) { return c.second.to == 0; };
  return (spec.max_bytes != 0 && std::ranges::any_of(spec.collates, free)) ||
         (spec.max_tokens != 0 && spec.collates.contains(spec.tokens) && spec.collates.at(spec.tokens).to == 0);
}

u64 max_rows(const Spec& spec) {
  const Row zeros = zero_row(spec);
  const auto free = [](const auto& c) { return c.second.to == 0; };
  u64 rows = spec.rows;
  if (spec.max_bytes != 0 && !std::ranges::any_of(spec.collates, free))
    rows = std::min(rows, spec.max_bytes / sizes(spec, {&zeros}).bytes);
  for (const Cell& cell : zeros)
    if (cell.name == spec.tokens && (how(spec, cell) == nullptr || how(spec, cell)->to != 0))
      rows = std::min(rows, spec.max_tokens / sizes(spec, {&zeros}).tokens);
  return rows;
}

bool fits(const Spec& spec, const std::vector<const Row*>& rows) {
  const Sizes s = sizes(spec, rows);
  return (spec.max_tokens == 0 || s.tokens <= spec.max_tokens) && (spec.max_bytes == 0 || s.bytes <= spec.max_bytes);
}

void check_row(const Spec& spec, const Row& row, u64 index) {
  for (const Cell& cell : row) {
    const Collate* const c = how(spec, cell);
    if (c != nullptr && c->pads && c->to != 0 && cell.shape[0] > c->to)
      throw Failure{"limit_exceeded", "pad(" + cell.name + ")", "too long", index, false};
  }
  if (!fits(spec, {&row})) throw Failure{"limit_exceeded", "batch", "too large", index, false};
}

Batcher::Batcher(const Spec& spec, u64 rows, u64 window)
    : spec_(spec), zeros_(zero_row(spec)), rows_(rows), window_(window) {}

void Batcher::begin(u64 epoch, Cursor at) {
  epoch_ = epoch;
  number_ = 0;
  open_.clear();
  dropped_good_ = false;
  begin_ = after_ = at;
}

std::vector<Event> Batcher::make_room(const Row& row, bool masked) {
  if (!spec_.bucket.empty() || open_.empty()) return {};
  std::vector<const Row*> rows{masked ? &zeros_ : &row};
  for (const Survivor& s : open_) rows.push_back(&s.row);
  if (fits(spec_, rows)) return {};
  std::vector<Event> out{batch(open_, rows_)};
  open_.clear();
  return out;
}

std::vector<Event> Batcher::add(const Row& row, u64 index, bool masked, Cursor after, const Place& place) {
  std::vector<Event> out;
  open_.push_back({masked ? zeros_ : row, index, masked, place});
  after_ = after;
  if (!spec_.bucket.empty()) {
    if (open_.size() == window_) out = window(false);
  } else if (open_.size() == rows_) {
    out.push_back(batch(open_, rows_));
    open_.clear();
  }
  return out;
}

std::vector<Event> Batcher::cut(u64 rows) {
  std::vector<Event> out{batch(open_, rows)};
  open_.clear();
  return out;
}

std::vector<Event> Batcher::end() {
  if (!spec_.bucket.empty()) return window(true);
  if (spec_.tail == Tail::drop) dropped_good_ = std::ranges::any_of(open_, is_good);
  if (open_.empty() || spec_.tail == Tail::drop) return {};
  return {batch(open_, rows_)};
}

u64 Batcher::length(const Survivor& s) const {
  if (s.masked) return 0;
  const Cell& cell = *std::ranges::find(s.row, spec_.bucket, &Cell::name);
  if (!cell.shape.empty()) return cell.shape[0];
  u64 value = 0;
  std::memcpy(&value, cell.bytes.data(), cell.bytes.size());
  return value;
}

std::vector<Event> Batcher::window(bool last) {
  const bool bounded = by_size(spec_);
  std::vector<std::vector<Survivor>> batches;
  std::vector<Survivor> rest;
  if (!bounded) {
    const auto whole = static_cast<std::ptrdiff_t>(open_.size() - open_.size() % rows_);
    rest.assign(open_.begin() + whole, open_.end());
    open_.resize(static_cast<std::size_t>(whole));
  }
  std::ranges::stable_sort(open_, {}, [this](const Survivor& s) { return length(s); });
  for (Survivor& s : open_) {
    bool opens = batches.empty() || batches.back().size() == rows_;
    if (!opens && bounded) {
      std::vector<const Row*> rows{&s.row};
      for (const Survivor& other : batches.back()) rows.push_back(&other.row);
      opens = !fits(spec_, rows);
    }
    if (opens) batches.emplace_back();
    batches.back().push_back(std::move(s));
  }
  open_.clear();
  Draws draws(spec_.seed, 0x6275636b6574, {epoch_, begin_.position, begin_.child, 0});
  for (u64 i = batches.size(); i > 1; --i) std::swap(batches[i - 1], batches[draws.below(i)]);
  // What a window with batches drops is not judged: its counts are those of the first of these batches.
  if (last && spec_.tail == Tail::drop && batches.empty()) dropped_good_ = std::ranges::any_of(rest, is_good);
  if (last && !rest.empty() && spec_.tail != Tail::drop) batches.push_back(std::move(rest));
  begin_ = after_;
  std::vector<Event> out;
  for (const auto& rows : batches) out.push_back(batch(rows, rows_));
  return out;
}

Event Batcher::batch(const std::vector<Survivor>& survivors, u64 padded_to) {
  Event event;
  event.epoch = epoch_;
  event.number = number_++;
  std::vector<MappedRow> mapped;
  for (const Survivor& s : survivors) {
    mapped.push_back({s.row, s.place, !s.masked});
    event.indices.push_back(s.index);
    event.mask.push_back(s.masked ? 0 : 1);
  }
  while (spec_.tail == Tail::pad && mapped.size() < padded_to) {
    mapped.push_back({zeros_, {}, false});
    event.indices.push_back(~u64{0});
    event.mask.push_back(0);
  }
  map_rows(spec_, event, mapped, zeros_);
  if (event.failed) {
    event.indices.clear();
    event.mask.clear();
    return event;
  }
  std::vector<const Row*> rows;
  for (const MappedRow& row : mapped) rows.push_back(&row.cells);
  for (std::size_t f = 0; !rows.empty() && f < rows[0]->size(); ++f) {
    const Collate* const c = how(spec_, (*rows[0])[f]);
    std::vector<std::uint8_t>& out = event.bytes;
    u64 longest = c != nullptr ? c->to : 0;
    if (c != nullptr && !c->pads)
      for (const Row* const row : rows)
        for (const u64 dim : (*row)[f].shape) add_number(out, dim, 8);
    if (c != nullptr && longest == 0)
      for (const Row* const row : rows) longest = std::max(longest, (*row)[f].shape[0]);
    for (const Row* const row : rows) {
      const Cell& cell = (*row)[f];
      out.insert(out.end(), cell.bytes.begin(), cell.bytes.end());
      if (c != nullptr && c->pads) add_padding(out, cell, c->value, longest * unit(cell) - cell.bytes.size());
    }
    if (c != nullptr)
      for (const Row* const row : rows) add_number(out, (*row)[f].shape[0], 8);
  }
  return event;
}

}  // namespace model
