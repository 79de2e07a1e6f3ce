// SPDX-License-Identifier: Apache-2.0
#include <penstock/error.hpp>

#include <utility>

#include <penstock/extend/system_error.hpp>

namespace penstock {

std::string_view to_string(Errc code) noexcept {
  switch (code) {
    case Errc::invalid_argument:
      return "invalid_argument";
    case Errc::schema_mismatch:
      return "schema_mismatch";
    case Errc::unsupported:
      return "unsupported";
    case Errc::corrupt:
      return "corrupt";
    case Errc::not_found:
      return "not_found";
    case Errc::io:
      return "io";
    case Errc::limit_exceeded:
      return "limit_exceeded";
    case Errc::user:
      return "user";
    case Errc::out_of_memory:
      return "out_of_memory";
    case Errc::state_mismatch:
      return "state_mismatch";
    case Errc::quota_exceeded:
      return "quota_exceeded";
    case Errc::leases_exhausted:
      return "leases_exhausted";
    case Errc::closed:
      return "closed";
    case Errc::forked:
      return "forked";
    case Errc::device:
      return "device";
    case Errc::network:
      return "network";
  }
  return "unknown";
}

namespace {

// Returns where the character begins that has the byte at `at`. Returns `at` if the text is not UTF-8 there.
std::size_t character_at(std::string_view text, std::size_t at) {
  for (std::size_t i = 0; i < 4 && at - i > 0 && at < text.size(); ++i)
    if ((static_cast<unsigned char>(text[at - i]) & 0xc0) != 0x80) return at - i;
  return at;
}

// If the text is longer than `most` bytes, keeps only its beginning and its end. The end says what the user can do.
std::string without_middle(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  constexpr std::size_t room = 40;  // bytes for the words that replace the middle
  const std::size_t begin = character_at(text, (most - room) * 2 / 3);
  const std::size_t end = character_at(text, text.size() - (most - room) / 3);
  text.replace(begin, end - begin, " [... " + std::to_string(end - begin) + " bytes ...] ");
  return text;
}

constexpr std::size_t longest_cause = 2000, longest_name = 1000;

}  // namespace

Error::Error(Errc code, std::string cause)
    : std::runtime_error(""), code_(code), cause_(without_middle(std::move(cause), longest_cause)) {
  compose();
}

Error& Error::with_stage(std::string_view stage) {
  if (stage_.empty()) stage_ = stage;
  compose();
  return *this;
}
Error& Error::with_source(std::string_view source) {
  if (source_.empty()) source_ = source;
  compose();
  return *this;
}
Error& Error::with_key(std::string_view key) {
  if (key_.empty()) key_ = key;
  compose();
  return *this;
}
Error& Error::with_file(std::string_view file) {
  if (file_.empty()) file_ = file;
  compose();
  return *this;
}
Error& Error::with_index(std::uint64_t index) {
  if (!index_) index_ = index;
  compose();
  return *this;
}
Error& Error::with_offset(std::uint64_t offset) {
  if (!offset_) offset_ = offset;
  compose();
  return *this;
}

bool Error::sample_scoped() const noexcept {
  switch (code_) {
    case Errc::unsupported:
    case Errc::corrupt:
    case Errc::not_found:
    case Errc::io:
    case Errc::limit_exceeded:
    case Errc::user:
      return true;
    default:
      return false;
  }
}

const char* Error::what() const noexcept { return what_.c_str(); }

void Error::compose() {
  what_ = to_string(code_);
  // Names of fields, keys and files come from data, and may have control characters. The message must be a single line.
  if (!stage_.empty()) what_ += " in " + without_middle(without_controls(stage_), longest_name);
  what_ += ": " + without_middle(without_controls(cause_), longest_cause);
  std::string where;
  const auto add = [&where](std::string_view name, const std::string& value) {
    if (value.empty()) return;
    if (!where.empty()) where += ", ";
    where += name;
    where += ' ';
    where += value;
  };
  add("source", without_controls(source_));
  add("file", without_controls(file_));
  add("key", without_middle(without_controls(key_), longest_name));
  if (index_) add("index", std::to_string(*index_));
  if (offset_) add("offset", std::to_string(*offset_));
  if (!where.empty()) what_ += " (" + where + ")";
}

}  // namespace penstock
