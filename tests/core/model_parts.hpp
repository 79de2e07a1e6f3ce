// What the files of the model share.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "model.hpp"

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

using Row = std::vector<std::vector<std::uint8_t>>;  ///< bytes of each field

/// What became of one sample.
struct Item {
  bool kept = true, masked = false;
  Row row;
  u64 index = 0;
  std::vector<Failure> bad;    ///< the one that the policy acts on
  std::vector<Failure> fatal;  ///< the one that ends the run
};
/// All samples of one position, in order. `positions`: of the epoch, for stand-ins.
std::vector<Item> items(const Spec& spec, const std::vector<Keyed>& stages, Place place, u64 index,
                        const std::vector<u64>& positions);
/// A row of zeros.
Row zero_row(Spec spec);

}  // namespace model
