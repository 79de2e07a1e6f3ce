#include "cell_scanner.hpp"

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

CellScanner::Result CellScanner::next(Cell& cell) {
  if (done_) return Result::end;
  cell.offset = at_;
  cell.doubled = false;
  if (at_ < text_.size() && text_[at_] == '"') return quoted(cell);
  const std::size_t begin = at_;
  while (at_ < text_.size() && text_[at_] != delimiter_ && text_[at_] != '\n') ++at_;
  std::size_t end = at_;
  const bool last = at_ == text_.size() || text_[at_] == '\n';
  if (last && end > begin && text_[end - 1] == '\r') --end;
  cell.raw = text_.substr(begin, end - begin);
  return behind_cell();
}

CellScanner::Result CellScanner::quoted(Cell& cell) {
  const std::size_t begin = ++at_;
  for (;;) {
    at_ = text_.find('"', at_);
    if (at_ == std::string_view::npos) {
      at_ = text_.size();
      return Result::unclosed;
    }
    if (at_ + 1 == text_.size() || text_[at_ + 1] != '"') break;
    cell.doubled = true;
    at_ += 2;
  }
  cell.raw = text_.substr(begin, at_ - begin);
  ++at_;
  if (at_ < text_.size() && text_[at_] == '\r' && (at_ + 1 == text_.size() || text_[at_ + 1] == '\n')) ++at_;
  if (at_ < text_.size() && text_[at_] != delimiter_ && text_[at_] != '\n') return Result::text_after;
  return behind_cell();
}

CellScanner::Result CellScanner::behind_cell() {
  done_ = at_ == text_.size() || text_[at_] == '\n';
  line_ended_ = at_ != text_.size() && text_[at_] == '\n';
  if (at_ != text_.size()) ++at_;
  return Result::cell;
}

}  // namespace penstock::csv
