// SPDX-License-Identifier: Apache-2.0
// Functions on whole batches, and a stage that mixes neighbouring rows.
#include <algorithm>
#include <cstring>

#include "core/model/model_parts.hpp"

namespace model {

namespace {

void add_word(Cell& cell, u64 at, std::uint32_t word) { std::memcpy(cell.bytes.data() + 4 * at, &word, 4); }

void run_map(const Spec& spec, const BatchMap& map, u64 key, std::vector<MappedRow>& rows) {
  if (map.adds)
    for (MappedRow& row : rows) row.cells.push_back({map.added(), std::vector<std::uint8_t>(8), {2}, 4});
  const auto valid = static_cast<std::uint32_t>(std::ranges::count(rows, true, &MappedRow::valid));
  if (valid == 0) return;
  Place of_batch = rows[0].place;
  of_batch.attempt = ~std::uint32_t{0};  // no sample has this
  const std::uint32_t drawn = Draws(spec.seed, key, of_batch).word();
  const std::size_t fields = rows[0].cells.size() - (map.adds ? 1 : 0);
  // A sum of bytes is the same for a mirrored image, so image stages may stand before the function or after it.
  std::vector<std::uint32_t> sums(fields);
  for (const MappedRow& row : rows)
    for (std::size_t f = 0; f < fields && row.valid; ++f)
      for (const std::uint8_t byte : row.cells[f].bytes) sums[f] += byte;
  for (MappedRow& row : rows) {
    if (!row.valid) continue;
    const std::uint32_t of_row =
        Draws(spec.seed, key, {row.place.epoch, row.place.position, row.place.child, 0}).word();
    for (std::size_t f = 0; f < fields; ++f)
      for (std::uint8_t& byte : row.cells[f].bytes) byte = static_cast<std::uint8_t>(byte + sums[f] + drawn + of_row);
    if (!map.adds) continue;
    add_word(row.cells.back(), 0, drawn ^ of_row);
    add_word(row.cells.back(), 1, valid);
  }
}

void swap_labels(const Spec& spec, std::vector<MappedRow>& rows) {
  const u64 key = hash("swap", 0);
  for (std::size_t r = 0; r + 1 < rows.size(); r += 2) {
    if (!rows[r].valid || !rows[r + 1].valid || Draws(spec.seed, key, rows[r].place).word() % 2 == 0) continue;
    const auto b = [&](std::size_t row) { return std::ranges::find(rows[row].cells, "b", &Cell::name); };
    std::swap(b(r)->bytes, b(r + 1)->bytes);
  }
}

}  // namespace

void map_rows(const Spec& spec, Event& event, std::vector<MappedRow>& rows, const Row& zeros) {
  std::map<std::string, u64> before;
  for (const BatchMap& map : spec.maps) {
    const u64 key = hash(map.name, before[map.name]++);
    run_map(spec, map, key, rows);
    if (map.fails_at != (event.epoch + event.number) % 5 || std::ranges::none_of(rows, &MappedRow::valid)) continue;
    if (spec.policy != Policy::mask) {
      event.failed = true;
      event.code = "user";
      event.stage = map.name;
      event.cause = "batch " + std::to_string(event.number) + " of epoch " + std::to_string(event.epoch) + ": planted";
      event.index = event.indices[0];
      return;
    }
    for (std::size_t r = 0; r < rows.size(); ++r) {
      event.mask[r] = 0;
      rows[r].valid = false;
      std::copy(zeros.begin(), zeros.end(), rows[r].cells.begin());
      for (std::size_t f = zeros.size(); f < rows[r].cells.size(); ++f)
        std::ranges::fill(rows[r].cells[f].bytes, std::uint8_t{0});
    }
  }
  if (spec.swaps) swap_labels(spec, rows);
}

void add_maps(Spec& spec, u64 seed) {
  const u64 dice = mix(seed ^ 0x6d617073);
  if (dice % 100 >= 45) return;
  const u64 count = 1 + dice / 100 % 2;
  for (u64 i = 0; i < count; ++i) {
    const u64 of_map = mix(dice + i);
    BatchMap map{.name = of_map % 3 == 0 ? "blend" : "collate", .on_caller = of_map / 3 % 2 == 0, .number = i};
    map.adds = of_map / 6 % 2 == 0;
    if (of_map / 12 % 4 == 0) map.fails_at = of_map / 48 % 5;
    spec.maps.push_back(map);
  }
  if (spec.max_count != ~u64{0})
    for (BatchMap& map : spec.maps) map.fails_at = ~u64{0};
  const Row zeros = zero_row(spec);
  const bool longest =
      std::ranges::any_of(spec.collates, [](const auto& c) { return c.second.pads && c.second.to == 0; });
  spec.swaps = !longest && mix(dice) % 2 == 0 && std::ranges::find(zeros, "b", &Cell::name) != zeros.end();
}

}  // namespace model
