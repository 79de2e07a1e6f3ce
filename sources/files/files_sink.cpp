// SPDX-License-Identifier: Apache-2.0
#include <penstock/sources/files_sink.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/file_descriptor.hpp>
#include <penstock/extend/listing.hpp>
#include <penstock/extend/store_files.hpp>
#include <penstock/extend/stream_source.hpp>
#include <penstock/extend/system_error.hpp>

#include "common/sinks/image_extension.hpp"
#include "common/sinks/journal.hpp"
#include "common/sinks/key_as_file_name.hpp"
#include "common/sinks/opened_sink.hpp"
#include "common/sinks/sharded_sink.hpp"
#include "errors.hpp"
#include "staged_files.hpp"
#include "table_columns.hpp"
#include "table_lines.hpp"
#include "table_name.hpp"

namespace penstock {

namespace {

constexpr std::size_t most_staged = 1u << 16;

// Returns a folder's path without slashes at its end. @throws Error(invalid_argument) if the path is empty or has a
// NUL.
std::string checked_folder(const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos)
    throw files::error_in(path, Errc::invalid_argument, "`path` must be a folder, and is empty or holds a NUL");
  const std::size_t end = path.find_last_not_of('/');
  return end == std::string::npos ? "/" : path.substr(0, end + 1);
}

std::uint64_t hash_of(std::string_view key) { return XXH3_64bits(key.data(), key.size()); }

// Returns a file's key: its name up to the last dot, because no extension of this sink has a dot.
std::string_view key_in(std::string_view file) { return file.substr(0, file.rfind('.')); }

// Returns whether this sink can have given a file that name. A damaged table must not make the sink touch other files.
bool is_own_name(std::string_view file) {
  const std::string_view extension = file.substr(key_in(file).size());
  const auto known = [&](std::string_view one) { return extension.substr(1) == one; };
  if (extension.empty() || std::ranges::none_of(common::image_extensions, known)) return false;
  for (std::size_t begin = 0; begin <= file.size();) {
    const std::size_t end = std::min(file.find('/', begin), file.size());
    if (end == begin || file[begin] == '.') return false;
    begin = end + 1;
  }
  return file.find('\0') == std::string_view::npos;
}

}  // namespace

class FilesSink::Impl final : public common::ShardedSink {
 public:
  static constexpr std::string_view sink_name = "FilesSink", sink_source = files::source_name;

  Impl(const FilesSinkOptions& options, const SinkJob& job)
      : ShardedSink(files::source_name, {checked_folder(options.path) + "/" + std::string(files::table_name), "", true},
                    job.size, options.sync),
        options_(options),
        folder_(checked_folder(options.path)),
        columns_(columns_for(options, job.schema)),
        files_(folder_) {
    open(common::store_facts({{"fields", job.schema.to_string()},
                              {"files of the field", options.field},
                              {"keys", options.keys == FilesKeys::position ? "position" : "automatic"},
                              {"classes", columns_.classes_text()},
                              common::samples_fact(job.size)},
                             options.job, job));
  }

  bool has_some() const noexcept { return !there_.empty(); }

  bool has(const SinkItem& item) {
    require_unfailed();
    const std::uint64_t hash = hash_of(key_of(item));
    if (!counted()) return find(item, [&](std::uint64_t number) { return there_[number] == hash; });
    if (item.position >= there_.size()) return false;
    if (there_[item.position] != hash)
      refuse_there("its sample " + std::to_string(item.position) + " is one " + describe_before(item.position));
    return true;
  }

  void put(const SinkItem& item, Sample& sample) {
    check_put(item);
    const std::string key = key_of(item);
    const std::span<const std::byte> bytes = sample.bytes(columns_.image_slot());
    const std::string_view extension = common::image_extension(bytes);
    refuse_names_of_the_table(key, item.key);
    files_.require_new(key, extension, item.key);
    std::string file = key + "." + std::string(extension);
    const std::string& line = line_of(file, item, sample);
    guarded([&] {
      files_.add(std::move(file), bytes);
      table_->append(line);
    });
    count_put();
    if (files_.staged() == most_staged) commit();
  }

 private:
  static files::TableColumns columns_for(const FilesSinkOptions& options, const Schema& schema) {
    try {
      return {schema, options.field};
    } catch (Error& error) {
      error.with_source(files::source_name).with_file(options.path);
      throw;
    }
  }

  std::string key_of(const SinkItem& item) const override {
    if (options_.keys == FilesKeys::automatic && !item.key.empty()) return files_key(item.key);
    return position_key(item, size_);
  }
  std::string unfinished_files() const override { return "the folder " + folder_; }

  const std::string& line_of(const std::string& file, const SinkItem& item, const Sample& sample) {
    try {
      return columns_.line(file, sample);
    } catch (Error& error) {
      error.with_source(files::source_name).with_file(names_.shard(0)).with_key(item.key);
      throw;
    }
  }

  // The outermost folder of a key must not have a name that begins with the table's name. Such a name could be that of
  // the table, or of a file next to the table.
  void refuse_names_of_the_table(const std::string& key, const std::string& given) const {
    if (key.starts_with(files::table_name) && key.find('/') != std::string::npos)
      refuse(Errc::invalid_argument,
             "the key asks for the folder \"" + printable(key.substr(0, key.find('/'))) +
                 "\", and names that begin with \"" + std::string(files::table_name) +
                 "\" are the table's; set keys to position",
             given);
  }

  void begin_store() override {
    const std::string mark(files::mark_name);
    int failed = 0;
    for (const std::string& name : names_in_folder(folder_, failed)) {
      // Ignores files of the operating system. Also ignores the files that a run leaves if it is killed before it
      // marks the folder as unfinished.
      if (name == mark + ".lock" || name == mark + ".new" || is_of_system(name)) continue;
      throw files::error_in(
          folder_, Errc::invalid_argument,
          "the folder is not empty, and what is in it (\"" + printable(name) +
              "\") was not begun by a run that can be continued; empty it, or write to another folder");
    }
    if (failed != 0) throw files::system_error(failed, "listing the folder", folder_);
  }

  void take_finished(const common::ShardNames::Found&) override { take_whole(names_.shard(0)); }

  std::map<std::string, std::uint64_t> numbers(bool finishing) const override {
    return {{"table_bytes", finishing || !table_ ? 0 : table_->bytes()}};
  }
  void take_numbers(const common::Journal& journal) override { committed_bytes_ = journal.number("table_bytes"); }

  void take_whole(const std::string& file) override { take(file, file_bytes(file, files::source_name).value_or(0)); }

  // Deletes the files that are not committed. The table has their names, so it is cut only after they are deleted.
  void continue_shard() override {
    const std::string file = names_.partial(0);
    const std::uint64_t bytes = file_bytes(file, files::source_name).value_or(0);
    if (bytes < committed_bytes_) refuse_there("its table is shorter than what was committed");
    if (committed_bytes_ != 0) take(file, committed_bytes_);
    if (there_.size() != samples_)
      refuse_there("its table has " + std::to_string(there_.size()) + " lines instead of the " +
                   std::to_string(samples_) + " that were committed");
    files_.open();
    files::TableLines lines(file, committed_bytes_);
    while (lines.next())
      if (is_own_name(lines.first_cell())) files_.remove(lines.first_cell());
    if (sync_ && bytes != committed_bytes_) files_.sync();
    begin_table(committed_bytes_);
  }
  void begin_shard() override { begin_table(0); }
  void begin_table(std::uint64_t keep_bytes) {
    files_.open_staging();
    table_.emplace(names_.partial(0), keep_bytes, files::source_name);
    if (keep_bytes == 0) table_->append(columns_.header());
  }
  void end_shard() override {
    table_->close();
    if (!sync_) files_.sync();
  }

  // With `sync`, a file's bytes are on the disk before the file gets its name, because a file that has its name counts
  // as complete. The table's line is then on the disk too, because a run that continues finds uncommitted files by
  // their lines.
  void write_commit() override {
    table_->flush();
    if (sync_) files_.sync();
    files_.give_names();
    if (sync_) files_.sync();
  }
  void sync_beside() override {
    files_.open();
    files_.sync();
  }
  void remove_beside() override { files_.remove_staging(); }

  std::uint64_t samples_before() const override { return there_.size(); }
  std::string describe_before(std::uint64_t number) const override {
    const std::string whole = names_.shard(0);
    files::TableLines lines(file_bytes(whole, files::source_name) ? whole : names_.partial(0), 0);
    bool there = lines.next();  // the header
    for (std::uint64_t i = 0; there && i <= number; ++i) there = lines.next();
    return there ? "of the key \"" + printable(key_in(lines.first_cell())) + "\"" : "number " + std::to_string(number);
  }

  // Reads which samples are in the first `bytes` bytes of a table.
  void take(const std::string& file, std::uint64_t bytes) {
    const std::string& header = columns_.header();
    std::string begin(header.size(), '\0');
    const FileDescriptor open(uninterrupted([&] { return ::open(file.c_str(), O_RDONLY | O_CLOEXEC); }));
    if (open.get() < 0) throw files::system_error(errno, "opening", file);
    if (read_whole(open.get(), std::as_writable_bytes(std::span(begin)), 0) != begin.size() || begin != header)
      refuse_there("the first line of its table is not " + printable(header.substr(0, header.size() - 1)));
    files_.open();
    files::TableLines lines(file, header.size());
    while (lines.end() < bytes && lines.next()) {
      const std::string& name = lines.first_cell();
      if (!is_own_name(name) || !files_.is_file(name))
        refuse_there("the file \"" + printable(name) + "\" of its table is not there");
      files_.use_extension(std::string_view(name).substr(key_in(name).size() + 1));
      there_.push_back(hash_of(key_in(name)));
    }
    if (lines.end() != bytes) refuse_there("its table is not as it was written");
  }

  const FilesSinkOptions options_;
  const std::string folder_;
  files::TableColumns columns_;
  files::StagedFiles files_;
  std::vector<std::uint64_t> there_;  // hashes of the keys that earlier runs have committed
  std::optional<OutputFile> table_;
  std::uint64_t committed_bytes_ = 0;
};

std::string files_key(std::string_view key) { return common::key_as_file_name(key, common::KeyDots::none_in_front); }

FilesSink::FilesSink(FilesSinkOptions options) : options_(std::move(options)) {}
FilesSink::FilesSink(FilesSink&&) noexcept = default;
FilesSink& FilesSink::operator=(FilesSink&&) noexcept = default;
FilesSink::~FilesSink() = default;

void FilesSink::open(const SinkJob& job) {
  impl_.reset();
  impl_ = std::make_unique<Impl>(options_, job);
  was_finished_ = impl_->was_finished();
}

bool FilesSink::has(const SinkItem& item) { return common::opened(impl_).has(item); }
bool FilesSink::has_some() const { return common::opened(impl_).has_some(); }
void FilesSink::put(const SinkItem& item, Sample& sample) { common::opened(impl_).put(item, sample); }
void FilesSink::commit() { common::opened(impl_).commit(); }
void FilesSink::finish() {
  common::opened(impl_).finish();
  impl_.reset();  // releases the files
}

}  // namespace penstock
