// SPDX-License-Identifier: Apache-2.0
#include "json.hpp"

#include <ostream>
#include <stdexcept>

#include <nlohmann/json.hpp>

namespace penstock_test {

struct Json::Library {
  using Value = nlohmann::json;
  static const Value& of(const Json& json) { return *static_cast<const Value*>(json.value_.get()); }
  static std::shared_ptr<const void> hold(Value value) { return std::make_shared<const Value>(std::move(value)); }
  // Without a sign, as the parser has them: compared with one that has a sign, the library takes 2^63 for negative.
  static std::shared_ptr<const void> hold_whole(long value) {
    return value < 0 ? hold(value) : hold(static_cast<unsigned long>(value));
  }
  // Its document lives as long as it does.
  static Json part(const Json& whole, const Value& part) {
    return Json(std::shared_ptr<const void>(whole.value_, &part));
  }
  static const Value& must(bool is, const Json& json, const std::string& what) {
    if (!is) throw std::runtime_error(what + ": " + json.dump());
    return of(json);
  }
};

Json::Json(std::nullptr_t) : value_(Library::hold(nullptr)) {}
Json::Json(bool value) : value_(Library::hold(value)) {}
Json::Json(int value) : value_(Library::hold_whole(value)) {}
Json::Json(unsigned value) : value_(Library::hold(value)) {}
Json::Json(long value) : value_(Library::hold_whole(value)) {}
Json::Json(unsigned long value) : value_(Library::hold(value)) {}
Json::Json(double value) : value_(Library::hold(value)) {}
Json::Json(const char* text) : value_(Library::hold(text)) {}
Json::Json(const std::string& text) : value_(Library::hold(text)) {}
Json::Json(const std::vector<std::string>& texts) : value_(Library::hold(texts)) {}

Json Json::parse(const std::string& text) { return Json(Library::hold(nlohmann::json::parse(text))); }

bool Json::accept(const std::string& text) { return nlohmann::json::accept(text); }

Json Json::operator[](const std::string& name) const {
  return Library::part(*this, Library::must(contains(name), *this, "there is no \"" + name + "\"").at(name));
}

Json Json::operator[](std::size_t index) const {
  const nlohmann::json& array = Library::must(Library::of(*this).is_array(), *this, "no array");
  Library::must(index < array.size(), *this, "there is no element " + std::to_string(index));
  return Library::part(*this, array[index]);
}

Json Json::back() const { return (*this)[size() - 1]; }

bool Json::contains(const std::string& name) const {
  return Library::must(is_object(), *this, "no object, which could have \"" + name + "\"").contains(name);
}

std::size_t Json::size() const {
  return Library::must(Library::of(*this).is_structured(), *this, "neither array nor object").size();
}

Json::Iterator Json::end() const {
  return {*this, Library::must(Library::of(*this).is_array(), *this, "no array").size()};
}

bool Json::is_null() const { return Library::of(*this).is_null(); }
bool Json::is_number() const { return Library::of(*this).is_number(); }
bool Json::is_object() const { return Library::of(*this).is_object(); }

std::string Json::text() const {
  return Library::must(Library::of(*this).is_string(), *this, "no text").get<std::string>();
}

double Json::number() const { return Library::must(is_number(), *this, "no number").get<double>(); }

std::int64_t Json::whole() const {
  return Library::must(Library::of(*this).is_number_integer(), *this, "no whole number").get<std::int64_t>();
}

std::string Json::dump() const {
  return Library::of(*this).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Json Json::with(const std::string& pointer, const Json& value) const {
  nlohmann::json changed = Library::of(*this);
  changed.at(nlohmann::json::json_pointer(pointer)) = Library::of(value);
  return Json(Library::hold(std::move(changed)));
}

Json Json::without(const std::string& pointer) const {
  nlohmann::json changed = Library::of(*this);
  const nlohmann::json::json_pointer place(pointer);
  changed.at(place.parent_pointer()).erase(place.back());
  return Json(Library::hold(std::move(changed)));
}

bool operator==(const Json& a, const Json& b) { return Json::Library::of(a) == Json::Library::of(b); }

std::partial_ordering operator<=>(const Json& a, const Json& b) {
  const nlohmann::json& left = Json::Library::must(a.is_number(), a, "no number");
  const nlohmann::json& right = Json::Library::must(b.is_number(), b, "no number");
  if (left < right) return std::partial_ordering::less;
  if (right < left) return std::partial_ordering::greater;
  return left == right ? std::partial_ordering::equivalent : std::partial_ordering::unordered;
}

std::ostream& operator<<(std::ostream& out, const Json& json) { return out << json.dump(); }

}  // namespace penstock_test
