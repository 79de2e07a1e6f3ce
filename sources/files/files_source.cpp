// SPDX-License-Identifier: Apache-2.0
#include <penstock/sources/files.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/file_descriptor.hpp>
#include <penstock/extend/system_error.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "common/natural_order.hpp"
#include "common/shard_names.hpp"
#include "errors.hpp"
#include "file_list.hpp"
#include "keys.hpp"
#include "labels.hpp"
#include "table_name.hpp"

namespace penstock {

namespace {

constexpr std::uint64_t no_size = ~std::uint64_t{0};

struct Record {
  std::string path;
  std::int64_t label = 0;
};

}  // namespace

class FilesSource::Impl {
 public:
  explicit Impl(Files options) : options_(std::move(options)), root_(open_root(options_.root)) {
    common::refuse_unfinished({options_.root + "/" + std::string(files::table_name)}, "", files::source_name);
    for (std::string& extension : options_.extensions)
      for (char& c : extension)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const bool by_path = options_.label.number || options_.label.class_name;
    if (by_path && !options_.labels.empty())
      throw files::error_in(options_.root, Errc::invalid_argument,
                            "labels come from the file `labels` or from the function `label`; say one");
    std::vector<Record> records = by_path ? by_function() : options_.labels.empty() ? by_folder() : by_labels();
    const bool natural = options_.order == FilesOrder::natural;
    std::sort(records.begin(), records.end(), [natural](const Record& a, const Record& b) {
      return natural ? common::natural_less(a.path, b.path) : a.path < b.path;
    });
    if (!options_.classes.empty()) number_as_asked(records);
    for (const Record& record : records) {
      paths_.add(record.path);
      if (labelled_) labels_.push_back(record.label);
    }
    endings_ = files::endings_beyond_keys(paths_, options_.extensions);
    schema_ = Schema{{options_.field, DType::u8, {dynamic}}};
    if (labelled_) schema_ = schema_.with({options_.label.field, DType::i64, {}, {}, classes_});
  }

  std::uint64_t size() const noexcept { return paths_.size(); }
  const Schema& schema() const noexcept { return schema_; }
  const std::string& root() const noexcept { return options_.root; }
  std::uint64_t skipped() const noexcept { return skipped_; }
  std::uint64_t ignored() const noexcept { return passed_over_.files(); }
  std::string passed_over() const { return passed_over_.text(); }
  std::uint64_t broken_links() const noexcept { return broken_links_; }
  std::uint64_t mixed_labels_line() const noexcept { return mixed_labels_line_; }

  std::vector<std::string> notes() const {
    std::vector<std::string> notes;
    const auto add = [&notes](std::uint64_t count, const char* noun, const std::string& why) {
      if (count != 0)
        notes.push_back(std::to_string(count) + " " + noun + (count == 1 ? " is" : "s are") + " left out: " + why);
    };
    std::string endings;
    for (const std::string& extension : options_.extensions) endings += (endings.empty() ? "" : ", ") + extension;
    add(skipped_, "file", "`labels` doesn't name them");
    if (ignored() != 0)
      notes.push_back(passed_over() + (ignored() == 1 ? " is" : " are") + " left out: " +
                      (options_.labels.empty() ? "`extensions` are " + endings : "`labels` doesn't name them"));
    add(broken_links_, "link", "they lead nowhere");
    if (mixed_labels_line_ != 0)
      notes.push_back("labels are not all whole numbers (line " + std::to_string(mixed_labels_line_) + " of " +
                      options_.labels + "), so all are names, numbered in the order of their bytes");
    if (!deeper_.empty())
      notes.push_back("all files lie in folders of their class's folder (" + deeper_ +
                      "): if those are the classes, the folder is one too high");
    if (size() == 0 && notes.empty()) notes.emplace_back("there are no files in the folder");
    return notes;
  }

  std::string_view path(std::uint64_t index) const {
    if (index < size()) return paths_[index];
    throw files::error_in(options_.root, Errc::not_found, "there are " + std::to_string(size()) + " files")
        .with_index(index);
  }

  std::string_view key(std::uint64_t index) const {
    const std::string_view path = this->path(index);
    return path.substr(0, path.size() - endings_[index]);
  }
  std::optional<std::vector<std::int64_t>> labels(std::string_view field) const {
    if (!labelled_ || field != options_.label.field) return std::nullopt;
    return labels_;
  }

  void read(std::uint64_t index, SampleBuilder& out) const {
    const std::string_view path = this->path(index);
    // O_NONBLOCK: if a pipe has replaced the file, opening does not wait for a writer.
    const FileDescriptor file(uninterrupted(
        [&] { return ::openat(root_.get(), path.data(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); }));
    if (file.get() < 0) fail(files::system_error(errno, "opening", file_of(index)), index);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0)
      fail(files::system_error(errno, "looking at its size", file_of(index)), index);
    if (!S_ISREG(status.st_mode)) fail(Error(Errc::io, "it is not a regular file any more"), index);
    const auto bytes = static_cast<std::size_t>(status.st_size);
    try {
      std::byte* const to = out.emplace(0, Shape{status.st_size}).data;
      if (const std::size_t got = read_whole(file.get(), {to, bytes}, 0); got < bytes) {
        if (errno != 0) throw files::system_error(errno, "reading", file_of(index)).with_offset(got);
        throw Error(Errc::io, "the file became shorter while it was read").with_offset(got);
      }
      if (labelled_) out.scalar<std::int64_t>(1, labels_[index]);
    } catch (Error& error) {
      fail(error, index);
    }
  }

  std::uint64_t identity() const {
    std::call_once(identity_once_, [this] {
      std::uint64_t hash = size();
      for (std::uint64_t i = 0; i < size(); ++i) {
        struct stat status {};
        // A missing file is not an error here. When it is read, the run's error policy decides.
        const bool there = ::fstatat(root_.get(), paths_[i].data(), &status, 0) == 0;
        const std::uint64_t facts[3] = {hash, there ? static_cast<std::uint64_t>(status.st_size) : no_size,
                                        labelled_ ? static_cast<std::uint64_t>(labels_[i]) : 0};
        hash = XXH3_64bits_withSeed(paths_[i].data(), paths_[i].size(), XXH3_64bits(facts, sizeof(facts)));
      }
      identity_ = hash;
    });
    return identity_;
  }

  std::uint64_t revision() const {
    std::uint64_t hash = 0;
    for (std::uint64_t i = 0; i < size(); ++i) {
      struct stat status {};
      if (::fstatat(root_.get(), paths_[i].data(), &status, 0) != 0) status = {};
      const std::int64_t facts[4] = {static_cast<std::int64_t>(hash), status.st_size, status.st_mtim.tv_sec,
                                     status.st_mtim.tv_nsec};
      hash = XXH3_64bits(facts, sizeof facts);
    }
    return hash;
  }

 private:
  static int open_root(const std::string& root) {
    const int fd = uninterrupted([&] { return ::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC); });
    if (fd < 0) throw files::system_error(errno, "opening the folder", root);
    return fd;
  }

  std::string file_of(std::uint64_t index) const { return options_.root + "/" + std::string(paths_[index]); }

  [[noreturn]] void fail(Error error, std::uint64_t index) const {
    throw error.with_source(files::source_name).with_file(file_of(index)).with_index(index).with_key(key(index));
  }

  std::string class_of(const std::string& path) const {
    std::string name = options_.label.class_name(path);
    if (name.find_first_not_of(" \t") == std::string::npos)
      throw Error(Errc::invalid_argument, "the function `label` gave an empty label");
    return name;
  }

  // Lists the files. Calls the user's function for the label of each file.
  std::vector<Record> by_function() {
    files::FolderContent content = files::list_folder(options_.root, options_.extensions);
    std::sort(content.files.begin(), content.files.end());
    std::vector<Record> records;
    std::vector<std::string> names;
    for (std::string& path : content.files) {
      Record record;
      try {
        if (options_.label.number)
          record.label = options_.label.number(path);
        else
          names.push_back(class_of(path));
      } catch (Error& error) {
        throw error.with_source(files::source_name).with_file(options_.root + "/" + path);
      } catch (const std::exception& error) {
        throw files::error_in(options_.root + "/" + path, Errc::user,
                              std::string("the function `label`: ") + error.what());
      }
      record.path = std::move(path);
      records.push_back(std::move(record));
    }
    classes_ = names;
    std::sort(classes_.begin(), classes_.end());
    classes_.erase(std::unique(classes_.begin(), classes_.end()), classes_.end());
    for (std::size_t i = 0; i < names.size(); ++i)
      records[i].label = std::lower_bound(classes_.begin(), classes_.end(), names[i]) - classes_.begin();
    labelled_ = true;
    broken_links_ = content.broken_links;
    passed_over_ = std::move(content.passed_over);
    return records;
  }

  std::vector<Record> by_folder() {
    files::FolderContent content = files::list_folder(options_.root, options_.extensions);
    std::vector<Record> records;
    std::uint64_t without_class = 0;
    for (std::string& path : content.files) {
      const std::size_t slash = path.find('/');
      Record record;
      if (slash == std::string::npos) {
        ++without_class;
      } else {
        const auto folder = std::lower_bound(content.folders.begin(), content.folders.end(), path.substr(0, slash));
        record.label = folder - content.folders.begin();
      }
      record.path = std::move(path);
      records.push_back(std::move(record));
    }
    labelled_ = without_class < records.size() || (records.empty() && !content.folders.empty());
    if (labelled_ && without_class != 0) {
      const auto stray = std::find_if(records.begin(), records.end(),
                                      [](const Record& r) { return r.path.find('/') == std::string::npos; });
      throw files::error_in(options_.root, Errc::invalid_argument,
                            std::to_string(without_class) +
                                (without_class == 1 ? " file lies in the folder itself (\""
                                                    : " files lie in the folder itself (the first: \"") +
                                stray->path +
                                "\"), the others in a folder for each class; move them, or give labels in a CSV file");
    }
    const auto is_deeper = [](const Record& r) { return r.path.find('/', r.path.find('/') + 1) != std::string::npos; };
    if (labelled_ && !records.empty() && std::all_of(records.begin(), records.end(), is_deeper))
      deeper_ = std::min_element(records.begin(), records.end(), [](const Record& a, const Record& b) {
                  return a.path < b.path;
                })->path;
    if (labelled_) classes_ = std::move(content.folders);
    broken_links_ = content.broken_links;
    passed_over_ = std::move(content.passed_over);
    return records;
  }

  std::vector<Record> by_labels() {
    const auto is_file = [&](const std::string& path) {
      struct stat status {};
      return !path.empty() && path.front() != '/' && path.find('\0') == std::string::npos &&
             ::fstatat(root_.get(), path.c_str(), &status, 0) == 0 && S_ISREG(status.st_mode);
    };
    files::Labels labels = files::read_labels(options_.labels, is_file);
    labelled_ = true;
    classes_ = std::move(labels.classes);
    mixed_labels_line_ = labels.mixed_line;
    std::vector<Record> records;
    std::unordered_set<std::string> named;
    for (files::Labels::Row& row : labels.rows) {
      struct stat status {};
      const bool there = ::fstatat(root_.get(), row.file.c_str(), &status, 0) == 0;
      if (!there || !S_ISREG(status.st_mode)) {
        throw files::error_in(options_.root + "/" + row.file, Errc::not_found,
                              "line " + std::to_string(row.line) + " of " + options_.labels + " names \"" + row.file +
                                  "\", which is " +
                                  (there ? "not a file" : std::string("not there: ") + std::strerror(errno)))
            .with_key(row.file);
      }
      named.insert(row.file);
      records.push_back({std::move(row.file), row.label});
    }
    for (const std::string& path : files::list_folder(options_.root, {}).files)
      if (!named.contains(path) && !files::is_of_sink(path)) {
        if (files::has_extension(path, options_.extensions))
          ++skipped_;
        else
          passed_over_.add_file(std::string_view(path).substr(path.rfind('/') + 1));
      }
    return records;
  }

  // Gives the records the numbers that their classes have in `Files::classes`. If the labels are numbers, only checks
  // that each is the number of a class. @throws Error(invalid_argument) if `Files::classes` has a class twice, or lacks
  // the class of a record or of an empty folder. Also throws if there are records without labels.
  void number_as_asked(std::vector<Record>& records) {
    const ClassNames& wanted = options_.classes;
    const auto refuse = [&](const std::string& why) {
      throw files::error_in(options_.root, Errc::invalid_argument, why + "; `classes` are the " + wanted.to_string());
    };
    if (!labelled_ && records.empty()) return;
    if (!labelled_) refuse("files that lie in the folder itself are of no class");
    std::unordered_map<std::string_view, std::int64_t> number_of;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (!number_of.emplace(wanted[i], i).second) refuse("`classes` name \"" + printable(wanted[i]) + "\" twice");
    std::vector<std::int64_t> numbers;
    for (const std::string& name : classes_) {
      const auto found = number_of.find(name);
      if (found == number_of.end()) refuse("there is a class \"" + printable(name) + "\"");
      numbers.push_back(found->second);
    }
    for (Record& record : records) {
      if (!classes_.empty()) record.label = numbers[static_cast<std::size_t>(record.label)];
      if (record.label < 0 || static_cast<std::uint64_t>(record.label) >= wanted.size())
        refuse("the file \"" + printable(record.path) + "\" has the label " + std::to_string(record.label));
    }
    classes_ = wanted.names();
  }

  Files options_;
  FileDescriptor root_;
  bool labelled_ = false;
  std::uint64_t skipped_ = 0, broken_links_ = 0, mixed_labels_line_ = 0;
  SkippedEntries passed_over_;
  std::string deeper_;                // the path of one file, if every file is in a folder inside its class's folder
  std::vector<std::string> classes_;  // names of classes by number; empty if classes have no names
  files::PathTable paths_;
  std::vector<std::uint8_t> endings_;  // how many bytes at the end of each path are not in its key
  std::vector<std::int64_t> labels_;
  Schema schema_;
  mutable std::once_flag identity_once_;
  mutable std::uint64_t identity_ = 0;
};

FilesSource::FilesSource(Files options) : impl_(std::make_shared<const Impl>(std::move(options))) {}

std::uint64_t FilesSource::size() const noexcept { return impl_->size(); }
Schema FilesSource::schema() const { return impl_->schema(); }
void FilesSource::read(std::uint64_t index, SampleBuilder& out) const { impl_->read(index, out); }
std::string FilesSource::file() const { return impl_->root(); }
std::string FilesSource::file_of(std::uint64_t index) const {
  return impl_->root() + "/" + std::string(impl_->path(index));
}
std::string FilesSource::key(std::uint64_t index) const { return std::string(impl_->key(index)); }
std::optional<std::vector<std::int64_t>> FilesSource::labels(std::string_view field) const {
  return impl_->labels(field);
}
std::string FilesSource::path(std::uint64_t index) const { return std::string(impl_->path(index)); }
std::uint64_t FilesSource::identity() const { return impl_->identity(); }
std::uint64_t FilesSource::revision() const { return impl_->revision(); }
std::uint64_t FilesSource::skipped() const noexcept { return impl_->skipped(); }
std::uint64_t FilesSource::ignored() const noexcept { return impl_->ignored(); }
std::string FilesSource::passed_over() const { return impl_->passed_over(); }
std::uint64_t FilesSource::broken_links() const noexcept { return impl_->broken_links(); }
std::vector<std::string> FilesSource::notes() const { return impl_->notes(); }
std::uint64_t FilesSource::mixed_labels_line() const noexcept { return impl_->mixed_labels_line(); }

}  // namespace penstock
