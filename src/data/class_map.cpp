// SPDX-License-Identifier: Apache-2.0
#include "data/class_map.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include <penstock/error.hpp>
#include <penstock/extend/system_error.hpp>

#include "base/hash.hpp"
#include "base/integer_at.hpp"

namespace penstock::detail {

namespace {

constexpr std::int64_t ambiguous = -1;

// Returns the number of each name, or `ambiguous` if several classes have the name.
std::unordered_map<std::string_view, std::int64_t> numbers_of(const ClassNames& classes) {
  std::unordered_map<std::string_view, std::int64_t> numbers;
  numbers.reserve(classes.size());
  for (std::size_t i = 0; i < classes.size(); ++i)
    if (const auto [at, fresh] = numbers.emplace(classes[i], i); !fresh) at->second = ambiguous;
  return numbers;
}

// Sorts the names by their bytes and removes repeated names.
void sort_once(std::vector<std::string>& names) {
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

bool holds(DType dtype, std::size_t number) noexcept {
  switch (dtype) {
    case DType::boolean:
      return number <= 1;
    case DType::u8:
      return number <= 0xff;
    case DType::i8:
      return number <= 0x7f;
    case DType::u16:
      return number <= 0xffff;
    case DType::i16:
      return number <= 0x7fff;
    case DType::u32:
      return number <= 0xffffffff;
    case DType::i32:
      return number <= 0x7fffffff;
    default:
      return true;
  }
}

}  // namespace

ClassNames joined_classes(std::span<const ClassNames> lists) {
  const auto less = [](const std::vector<std::string>* a, const std::vector<std::string>* b) { return *a < *b; };
  std::set<const std::vector<std::string>*, decltype(less)> distinct(less);  // many parts may have the same list
  for (const ClassNames& list : lists) distinct.insert(&list.names());
  std::vector<std::string> all;
  for (const auto* list : distinct) all.insert(all.end(), list->begin(), list->end());
  sort_once(all);
  for (const ClassNames& list : lists) {
    if (list.size() < all.size()) continue;
    std::vector<std::string> own = list.names();
    sort_once(own);
    if (own == all) return list;
  }
  return all;
}

std::uint64_t hash_of(const ClassNames& classes) noexcept {
  std::uint64_t hash = classes.size();
  for (const std::string& name : classes) hash = hash_text(name, hash);
  return hash;
}

ClassMap::ClassMap(const ClassNames& from, const ClassNames& to, DType dtype) {
  const auto wanted = numbers_of(to), own = numbers_of(from);
  numbers_.reserve(from.size());
  for (const std::string& name : from) {
    const auto found = wanted.find(name);
    if (found == wanted.end())
      throw Error(Errc::schema_mismatch, "the class \"" + printable(name) + "\" is not among the " + to.to_string());
    if (found->second == ambiguous || own.at(name) == ambiguous)
      throw Error(Errc::schema_mismatch, "several classes are named \"" + printable(name) +
                                             "\", so their names don't tell which is which; give them names that "
                                             "differ (name_classes)");
    if (!holds(dtype, static_cast<std::size_t>(found->second)))
      throw Error(Errc::schema_mismatch, "the number of the class \"" + printable(name) + "\" becomes " +
                                             std::to_string(found->second) + ", which " +
                                             std::string(penstock::to_string(dtype)) + " does not hold");
    numbers_.push_back(found->second);
  }
}

std::int64_t ClassMap::operator()(std::int64_t number) const {
  if (number < 0 || static_cast<std::uint64_t>(number) >= numbers_.size())
    throw Error(Errc::unsupported, "the number " + std::to_string(number) + " stands for no class: there are 0 to " +
                                       std::to_string(numbers_.size() - 1));
  return numbers_[static_cast<std::size_t>(number)];
}

void ClassMap::apply(const TensorView& numbers) const {
  const std::size_t width = size_of(numbers.dtype), count = numbers.shape.elements();
  for (std::size_t i = 0; i < count; ++i) {
    std::byte* const at = numbers.data + i * width;
    const std::int64_t number = (*this)(integer_at(numbers.dtype, at));
    static_assert(std::endian::native == std::endian::little, "the lower bytes of a number come first");
    std::memcpy(at, &number, width);
  }
}

std::uint64_t ClassMap::hash() const noexcept {
  return hash_bytes(numbers_.data(), numbers_.size() * sizeof numbers_.front());
}

}  // namespace penstock::detail
