// SPDX-License-Identifier: Apache-2.0
#include "table_lines.hpp"

#include <fcntl.h>

#include <cerrno>
#include <span>
#include <utility>

#include <penstock/extend/system_error.hpp>

#include "errors.hpp"

namespace penstock::files {

namespace {

constexpr std::size_t buffer_bytes = 1u << 18, longest_cell = 1u << 14;

}  // namespace

TableLines::TableLines(std::string file, std::uint64_t begin)
    : file_(std::move(file)),
      open_(uninterrupted([&] { return ::open(file_.c_str(), O_RDONLY | O_CLOEXEC); })),
      end_(begin),
      read_(begin) {
  if (open_.get() < 0 && errno != ENOENT) throw system_error(errno, "opening", file_);
  buffer_.resize(buffer_bytes);
}

bool TableLines::fill() {
  at_ = 0;
  filled_ = 0;
  if (open_.get() < 0) return false;
  filled_ = penstock::read_whole(open_.get(), std::as_writable_bytes(std::span(buffer_)), read_);
  if (filled_ < buffer_.size() && errno != 0) throw system_error(errno, "reading", file_);
  read_ += filled_;
  return filled_ != 0;
}

bool TableLines::next() {
  cell_.clear();
  std::uint64_t end = end_;
  bool quoted = false, closed = false, first = true;  // `closed`: the byte before was a closing quote
  while (at_ != filled_ || fill()) {
    const char c = buffer_[at_++];
    ++end;
    if (c == '\n' && !quoted) {
      end_ = end;
      return true;
    }
    const bool quote = c == '"';
    if (c == ',' && !quoted) first = false;
    if (first && (!quote || closed) && cell_.size() < longest_cell) cell_ += c;
    closed = quote && quoted;
    if (quote) quoted = !quoted;
  }
  return false;
}

}  // namespace penstock::files
