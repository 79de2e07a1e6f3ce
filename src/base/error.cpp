#include <penstock/error.hpp>

#include <utility>

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
  }
  return "unknown";
}

namespace {

// Keys and file names come from data: control characters would break the promise of a single line.
std::string printable(std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

Error::Error(Errc code, std::string cause) : std::runtime_error(cause), code_(code), cause_(std::move(cause)) {
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
  if (!stage_.empty()) what_ += " in " + stage_;
  what_ += ": " + printable(cause_);
  std::string where;
  const auto add = [&where](std::string_view name, const std::string& value) {
    if (value.empty()) return;
    if (!where.empty()) where += ", ";
    where += name;
    where += ' ';
    where += printable(value);
  };
  add("source", source_);
  add("file", file_);
  add("key", key_);
  if (index_) add("index", std::to_string(*index_));
  if (offset_) add("offset", std::to_string(*offset_));
  if (!where.empty()) what_ += " (" + where + ")";
}

}  // namespace penstock
