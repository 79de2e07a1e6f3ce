#include "write/feature_list.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <penstock/extend/store_files.hpp>

#include "library/errors.hpp"

namespace penstock::hdf5 {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view heading = "slide_id,file,features,dimension,dtype,job\n";
constexpr std::size_t cells_a_line = 6;
constexpr std::uint64_t any_bytes = std::numeric_limits<std::uint64_t>::max();  // a line for each slide

std::string quoted_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  return out + "\"";
}

// The cells of each whole line; a kill may have left half of one at the end.
std::vector<std::vector<std::string>> lines_of(std::string_view text) {
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> cells(1);
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inside && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      cells.back() += c;
      ++i;
    } else if (c == '"') {
      inside = !inside;
    } else if (!inside && c == ',') {
      cells.emplace_back();
    } else if (c == '\n') {  // never in a cell
      inside = false;
      lines.push_back(std::exchange(cells, std::vector<std::string>(1)));
    } else {
      cells.back() += c;
    }
  }
  return lines;
}

// Held while the list is read and changed: another process may replace it.
class ListLock {
 public:
  explicit ListLock(const std::string& list) {
    using namespace std::chrono_literals;
    constexpr auto longest = 60s;
    const auto begun = std::chrono::steady_clock::now();
    while (!lock_.take(list + ".lock", source_name)) {
      if (std::chrono::steady_clock::now() - begun > longest)
        throw error_in(list, Errc::io, lock_holder(list + ".lock") + " holds " + list + ".lock for a minute; stop it");
      std::this_thread::sleep_for(2ms);
    }
  }

 private:
  FileLock lock_;
};

}  // namespace

FeatureList::FeatureList(std::string file, std::string slides, bool sync)
    : file_(std::move(file)),
      slides_(std::move(slides)),
      folder_name_(fs::path(slides_).filename().string()),
      sync_(sync) {}

std::string FeatureList::line_of(const std::string& slide, const FeatureFacts& facts) const {
  return quoted_cell(slide) + "," + quoted_cell(folder_name_ + "/" + slide + ".h5") + "," +
         std::to_string(facts.features) + "," + std::to_string(facts.dimension) + "," +
         std::string(to_string(facts.dtype)) + "," + quoted_cell(facts.job) + "\n";
}

void FeatureList::renew(const std::string& job) {
  const ListLock lock(file_);
  const std::string before = read_text(file_, source_name, any_bytes).value_or("");
  std::map<std::string, std::string> jobs;  // of slides that are listed
  std::vector<std::string> order;
  std::map<std::string, std::string> listed;
  for (const auto& cells : lines_of(before)) {
    if (cells.size() != cells_a_line || cells[0] == "slide_id") continue;
    std::string line;
    for (const std::string& cell : cells) line += (line.empty() ? "" : ",") + quoted_cell(cell);
    if (!listed.emplace(cells[0], line + "\n").second) continue;
    jobs[cells[0]] = cells.back();
    order.push_back(cells[0]);
  }
  std::map<std::string, bool> there;
  std::error_code failed;
  for (fs::directory_iterator entry(slides_, failed), end; !failed && entry != end; entry.increment(failed))
    if (entry->path().extension() == ".h5") there[entry->path().stem().string()] = true;
  if (failed) throw system_error(failed.value(), "listing the folder", slides_);
  std::string after(heading);
  for (const std::string& slide : order)
    if (there.erase(slide) != 0)
      after += listed[slide];
    else
      jobs.erase(slide);
  for (const auto& [slide, ignored] : there) {
    const FeatureFacts facts = read_feature_file(file_of(slide));
    jobs[slide] = facts.job;
    after += line_of(slide, facts);
  }
  for (const auto& [slide, made_by] : jobs)
    if (made_by != job)
      throw error_in(file_of(slide), Errc::invalid_argument,
                     "the slide was made by another job, \"" + printable(made_by) + "\"; write to another folder");
  if (after != before) replace_text(file_, after, sync_, source_name);
}

void FeatureList::end(const std::string& slide, const FeatureFacts& facts, const std::string& file) {
  const ListLock lock(file_);
  rename_file(file, file_of(slide), source_name);
  if (sync_) sync_folder_of(file, source_name);
  list(slide, facts);
}

void FeatureList::list(const std::string& slide, const FeatureFacts& facts) const {
  // What a process that was killed has left of a line is cut off.
  std::string before = read_text(file_, source_name, any_bytes).value_or("");
  before.resize(before.rfind('\n') + 1);
  const auto listed = before.find("\n" + quoted_cell(slide) + ",");
  if (listed != std::string::npos) {  // a slide that was deleted by hand, and made anew
    before.erase(listed + 1, before.find('\n', listed + 1) - listed);
    return replace_text(file_, before + line_of(slide, facts), sync_, source_name);
  }
  if (before.empty()) return replace_text(file_, std::string(heading) + line_of(slide, facts), sync_, source_name);
  OutputFile list(file_, before.size(), source_name);
  list.append(line_of(slide, facts));
  list.flush();
  if (sync_) list.sync();
}

}  // namespace penstock::hdf5
