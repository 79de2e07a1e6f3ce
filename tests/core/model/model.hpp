// SPDX-License-Identifier: Apache-2.0
// What a pipeline must bring, written down a second time: one thread, no buffers, no scratch, no header of the library.
// Everything it needs (Philox, the shuffle, splits, stages, policies, tails) is its own, from the specification.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace model {

using u64 = std::uint64_t;

enum class Kind {
  shuffle,
  take,
  skip,
  select,
  repeat,
  split,
  block_shuffle,
  draw_weighted,
  draw_balanced,
  in_place,
  new_field,
  whole,
  select_fields,
  crop,
  flip,
  turn,
  filter,
  filter_field,
  flat_map,
  vary,
  copy,
  boxes,
  count
};
inline const char* name_of(Kind kind) {
  static const char* const names[] = {"shuffle",
                                      "take",
                                      "skip",
                                      "select",
                                      "repeat",
                                      "split",
                                      "shuffle by blocks",
                                      "draw_weighted",
                                      "draw_balanced",
                                      "map in place",
                                      "map to a field",
                                      "map the sample",
                                      "select_fields",
                                      "random_crop",
                                      "random_flip",
                                      "random_turn",
                                      "filter the sample",
                                      "filter by a field",
                                      "flat_map",
                                      "map to a field of any length",
                                      "copy_field",
                                      "boxes on the image"};
  return names[static_cast<std::size_t>(kind)];
}

/// What a stage, or the source, throws for a record.
enum class Fault { corrupt, io, standard, number, fatal };

struct Stage {
  Kind kind{};
  u64 n = 0;              ///< take, skip, repeat, draws: how many; split: the part; crop: height; shuffle of a stream:
                          ///< its window; filter: percent that stay; flat_map: most children; vary: most elements
  u64 m = 0;              ///< split: salt; crop: width; whole and flat_map: new length of "a", 0 = as it was;
                          ///< vary: second dimension, 0 = none
  bool by_key = false;    ///< split
  bool drops = false;     ///< whole: "b" goes
  bool follows = false;   ///< crop, flip, turn: the boxes and the point follow the image
  bool masks = false;     ///< likewise, and "imgmask", too
  std::vector<u64> list;  ///< select; weights, or classes, of a draw
  std::vector<double> shares;      ///< split
  std::string name;                ///< of a map
  std::string field, out;          ///< of a map, a filter by a field, a flat_map's new field; crop: the field that says
                                   ///< what was cropped, or none
  std::vector<std::string> names;  ///< select_fields
  std::map<u64, Fault> faults;     ///< by source index
};

/// A function on whole batches.
struct BatchMap {
  std::string name;
  bool on_caller = false, adds = false;
  u64 number = 0;          ///< among those of the pipeline
  u64 fails_at = ~u64{0};  ///< throws in batches with (epoch + number) % 5 of this
  std::string added() const { return "added" + std::to_string(number); }
};

/// How the source is put together of several.
enum class Join { none, concat, interleave, zip };
enum class Tail { keep, drop, pad };
enum class Policy { fail, replace, mask, drop };

/// How a field is put together that is not dense.
struct Collate {
  bool pads = false;
  u64 to = 0;  ///< 0 = the longest row
  double value = 0;
};

/// A pipeline over records a: u32[width], b: i64[], img: u8[?, ?, 3]. A stage may add imgbox: f32[?, 5],
/// imgpoint: f32[3] and imgmask: u8[2, ?, ?].
struct Spec {
  u64 records = 0, width = 1, seed = 0;
  std::map<u64, Fault> faults;  ///< of reading
  std::vector<Stage> stages;
  u64 rows = 1;
  Tail tail{};
  Policy policy{};
  u64 max_count = ~u64{0};
  bool stream = false;  ///< the records come in order, one by one
  u64 per_block = 0;    ///< so many records lie in one block; 0 = they are read one by one
  Join join{};
  u64 parts = 1, turn = 1;  ///< of a join; records of one part before it is the next one's turn
  u64 in_parts = 0;         ///< so many of the stages stand in each part of the join
  bool selected = false;    ///< each part's source has the records backwards, and a select turns them round
  std::map<std::string, Collate> collates;
  std::string bucket;  ///< field; empty = none
  u64 window = 0;
  std::string tokens;  ///< field
  u64 max_tokens = 0, max_bytes = 0;
  std::vector<BatchMap> maps;  ///< directly after batch
  bool swaps = false;          ///< a device stage that swaps "b" of neighbouring rows by chance
};
/// Adds functions on batches to some specs.
void add_maps(Spec& spec, u64 seed);

/// The records, as the source has them.
inline u64 mix(u64 x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}
inline std::uint32_t a_of(u64 i, u64 j) { return static_cast<std::uint32_t>(mix(i * 7919 + j)); }
inline u64 height_of(u64 i) { return 4 + mix(i) % 4; }
inline u64 width_of(u64 i) { return 4 + mix(i + 1) % 5; }
inline std::uint8_t pixel_of(u64 i, u64 k) { return static_cast<std::uint8_t>(mix(i * 104729 + k) >> 5); }

/// A batch, or the failure that came in its place and ended the epoch.
struct Event {
  bool failed = false;
  u64 epoch = 0, number = 0;
  std::vector<u64> indices;
  std::vector<std::uint8_t> mask, bytes;
  std::string code, stage, cause;
  u64 index = 0;
  friend bool operator==(const Event&, const Event&) = default;
};

/// All samples of the epoch were bad: told after its batches.
inline Event lost_epoch(u64 epoch) { return {true, epoch, 0, {}, {}, {}, "quota_exceeded", "", "lost", ~u64{0}}; }
inline bool is_lost(const Event& event) { return event.failed && event.cause == "lost"; }

/// Which part each record is in.
std::vector<u64> parts_of(const Spec& spec);
/// Whether a stage inside the parts of a zip works on the images, which its second part has.
inline bool of_second_part(const Stage& s) { return s.field.starts_with("img"); }
/// Positions an epoch; ~0 for a stream.
u64 size_of(const Spec& spec);
/// What is a sample, and where it stands, is known only on the way.
bool reordered(const Spec& spec);
/// No batch can ever come of it, which a loader refuses.
bool never_comes(const Spec& spec);
/// Whether sizes of samples end batches.
bool by_size(const Spec& spec);
/// Bytes of a row in fields whose size is known before.
u64 fixed_bytes(const Spec& spec);
/// The most rows a batch may have, whatever is in them.
u64 max_rows(const Spec& spec);
/// Which of the processes that share each batch.
struct Rank {
  u64 number = 0, of = 1;
};
/// Epochs [0, epochs) as one rank sees them; more than one have no reordered pipeline. `acted`: how many of its samples
/// the policy acted on.
std::vector<Event> run(const Spec& spec, u64 epochs, u64& acted, Rank rank = {});
/// Events of a reordered pipeline: epochs of `steps` batches each, of one pass over the records after the other.
std::vector<Event> run_steps(const Spec& spec, u64 steps, u64 epochs, u64& acted, Rank rank);

}  // namespace model
