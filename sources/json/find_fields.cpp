// SPDX-License-Identifier: Apache-2.0
#include "find_fields.hpp"

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <penstock/error.hpp>

#include "common/lines/read_records.hpp"
#include "cursor.hpp"
#include "errors.hpp"
#include "member_tree.hpp"
#include "numbers_of.hpp"

namespace penstock::json {

namespace {

constexpr std::uint64_t first_records = 100;
constexpr std::size_t max_members = 10'000;
constexpr std::size_t max_path_bytes = 256, max_levels = 16;  // longer and deeper members are not fields

constexpr std::int64_t unknown = -1, varies = -2;  // lengths of arrays

// What the values of one member are.
struct MemberSeen {
  std::string path;
  std::uint64_t records = 0, last = 0;  // records with a value other than null, and the number of the last one
  bool texts = false, scalars = false, arrays = false;
  bool booleans = false, numbers = false;               // also in arrays
  bool all_i64 = true, all_u64 = true, all_f64 = true;  // types that hold all numbers
  std::string other;                                    // why it can't be a field
  std::optional<std::size_t> rank;                      // of arrays, if one has an element
  std::array<std::int64_t, max_rank> dims{unknown, unknown, unknown};

  void look(Cursor& cursor, std::uint64_t record) {
    switch (cursor.peek()) {
      case Kind::null:
        return cursor.null();
      case Kind::text:
        texts = true;
        cursor.text();
        break;
      case Kind::array:
        arrays = true;
        look_at_array(cursor);
        break;
      default:
        scalars = true;
        look_at_number(cursor);
    }
    if (std::exchange(last, record) != record) ++records;
  }

  // Why the member can't be a field; empty if it can.
  std::string reason() const {
    if (!other.empty()) return other;
    if (texts && (scalars || arrays)) return "has texts and other values";
    if (scalars && arrays) return "has arrays and other values";
    if (texts) return {};
    if (booleans && numbers) return "has booleans and numbers";
    if (!booleans && !numbers) return "has only empty arrays";
    if (numbers && !all_i64 && !all_u64 && !all_f64) return "has numbers that neither 64 bits nor f64 hold exactly";
    return {};
  }

  JsonField field(const std::optional<double>& missing_value) const {
    JsonField found{.member = path};
    if (texts) {
      found.type = JsonType::text;
      return found;
    }
    std::array<std::byte, 8> ignored{};
    const auto may_be = [&](bool holds_all, DType dtype) {
      return holds_all && (!missing_value || common::store_number(*missing_value, dtype, ignored.data()));
    };
    found.dtype = booleans                      ? DType::u8
                  : may_be(all_i64, DType::i64) ? DType::i64
                  : may_be(all_u64, DType::u64) ? DType::u64
                  : all_f64                     ? DType::f64
                  : all_i64                     ? DType::i64
                                                : DType::u64;
    if (!arrays) return found;
    std::vector<std::int64_t> shape;
    for (std::size_t k = 0; k < *rank; ++k) shape.push_back(dims[k] > 0 ? dims[k] : dynamic);
    found.shape = Shape(std::span<const std::int64_t>(shape));
    return found;
  }

 private:
  void look_at_number(Cursor& cursor) {
    const Kind kind = cursor.peek();
    if (kind == Kind::boolean) {
      booleans = true;
      cursor.boolean();
    } else if (kind == Kind::number) {
      numbers = true;
      const std::string_view token = cursor.number();
      std::array<std::byte, 8> ignored{};
      const auto fits = [&](DType dtype) {
        return store_token(token, dtype, ignored.data()) == common::NumberFault::none;
      };
      all_i64 = all_i64 && fits(DType::i64);
      all_u64 = all_u64 && fits(DType::u64);
      all_f64 = all_f64 && fits(DType::f64);
    } else if (kind == Kind::null) {
      cursor.null();
    } else {
      other = "has " + std::string(to_words(kind)) + " in an array";
      cursor.skip();
    }
  }

  void look_at_array(Cursor& cursor) {
    // The first elements say how deeply arrays are nested.
    Cursor inner = cursor;
    std::size_t levels = 0;
    bool has_element = false;
    for (; levels <= max_rank && inner.peek() == Kind::array; ++levels) {
      has_element = false;
      Cursor at = inner;
      inner.each_element([&] {
        if (!std::exchange(has_element, true)) at = inner;
        inner.skip();
      });
      if (!has_element) {
        ++levels;
        break;
      }
      inner = at;
    }
    if (levels > max_rank) {
      other = "has arrays of more than " + std::to_string(max_rank) + " dimensions";
      return cursor.skip();
    }
    std::array<std::int64_t, max_rank> these{unknown, unknown, unknown};
    const auto leaf = [this](Cursor& c) { look_at_number(c); };
    const Cursor begin = cursor;
    try {
      measure(cursor, levels, these, leaf);
    } catch (const Error& error) {
      if (error.cause().starts_with("it is not JSON")) throw;
      other = error.cause();
      cursor = begin;
      return cursor.skip();
    }
    if (has_element && rank && *rank != levels) other = "has arrays of different numbers of dimensions";
    if (has_element) rank = levels;
    for (std::size_t k = 0; k < max_rank; ++k)
      if (these[k] >= 0) dims[k] = dims[k] == unknown || dims[k] == these[k] ? these[k] : varies;
  }
};

// Looks at the first records.
class FirstRecords {
 public:
  // A record that is not JSON changes nothing.
  void look(std::string_view text) {
    Cursor whole(text);
    whole.skip();
    whole.end();
    Cursor cursor(text);
    if (const Kind kind = cursor.peek(); kind != Kind::object)
      throw Error(Errc::corrupt, "the line is " + std::string(to_words(kind)) + "; each line must be one object")
          .with_offset(cursor.offset());
    ++records_;
    std::vector<std::string> names;
    look_at_object(cursor, names, 0);
  }
  std::uint64_t records() const noexcept { return records_; }
  std::uint64_t left_out() const noexcept { return left_out_; }
  bool too_many() const noexcept { return members_.size() > max_members; }
  const std::vector<MemberSeen>& members() const noexcept { return members_; }

 private:
  void look_at_object(Cursor& cursor, std::vector<std::string>& names, std::size_t path_bytes) {
    std::string buffer;
    cursor.each_member([&](const Text& name) {
      const std::optional<std::string_view> plain = name_in(name, buffer);
      if (!plain || too_many() || names.size() == max_levels || path_bytes + plain->size() > max_path_bytes) {
        ++left_out_;
        return cursor.skip();
      }
      names.emplace_back(*plain);
      if (cursor.peek() == Kind::object)
        look_at_object(cursor, names, path_bytes + names.back().size() + 1);
      else
        member(path_of_names(names)).look(cursor, records_);
      names.pop_back();
    });
  }

  static std::optional<std::string_view> name_in(const Text& name, std::string& buffer) {
    try {
      return characters(name, buffer);
    } catch (const Error&) {
      return std::nullopt;  // half of a character
    }
  }

  MemberSeen& member(std::string path) {
    const auto [found, fresh] = number_of_.try_emplace(std::move(path), members_.size());
    if (fresh) members_.emplace_back().path = found->first;
    return members_[found->second];
  }

  std::vector<MemberSeen> members_;
  std::unordered_map<std::string, std::size_t> number_of_;
  std::uint64_t records_ = 0, left_out_ = 0;
};

}  // namespace

std::vector<JsonField> find_fields(const JsonLines& options, const std::vector<std::string>& files,
                                   const std::vector<common::LineIndex>& indices, std::vector<std::string>& notes) {
  FirstRecords first;
  std::uint64_t looked_at = 0;
  std::optional<Error> failure;
  for (std::size_t f = 0; f < files.size() && looked_at < first_records; ++f)
    common::read_records(files[f], source_name, indices[f], [&](std::uint64_t record, std::string_view text) {
      try {
        first.look(text);
      } catch (const Error& error) {
        if (!failure)
          failure =
              error_in(files[f], error.code(), "line " + std::to_string(indices[f].line(record)) + ": " + error.cause(),
                       indices[f].begins[record] + error.offset().value_or(0));
      }
      if (first.too_many())
        throw error_in(
            files[f], Errc::limit_exceeded,
            "the first records have more than " + std::to_string(max_members) + " members; list the `fields`");
      return ++looked_at < first_records;
    });
  if (first.records() == 0 && failure) throw Error(*failure);
  if (first.records() == 0)
    throw error_in(options.path, Errc::invalid_argument, "there is no record to find fields in; list the `fields`");
  std::vector<JsonField> fields;
  for (const MemberSeen& member : first.members()) {
    if (!options.key.empty() && member.path == options.key) continue;
    const std::string name = "member \"" + printable(member.path) + "\" is not read: it ";
    if (2 * member.records <= first.records())
      notes.push_back(name + "has a value in only " + std::to_string(member.records) + " of the first " +
                      std::to_string(first.records()) + " records");
    else if (const std::string reason = member.reason(); !reason.empty())
      notes.push_back(name + reason);
    else
      fields.push_back(member.field(options.missing_value));
  }
  if (first.left_out() != 0)
    notes.push_back(
        std::to_string(first.left_out()) + " values of the first records are not read: their paths have more than " +
        std::to_string(max_path_bytes) + " bytes or " + std::to_string(max_levels) + " levels, or half of a character");
  if (fields.empty())
    throw error_in(options.path, Errc::invalid_argument,
                   "none of the first records has a member that can be a field; list the `fields`" +
                       (notes.empty() ? "" : " (" + notes.front() + ")"));
  return fields;
}

}  // namespace penstock::json
