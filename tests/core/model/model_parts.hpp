// SPDX-License-Identifier: Apache-2.0
// What the files of the model share.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/model/model.hpp"

namespace model {

u64 hash(const std::string& text, u64 seed);
u64 hash(u64 a, u64 b);

struct Place {
  u64 epoch = 0, position = 0;
  std::uint32_t child = 0, attempt = 0;
};

/// The numbers of one stage at one place.
class Draws {
 public:
  Draws(u64 seed, u64 stage, const Place& place);
  std::uint32_t word();
  u64 two_words();
  double uniform();
  u64 below(u64 n);

 private:
  Place place_;
  std::uint32_t k0_ = 0, k1_ = 0;
  u64 next_ = 0;
};

std::vector<u64> permutation(u64 n, u64 key);

struct Keyed {
  const Stage* stage;
  u64 key;
  bool in_part = false;
};
/// Each stage's key hashes its name and how many of that name stand before it.
std::vector<Keyed> keyed(const Spec& spec);
/// An epoch as a list of source indices; of a stream, of the records that are there.
std::vector<u64> order(const Spec& spec, const std::vector<Keyed>& stages, std::size_t count, u64 epoch);

struct Failure {
  std::string code, stage, cause;
  u64 index;
  bool fatal;
};
Failure failure(Fault fault, std::string stage, u64 index);

/// Whether an epoch in which whatever was made failed is an error.
inline bool is_lost(const Spec& spec) { return spec.policy == Policy::drop || spec.policy == Policy::mask; }
/// Whether it is one that all rows of its batches, which are the last of `events`, are masked.
bool is_lost(const Spec& spec, const std::vector<Event>& events, u64 epoch);

/// A field of a row.
struct Cell {
  std::string name;
  std::vector<std::uint8_t> bytes;
  std::vector<u64> shape;
  unsigned element = 1;  ///< bytes of one
};
using Row = std::vector<Cell>;

/// What became of one sample.
struct Item {
  bool kept = true, masked = false;
  Row row;
  u64 index = 0;
  std::uint32_t attempt = 0;   ///< 0, or the number of the stand-in
  std::vector<Failure> bad;    ///< the one that the policy acts on
  std::vector<Failure> fatal;  ///< the one that ends the run
};
/// All samples of one position, in order. `positions`: of the epoch, for stand-ins.
std::vector<Item> items(const Spec& spec, const std::vector<Keyed>& stages, Place place, u64 index,
                        const std::vector<u64>& positions);
/// A row of zeros; nothing in fields that are not dense.
Row zero_row(Spec spec);

/// A row on its way through functions on batches. `place`: with the attempt that made it. `valid`: neither padding nor
/// masked.
struct MappedRow {
  Row cells;
  Place place;
  bool valid = false;
};
/// Runs the functions on a batch, of which `event` has everything but the bytes. `zeros`: a row of padding.
void map_rows(const Spec& spec, Event& event, std::vector<MappedRow>& rows, const Row& zeros);

struct Cursor {
  u64 position = 0;
  std::uint32_t child = 0;
};

/// Puts survivors together, as the spec wants it.
class Batcher {
 public:
  /// A batch is complete with so many rows, a window with so many survivors.
  Batcher(const Spec& spec, u64 rows, u64 window);
  /// Forgets what is open; batches are of this epoch from now on.
  void begin(u64 epoch, Cursor at = {});
  bool empty() const { return open_.empty(); }
  /// The batch that is complete because this survivor is too much for it.
  std::vector<Event> make_room(const Row& row, bool masked);
  /// One survivor, and what is after it. Returns the batches that are complete with it.
  std::vector<Event> add(const Row& row, u64 index, bool masked, Cursor after, const Place& place);
  /// What is open, as a batch, complete or not; padded to so many rows.
  std::vector<Event> cut(u64 rows);
  /// What is left.
  std::vector<Event> end();
  /// Whether `end` left out a good sample because it filled no batch.
  bool dropped_good() const { return dropped_good_; }
  /// Number of the next batch in its epoch.
  u64 number() const { return number_; }

 private:
  struct Survivor {
    Row row;
    u64 index;
    bool masked;
    Place place;
  };
  static bool is_good(const Survivor& s) { return !s.masked; }
  Event batch(const std::vector<Survivor>& rows, u64 padded_to);
  std::vector<Event> window(bool last);
  u64 length(const Survivor& s) const;

  const Spec& spec_;
  Row zeros_;
  u64 rows_, window_, epoch_ = 0, number_ = 0;
  std::vector<Survivor> open_;
  bool dropped_good_ = false;
  Cursor begin_, after_;
};
/// Rows [first, last) of `rows` that a rank has: dealt out one by one, then laid side by side.
struct Part {
  u64 first = 0, last = 0;
};
Part part_of(u64 rows, Rank rank);
/// Whether so many rows fit one batch.
bool fits(const Spec& spec, const std::vector<const Row*>& rows);
/// Throws a Failure for a row that fits no batch, or no padding.
void check_row(const Spec& spec, const Row& row, u64 index);

}  // namespace model
