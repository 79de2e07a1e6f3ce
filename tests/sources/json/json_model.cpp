// SPDX-License-Identifier: Apache-2.0
#include "json_model.hpp"

#include <cstdio>
#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

namespace penstock_test {

namespace {

struct Value {
  enum class Kind : std::uint8_t { null, boolean, whole, large, real, text, array, object } kind = Kind::null;
  std::int64_t whole = 0;   // of `whole`
  std::uint64_t large = 0;  // of `large`: above the largest i64
  double real = 0;
  std::string text{};  // of `text`, and the digits of `real`
  std::vector<std::pair<std::string, Value>> members{};
  std::vector<Value> elements{};
};

// Builds values, and keeps members that come twice.
class Builder {
 public:
  using json = nlohmann::json;
  bool null() { return put({}); }
  bool boolean(bool) { return put({.kind = Value::Kind::boolean}); }
  bool number_integer(json::number_integer_t value) { return put({.kind = Value::Kind::whole, .whole = value}); }
  bool number_unsigned(json::number_unsigned_t value) {
    if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return number_integer(static_cast<std::int64_t>(value));
    return put({.kind = Value::Kind::large, .large = value});
  }
  bool number_float(json::number_float_t value, const json::string_t& digits) {
    return put({.kind = Value::Kind::real, .real = value, .text = digits});
  }
  bool string(json::string_t& text) { return put({.kind = Value::Kind::text, .text = text}); }
  bool binary(json::binary_t&) { return false; }
  bool start_object(std::size_t) { return open({.kind = Value::Kind::object}); }
  bool start_array(std::size_t) { return open({.kind = Value::Kind::array}); }
  bool key(json::string_t& name) { return names_.back() = name, true; }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) {
    const std::string what = error.what();
    unknown = error.id == 406 || what.find("surrogate") != std::string::npos;
    return false;
  }

  Value top;
  bool unknown = false;
  std::size_t deepest = 0;

 private:
  bool put(Value value) {
    if (open_.empty()) {
      top = std::move(value);
    } else if (open_.back().kind == Value::Kind::object) {
      open_.back().members.emplace_back(names_.back(), std::move(value));
    } else {
      open_.back().elements.push_back(std::move(value));
    }
    return true;
  }
  bool open(Value value) {
    open_.push_back(std::move(value));
    names_.emplace_back();
    deepest = std::max(deepest, open_.size());
    return true;
  }
  bool close() {
    Value value = std::move(open_.back());
    open_.pop_back();
    names_.pop_back();
    return put(std::move(value));
  }

  std::vector<Value> open_;
  std::vector<std::string> names_;
};

const Value* only(const Value& object, std::string_view name) {
  const Value* found = nullptr;
  for (const auto& [member, value] : object.members)
    if (member == name) {
      if (found != nullptr) return nullptr;
      found = &value;
    }
  return found;
}

bool holds(double real, std::string digits) {
  if (digits.starts_with('-')) digits.erase(0, 1);
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  char exact[400];
  std::snprintf(exact, sizeof exact, "%.0f", real < 0 ? -real : real);
  return digits == exact;
}

std::optional<double> as_f64(const Value& value) {
  switch (value.kind) {
    case Value::Kind::whole:
      if (!holds(static_cast<double>(value.whole), std::to_string(value.whole))) return std::nullopt;
      return static_cast<double>(value.whole);
    case Value::Kind::large:
      if (!holds(static_cast<double>(value.large), std::to_string(value.large))) return std::nullopt;
      return static_cast<double>(value.large);
    case Value::Kind::real: {
      const std::string mantissa = value.text.substr(0, value.text.find_first_of("eE"));
      if (value.real == 0 && mantissa.find_first_of("123456789") != std::string::npos) return std::nullopt;
      if (value.text.find_first_of(".eE") == std::string::npos && !holds(value.real, value.text)) return std::nullopt;
      return value.real;
    }
    default:
      return std::nullopt;
  }
}

std::optional<ModelRecord> record_of(const Value& top) {
  if (top.kind != Value::Kind::object) return std::nullopt;
  const Value *const x = only(top, "x"), *const m = only(top, "m"), *const a = only(top, "a"),
                     *const t = only(top, "t");
  if (x == nullptr || m == nullptr || a == nullptr || t == nullptr) return std::nullopt;
  const Value* const k = m->kind == Value::Kind::object ? only(*m, "k") : nullptr;
  const std::optional<double> real = as_f64(*x);
  if (!real || k == nullptr || k->kind != Value::Kind::whole || a->kind != Value::Kind::array ||
      t->kind != Value::Kind::text)
    return std::nullopt;
  ModelRecord record{*real, k->whole, {}, t->text};
  for (const Value& element : a->elements) {
    if (element.kind != Value::Kind::whole || !std::in_range<std::int32_t>(element.whole)) return std::nullopt;
    record.a.push_back(static_cast<std::int32_t>(element.whole));
  }
  return record;
}

}  // namespace

ModelLine model_line(std::string_view line) {
  // nlohmann's parser takes a zero byte for the end.
  if (line.find('\0') != line.npos) return {};
  Builder builder;
  const bool parsed = nlohmann::json::sax_parse(line.begin(), line.end(), &builder);
  if (!parsed) return {!builder.unknown, std::nullopt};
  return {builder.deepest < 500, record_of(builder.top)};
}

}  // namespace penstock_test
