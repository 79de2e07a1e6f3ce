#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace penstock::webdataset {

/// Where the member of one field of one sample lies, or why there is none.
struct Entry {
  std::uint64_t offset = 0;  ///< 0: there is none
  std::uint64_t size = 0;

  static constexpr std::uint64_t twice = ~std::uint64_t{0};          ///< a size that says: the sample has two
  static constexpr std::uint64_t no_data = ~std::uint64_t{0} - 1;    ///< a size that says: it is a link or a device
  static constexpr std::uint64_t bad_name = ~std::uint64_t{0} - 2;   ///< `danger_of` its name says why
  static constexpr std::uint64_t long_name = ~std::uint64_t{0} - 3;  ///< more bytes than a name may have
  static constexpr std::uint64_t sparse = ~std::uint64_t{0} - 4;     ///< its bytes don't lie in the shard as they are
  static constexpr std::uint64_t unknown_type = ~std::uint64_t{0} - 5;  ///< nobody knows what it is
  bool readable() const noexcept { return offset != 0 && size < unknown_type; }
};

/// The entries of a shard's samples: an entry a field where every sample has all, else those that there are, so that
/// they take memory as the shard has members.
class SampleEntries {
 public:
  SampleEntries() = default;
  explicit SampleEntries(std::size_t fields) : fields_(fields) {}

  void add_sample();
  /// The last sample's entry; none yet where the sample is new.
  Entry& of_last(std::size_t slot);
  /// Gives back memory that is not needed, after the last sample.
  void finish();

  /// A sample's entry; none where it has no such member.
  Entry at(std::uint64_t sample, std::size_t slot) const noexcept;
  /// The entries that a sample has, in the order of slots.
  std::span<const Entry> of(std::uint64_t sample) const noexcept;
  /// Every sample has a member of each field.
  bool complete() const noexcept { return entries_.size() == samples_ * fields_; }
  /// Both have members of the same fields.
  bool have_the_same_fields(std::uint64_t a, std::uint64_t b) const noexcept;
  /// Every sample has a member of each field, with data.
  bool all_readable() const noexcept;
  /// A hash of all, absent ones included, that goes on from `seed`.
  std::uint64_t hash(std::uint64_t seed) const noexcept;

 private:
  std::size_t fields_ = 0;
  std::uint64_t samples_ = 0;
  std::vector<Entry> entries_;
  // Where some samples lack a field: the slot of each entry, and where each sample's entries begin.
  std::vector<std::uint16_t> slots_;
  std::vector<std::uint64_t> begins_;
};

}  // namespace penstock::webdataset
