// SPDX-License-Identifier: Apache-2.0
#include "cell_scanner.hpp"

#include <cstring>

namespace penstock::csv {

std::string Cell::text() const {
  std::string out(raw);
  if (!doubled) return out;
  std::size_t to = 0;
  for (std::size_t from = 0; from < out.size(); ++from) {
    out[to++] = out[from];
    if (out[from] == '"') ++from;
  }
  out.resize(to);
  return out;
}

CellScanner::Result CellScanner::quoted(Cell& cell) {
  const char* const end = ends_.text_end();
  const char*& at = position_.at;
  cell.offset = this->at();
  cell.doubled = false;
  const char* const begin = ++at;
  for (;;) {
    const void* const quote = std::memchr(at, '"', static_cast<std::size_t>(end - at));
    if (quote == nullptr) {
      at = end;
      return Result::unclosed;
    }
    at = static_cast<const char*>(quote);
    if (at + 1 == end || at[1] != '"') break;
    cell.doubled = true;
    at += 2;
  }
  cell.raw = {begin, static_cast<std::size_t>(at - begin)};
  ++at;
  if (at != end && *at == '\r' && (at + 1 == end || at[1] == '\n')) ++at;
  if (at == end || *at == '\n') {
    finish(position_, at);
  } else if (*at == delimiter_) {
    ++at;
    position_.block = ends_.block(at);
  } else {
    return Result::text_after;
  }
  return Result::cell;
}

}  // namespace penstock::csv
