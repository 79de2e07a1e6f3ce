// SPDX-License-Identifier: Apache-2.0
#include "record.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <utility>

#include "promise_checks.hpp"

namespace penstock::testing {

namespace {

std::string hex(std::byte value) {
  constexpr char digits[] = "0123456789abcdef";
  const int v = std::to_integer<int>(value);
  return std::string("0x") + digits[v / 16] + digits[v % 16];
}

std::string failed(const Record& record) { return record.failure ? "failed: " + record.said : std::string("was made"); }

}  // namespace

std::string difference(const Schema& schema, const Record& a, const Record& b) {
  if (a.failure != b.failure) return "once it " + failed(a) + "; then it " + failed(b);
  if (a.failure) return {};
  for (std::size_t slot = 0; slot < a.values.size(); ++slot) {
    const Value &x = a.values[slot], &y = b.values[slot];
    const std::string field = "field \"" + schema[slot].name + "\" ";
    if (!(x.shape == y.shape)) return field + "has shape " + y.shape.to_string() + "; it had " + x.shape.to_string();
    const auto differs = std::mismatch(x.bytes.begin(), x.bytes.end(), y.bytes.begin(), y.bytes.end());
    if (differs.first == x.bytes.end() && differs.second == y.bytes.end()) continue;
    if (differs.first == x.bytes.end() || differs.second == y.bytes.end())
      return field + "has " + std::to_string(y.bytes.size()) + " bytes; it had " + std::to_string(x.bytes.size());
    const auto offset = static_cast<std::size_t>(differs.first - x.bytes.begin());
    std::string text =
        field + "byte " + std::to_string(offset) + " is " + hex(*differs.second) + "; it was " + hex(*differs.first);
    if (*differs.first == std::byte{0xa5} && *differs.second == std::byte{0x5a})
      text += ", which is what the memory held before: it was not written";
    return text;
  }
  return {};
}

std::byte* GuardedCells::scratch(std::size_t bytes) {
  ++made_;
  blocks_.emplace_back(bytes, preparation_.content);
  return blocks_.back().data();
}

std::byte* GuardedCells::promise_memory(std::size_t bytes) {
  blocks_.emplace_back(bytes, preparation_.content);
  return blocks_.back().data();
}

void GuardedCells::begin(const Preparation& preparation) {
  preparation_ = preparation;
  made_ = 0;
  blocks_.clear();
  cells.assign(schema->size(), {});
  if (!preparation.destinations) return;
  for (std::size_t slot = 0; slot < cells.size(); ++slot) give_destination(slot);
}

void GuardedCells::give_destination(std::size_t slot) {
  const Field& field = (*schema)[slot];
  if (!field.shape.fixed()) return;
  blocks_.emplace_back(static_cast<std::size_t>(field.shape.elements()) * size_of(field.dtype), preparation_.content);
  cells[slot].destination = blocks_.back().data();
}

void GuardedCells::set(std::size_t slot, const Value& value, bool owned) {
  penstock::detail::Cell& cell = cells[slot];
  static constexpr std::byte nothing{};
  cell.data = value.bytes.empty() ? &nothing : value.bytes.data();
  cell.shape = value.shape;
  cell.writable = owned;
  if (!owned) return;
  blocks_.emplace_back(value.bytes.size(), std::byte{});
  if (!value.bytes.empty()) std::memcpy(blocks_.back().data(), value.bytes.data(), value.bytes.size());
  cell.data = blocks_.back().data();
}

std::vector<StoreView> GuardedCells::views() const {
  std::vector<StoreView> views;
  for (std::size_t slot = 0; slot < cells.size(); ++slot)
    if (cells[slot].data != nullptr && !cells[slot].writable)
      views.push_back({slot, cells[slot].data,
                       static_cast<std::size_t>(cells[slot].shape.elements()) * size_of((*schema)[slot].dtype)});
  return views;
}

Record GuardedCells::copy() const {
  Record record;
  for (std::size_t slot = 0; slot < cells.size(); ++slot) {
    const std::size_t bytes = static_cast<std::size_t>(cells[slot].shape.elements()) * size_of((*schema)[slot].dtype);
    record.values.push_back({cells[slot].shape, std::vector<std::byte>(cells[slot].data, cells[slot].data + bytes)});
  }
  return record;
}

bool GuardedCells::check(Findings& findings, const std::string& who) const {
  for (const GuardedMemory& block : blocks_)
    if (!findings.check(block.intact(), "nothing is written outside of a value's memory", [&] {
          return who + ": bytes before or after a value of " + std::to_string(block.size()) + " bytes changed";
        }))
      return false;
  bool usable = true;
  for (std::size_t slot = 0; slot < cells.size(); ++slot) {
    const Field& field = (*schema)[slot];
    const penstock::detail::Cell& cell = cells[slot];
    usable = findings.check(cell.data != nullptr, "every field of the schema is given", [&] {
      return who + ": field \"" + field.name + "\" was not";
    }) && usable;
    if (cell.data == nullptr) continue;
    usable = findings.check(field.shape.admits(cell.shape) && cell.shape.fixed(), "values have the schema's shape",
                            [&] {
                              return who + ": field \"" + field.name + "\" has shape " + cell.shape.to_string() +
                                     "; the schema says " + field.shape.to_string();
                            }) &&
             usable;
    if (!usable) continue;
    findings.check(
        reinterpret_cast<std::uintptr_t>(cell.data) % size_of(field.dtype) == 0 || cell.shape.elements() == 0,
        "a value lies where its dtype can be read", [&] {
          return who + ": field \"" + field.name + "\" is a view at an address that is no multiple of " +
                 std::to_string(size_of(field.dtype));
        });
  }
  return usable;
}

Record make_record(GuardedCells& cells, Findings& findings, const std::string& who, const std::function<void()>& act,
                   const ImageDecoder* jpeg) {
  Record record;
  try {
    act();
    for (std::size_t slot = 0; slot < cells.cells.size(); ++slot) {
      if (cells.cells[slot].promise == nullptr) continue;
      // The promise has a pointer to EncodedImage, but an image that a source promises is always a PromisedImage.
      check_promise(static_cast<PromisedImage&>(*cells.cells[slot].promise->image), jpeg, findings, who);
      cells.value(slot);
    }
  } catch (const Error& error) {
    record.failure = error.code();
    record.said = error.what();
    record.sample_scoped = error.sample_scoped();
    return record;
  } catch (const std::exception& error) {
    record.failure = Errc::user;
    record.said = error.what();
    return record;
  } catch (...) {
    record.failure = Errc::user;
    record.said = "something that is no std::exception was thrown";
    return record;
  }
  if (cells.check(findings, who)) return cells.copy();
  record.failure = Errc::schema_mismatch;
  record.said = "what was made breaks the schema";
  return record;
}

std::vector<std::uint64_t> spread(std::uint64_t size, std::uint64_t most) {
  std::vector<std::uint64_t> indices;
  const std::uint64_t count = std::min(size, std::max<std::uint64_t>(most, 1));
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto at = count == size || count < 2
                        ? i
                        : static_cast<std::uint64_t>(static_cast<double>(size - 1) *
                                                     (static_cast<double>(i) / static_cast<double>(count - 1)));
    if (indices.empty() || indices.back() < at) indices.push_back(std::min(at, size - 1));
  }
  return indices;
}

}  // namespace penstock::testing
