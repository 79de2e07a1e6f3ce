// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <penstock/class_names.hpp>
#include <penstock/detail/export.hpp>
#include <penstock/error.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/schema.hpp>

namespace penstock {

/// The order of files as records.
enum class FilesOrder : std::uint8_t {
  natural,  ///< as people count: img2 before img10; folder by folder
  bytes,    ///< by the path's bytes, as a store sorts its keys
};

struct FileLabel;

namespace files {
template <class>
inline constexpr bool mistaken = false;

/// Returns the number as i64. @throws Error(invalid_argument) if it is above 2^63 - 1.
template <std::integral N>
std::int64_t file_label(N number) {
  if constexpr (!std::same_as<N, bool>)
    if (!std::in_range<std::int64_t>(static_cast<std::common_type_t<N, int>>(number)))
      throw Error(Errc::invalid_argument,
                  "the function `label` gave " + std::to_string(number) + ", which is beyond 64 bits with a sign");
  return static_cast<std::int64_t>(number);
}

template <class F>
concept LabelFunction = std::integral<std::invoke_result_t<F&, std::string_view>> ||
    std::constructible_from<std::string, std::invoke_result_t<F&, std::string_view>>;

template <class F>
concept NoLabel =
    std::is_class_v<F> && !LabelFunction<F> && !std::constructible_from<std::string, F> && !std::same_as<F, FileLabel>;

template <class F>
constexpr void explain_label() {
  if constexpr (std::invocable<F&, std::string_view>)
    static_assert(mistaken<F>,
                  "penstock: the function `label` must return a whole number, the label, or text, the class's name");
  else
    static_assert(
        mistaken<F>,
        "penstock: `label` is a field's name, or a function that takes a file's path: [](std::string_view path) {...}");
}
}  // namespace files

/// The field with a file's class: the field's name, or a function of the file's path below the root ("cat/7.jpg"), or
/// both. If the function returns a whole number, that is the label. If it returns text, that is the name of the class,
/// and classes are numbered from 0 in the order of their names' bytes.
///
///     Files{.root = "scans", .label = [](std::string_view path) { return path.substr(0, path.find('_')); }}
struct FileLabel {
  /// The name of the field.
  FileLabel(const char* name) : field(name) {}  // NOLINT(google-explicit-constructor): a name is one
  /// The name of the field.
  FileLabel(std::string name) : field(std::move(name)) {}  // NOLINT(google-explicit-constructor)
  /// A function of the file's path, for a field named "label".
  template <files::LabelFunction F>
  FileLabel(F of_path)  // NOLINT(google-explicit-constructor): a function is one
      : FileLabel("label", std::move(of_path)) {}
  /// The name of the field, and a function of the file's path.
  template <files::LabelFunction F>
  FileLabel(std::string name, F of_path) : field(std::move(name)) {
    if constexpr (std::integral<std::invoke_result_t<F&, std::string_view>>)
      number = [f = std::move(of_path)](std::string_view path) { return files::file_label(f(path)); };
    else
      class_name = [f = std::move(of_path)](std::string_view path) { return std::string(f(path)); };
  }
  /// Overload for other types: fails to compile with the reason.
  template <files::NoLabel F>
  FileLabel(F) {  // NOLINT(google-explicit-constructor)
    files::explain_label<F>();
  }
  /// Overload for a name and a type that is not a function of a path: fails to compile with the reason.
  template <files::NoLabel F>
  FileLabel(const std::string&, F) {
    files::explain_label<F>();
  }

  /// Name of the field.
  std::string field;
  /// The function, if it returns a whole number.
  std::function<std::int64_t(std::string_view)> number = {};
  /// The function, if it returns text.
  std::function<std::string(std::string_view)> class_name = {};
};

/// A folder of files to read from, one record per file. `from(Files{.root = "train"})` lists it.
///
/// A file's class is the folder just below `root` that has the file (`train/cat/7.jpg`: "cat"). Classes are numbered
/// from 0 in the order of their names' bytes, including those of empty folders, or as `classes` says. The schema has
/// their names. With `labels`, that file gives the classes instead, and only the files that it names are records. With
/// a function as `label`, the function gives the class.
///
/// Hidden files, and files of an operating system (Thumbs.db, __MACOSX, @eaDir), are skipped. A folder that a FilesSink
/// has not finished is refused. The sink's table, `records.csv` in `root`, is not counted as left out.
///
/// Links are followed, except links to a folder that the link is in, and links that lead nowhere. If several links lead
/// to a folder, its files appear under each of their names, so the same files may be in two classes. Links to folders
/// of links may lead to the same folders in very many ways. Opening throws Error(limit_exceeded) if
/// - folders are read again more than 16 times their number, plus 10,000;
/// - entries of folders are read again more than 16 times their number, plus a million.
struct Files {
  using Source = class FilesSource;  ///< what it opens
  // What most callers set.
  /// The folder.
  std::string root;
  /// A CSV file of `file,label` lines. Files are paths below `root`. Default (empty): no such file.
  ///
  /// Labels are whole numbers of 64 bits, or names, which are numbered in the order of their bytes. If one label is not
  /// a whole number, all are names, and `plan()` reports it.
  ///
  /// Cells are separated by commas, or, if commas make no table of the file, by semicolons or tabs. In files named
  /// *.tsv or *.tab, tabs separate cells. Spaces and tabs around cells are ignored, except in quotes. Further cells of
  /// a line are ignored.
  ///
  /// The first line is a heading if its first cell is not an existing file. Exceptions, in which the file is missing:
  /// - the label is a number, or another line has the same label;
  /// - the file has the same extension as another line's file.
  ///
  /// `file,label`, as FilesSink writes it, is always a heading.
  std::string labels = {};
  // What changes results.
  /// Extensions of the files that are records, without the dot, in upper or lower case. Empty: all files. Files that
  /// `labels` names may have any extension.
  std::vector<std::string> extensions = {"jpg", "jpeg", "png", "bmp", "gif", "tif", "tiff", "webp"};
  /// The order of files as records.
  FilesOrder order = FilesOrder::natural;
  std::string field = "image";  ///< name of the field with the file's bytes
  /// Name of the field with the class's number, or a function that returns the class. The function is called once per
  /// file, when files are listed, on the thread that lists them.
  FileLabel label = "label";
  /// The classes in the order of their numbers, to give a test set the numbers of its training set:
  /// `.classes = train.schema().at("label").classes`. A file of any other class is refused. If labels are numbers,
  /// these are their names. Default (empty): the classes that are found.
  ClassNames classes = {};
};

/// The files below a folder: {image: u8[?], label: i64[]}. If the files are in `root` itself, and nothing gives them
/// labels: {image: u8[?]}. The source lists them once, when it is made. Immutable; copies share the list. Any thread
/// may use it.
class PENSTOCK_API FilesSource {
 public:
  /// Lists the files.
  /// @throws Error(not_found) if the folder, or a file that `labels` names, does not exist.
  /// @throws Error(corrupt) if `labels` is not a CSV file.
  /// @throws Error(invalid_argument) if
  /// - a label is empty, or a number of more than 64 bits;
  /// - `classes` lacks a class, or names one twice;
  /// - both `labels` and a function are given;
  /// - some files have a class, and others are in `root` itself;
  /// - a FilesSink has not finished the folder.
  /// @throws what the function `label` throws. What is not an Error becomes Error(user) with the file.
  explicit FilesSource(Files options);

  /// Number of files.
  std::uint64_t size() const noexcept;
  /// {image: u8[?], label: i64[]}, or only the image if nothing gives labels.
  Schema schema() const;
  /// Reads the whole file. @throws Error(not_found | io), with file, key and index.
  void read(std::uint64_t index, SampleBuilder& out) const;

  /// The source's name in errors and `plan()`.
  std::string name() const { return "files"; }
  /// The folder.
  std::string file() const;
  /// The file's path with the folder before it, "train/cat/7.jpg". @throws Error(not_found) past the end.
  std::string file_of(std::uint64_t index) const;
  /// The file's path below the folder as bytes, without its extension: "cat/7" for cat/7.jpg. So images and masks, or a
  /// store that they were packed into, have the same keys. Only the `extensions` are left out; if `extensions` is
  /// empty, only its default ones. Files that would have the same key, like cat/7.jpg and cat/7.png, keep their
  /// extensions.
  /// @throws Error(not_found) past the end.
  std::string key(std::uint64_t index) const;
  /// The file's path below the folder, "cat/7.jpg", as bytes. @throws Error(not_found) past the end.
  std::string path(std::uint64_t index) const;
  /// Files that are not records, and why. If there are no files at all: what would be records. If all files are two
  /// folders deep: that `root` may be one folder too high.
  std::vector<std::string> notes() const;
  /// Hash of all paths, labels and file sizes. Looks at every file the first time. A file that was deleted before that
  /// counts with a size that no file has.
  std::uint64_t identity() const;
  /// Hash of the files' sizes and times. Looks at every file.
  std::uint64_t revision() const;

  /// The classes' numbers, if `field` is the field with labels. Reads no file.
  std::optional<std::vector<std::int64_t>> labels(std::string_view field) const;

  /// Number of files with one of the `extensions` that `labels` doesn't name.
  std::uint64_t skipped() const noexcept;
  /// Number of files that are not records because of their extension. With `labels`, only files that `labels` doesn't
  /// name count. The table that FilesSink writes does not count.
  std::uint64_t ignored() const noexcept;
  /// The same by extension: "12 files (.gz 8, .txt 4)"; empty if there are none.
  std::string passed_over() const;
  /// Number of links that couldn't be followed and were left out. 0 with `labels`, which must name existing files.
  std::uint64_t broken_links() const noexcept;
  /// The first line of `labels` whose label is a number while the first label is a name, or the other way round. A
  /// number with a fraction counts, too. All labels are names then, also whole numbers. 0 if there is no such line.
  std::uint64_t mixed_labels_line() const noexcept;

 private:
  class Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace penstock
