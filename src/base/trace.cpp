// SPDX-License-Identifier: Apache-2.0
#include "base/trace.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include <penstock/extend/system_error.hpp>

#include "base/json_text.hpp"

namespace penstock::detail {

namespace {

// Returns microseconds, the unit of the format, with three decimals so that no nanosecond is lost.
std::string microseconds(std::uint64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%llu.%03u", static_cast<unsigned long long>(ns / 1000),
                static_cast<unsigned>(ns % 1000));
  return text;
}

std::string thread_name(std::size_t thread, const std::string& name) {
  const std::string number = std::to_string(thread);
  return R"({"ph":"M","pid":1,"tid":)" + number + R"(,"name":"thread_name","args":{"name":)" + json_string(name) +
         R"(}},)" + "\n" + R"({"ph":"M","pid":1,"tid":)" + number +
         R"(,"name":"thread_sort_index","args":{"sort_index":)" + number + "}}";
}

std::string event(std::size_t thread, const TraceLine::Slice& slice, std::uint64_t origin_ns) {
  std::string out = R"({"ph":"X","pid":1,"tid":)" + std::to_string(thread) + R"(,"name":)" + json_string(slice.name) +
                    R"(,"ts":)" + microseconds(slice.begin_ns - origin_ns) + R"(,"dur":)" +
                    microseconds(slice.end_ns - slice.begin_ns);
  if (slice.number != TraceLine::no_number) out += R"(,"args":{"number":)" + std::to_string(slice.number) + "}";
  return out + "}";
}

}  // namespace

TraceLine::TraceLine(std::string name, std::size_t most_slices)
    : name_(std::move(name)), ring_(std::max<std::size_t>(most_slices, 1)) {}

void TraceLine::put(const Slice& slice) noexcept { ring_[added_++ % ring_.size()] = slice; }

void TraceLine::add(const Slice& slice) noexcept {
  const std::lock_guard lock(mutex_);
  put(slice);
}

void TraceLine::turn_to(const char* name, std::uint64_t ended, std::uint64_t begun) noexcept {
  const std::lock_guard lock(mutex_);
  const std::uint64_t now = now_ns();
  if (state_.name != nullptr)
    put({state_.name, state_.begin_ns, now, state_.number != no_number ? state_.number : ended});
  state_ = {name, now, now, begun};
}

std::vector<TraceLine::Slice> TraceLine::slices() const {
  std::vector<Slice> out;
  const std::lock_guard lock(mutex_);
  out.reserve(ring_.size() + 1);
  const std::uint64_t kept = std::min<std::uint64_t>(added_, ring_.size());
  for (std::uint64_t i = added_ - kept; i < added_; ++i) out.push_back(ring_[i % ring_.size()]);
  if (state_.name != nullptr) out.push_back({state_.name, state_.begin_ns, now_ns(), state_.number});
  return out;
}

TraceLine& Trace::line(const std::string& name) {
  const std::lock_guard lock(mutex_);
  lines_.push_back(std::make_unique<TraceLine>(name, most_slices_));
  return *lines_.back();
}

TraceLine& Trace::next_line(const std::string& name) {
  const std::lock_guard lock(mutex_);
  std::size_t same = 1;
  for (const auto& line : lines_)
    if (line->name().starts_with(name + " ")) ++same;
  lines_.push_back(std::make_unique<TraceLine>(name + " " + std::to_string(same), most_slices_));
  return *lines_.back();
}

std::size_t Trace::bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t sum = 0;
  for (const auto& line : lines_) sum += line->bytes();
  return sum;
}

// Returns a copy of the list of lines. With this copy, `write` does not hold the mutex while it writes. New runners
// need the mutex to add lines.
std::vector<const TraceLine*> Trace::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<const TraceLine*> out;
  for (const auto& line : lines_) out.push_back(line.get());
  return out;
}

void Trace::write(const std::string& file) const {
  const auto failed = [&](const char* call) { return system_error("trace", errno, call, file); };
  struct Closing {
    std::FILE* file;
    ~Closing() {
      if (file != nullptr) std::fclose(file);
    }
  } out{std::fopen(file.c_str(), "we")};
  if (out.file == nullptr) throw failed("open");
  const auto put = [&](const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), out.file) != text.size()) throw failed("write");
  };
  put("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
  put(R"({"ph":"M","pid":1,"name":"process_name","args":{"name":"penstock"}})");
  const std::vector<const TraceLine*> lines = all();
  std::vector<std::vector<TraceLine::Slice>> slices;
  std::uint64_t origin_ns = ~std::uint64_t{0};
  for (const TraceLine* line : lines) {
    slices.push_back(line->slices());
    for (const TraceLine::Slice& slice : slices.back()) origin_ns = std::min(origin_ns, slice.begin_ns);
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    put(",\n" + thread_name(i + 1, lines[i]->name()));
    for (const TraceLine::Slice& slice : slices[i]) put(",\n" + event(i + 1, slice, origin_ns));
  }
  put("\n]}\n");
  if (std::fclose(std::exchange(out.file, nullptr)) != 0) throw failed("write");
}

}  // namespace penstock::detail
