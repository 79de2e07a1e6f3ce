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

/// Names the field with a file's class, and may say how the class is found. Takes the field's name, or a function of
/// the file's path below the root ("cat/7.jpg"), or both. If the function returns a whole number, the number is the
/// label. If it returns text, the text is the name of the class, and classes are numbered from 0 in the order of their
/// names' bytes.
///
///     Files{.root = "scans", .label = [](std::string_view path) { return path.substr(0, path.find('_')); }}
struct FileLabel {
  /// The name of the field.
  FileLabel(const char* name) : field(name) {}  // NOLINT(google-explicit-constructor): callers give a name
  /// The name of the field.
  FileLabel(std::string name) : field(std::move(name)) {}  // NOLINT(google-explicit-constructor)
  /// A function of the file's path, for a field named "label".
  template <files::LabelFunction F>
  FileLabel(F of_path)  // NOLINT(google-explicit-constructor): callers give a function
      : FileLabel("label", std::move(of_path)) {}
  /// The name of the field, and a function of the file's path.
  template <files::LabelFunction F>
  FileLabel(std::string name, F of_path) : field(std::move(name)) {
    if constexpr (std::integral<std::invoke_result_t<F&, std::string_view>>)
      number = [f = std::move(of_path)](std::string_view path) { return files::file_label(f(path)); };
    else
      class_name = [f = std::move(of_path)](std::string_view path) { return std::string(f(path)); };
  }
  /// Overload for other types. It does not compile, and the compiler's message says why.
  template <files::NoLabel F>
  FileLabel(F) {  // NOLINT(google-explicit-constructor)
    files::explain_label<F>();
  }
  /// Overload for a name and a type that is not a function of a path. It does not compile, and the compiler's message
  /// says why.
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
/// A file's class is the name of the folder just below `root` that contains the file (`train/cat/7.jpg`: "cat").
/// Classes, also those of empty folders, are numbered from 0 in the order of their names' bytes, or in the order of
/// `classes`. The schema has their names. If `labels` names a CSV file, that file gives the classes instead, and only
/// the files that it names are records. If `label` has a function, the function gives the classes instead.
///
/// Hidden files, and files of an operating system (Thumbs.db, __MACOSX, `@eaDir`), are skipped. A folder that a
/// FilesSink has not finished is refused. `ignored` does not count the files that a FilesSink adds to `root`,
/// `records.csv` and `records.csv-made-by.json`.
///
/// Links are followed. Links that lead nowhere are left out, and so are links to a folder that contains the link. If
/// several links lead to a folder, its files are listed once under the name of each link. So the same files may be in
/// two classes. If folders have links to folders with links, the same folder may be read very many times. Opening
/// throws Error(limit_exceeded) if
/// - the number of repeated reads of folders exceeds 16 times the number of folders, plus 10,000;
/// - the number of repeated reads of entries exceeds 16 times the number of entries, plus a million.
struct Files {
  using Source = class FilesSource;  ///< the source that `from` opens
  // What most callers set.
  /// The folder.
  std::string root;
  /// A CSV file with lines of the form `file,label`. Files are paths below `root`. Default (empty): no such file.
  ///
  /// Labels are whole numbers of 64 bits, or names of classes, which are numbered in the order of the names' bytes. If
  /// one label is not a whole number, all labels are names. `plan()` reports this if some labels are numbers.
  ///
  /// Cells are separated by commas, or, if commas do not give lines of at least two cells, by semicolons or tabs. In
  /// files named *.tsv or *.tab, tabs separate cells. Spaces and tabs around cells are ignored, except in quotes. Cells
  /// after the second one of a line are ignored.
  ///
  /// The first line is a heading if its first cell is not an existing file. In two cases, however, it is a record whose
  /// file is missing, which is an error:
  /// - the label is a number, or another line has the same label;
  /// - the file has the same extension as another line's file.
  ///
  /// The first line `file,label`, which FilesSink writes, is always a heading, except if `root` has a file with the
  /// name "file".
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
  /// `classes` has the names of the numbers from 0 on. Default (empty): the classes that are found.
  ClassNames classes = {};
};

/// The files below a folder, one record per file: {image: u8[?], label: i64[]}. If the files are in `root` itself, and
/// nothing gives them labels, records are {image: u8[?]}. The source lists the files once, when it is made. Immutable;
/// copies share the list. Any thread may use it.
class PENSTOCK_API FilesSource {
 public:
  /// Lists the files.
  /// @throws Error(not_found) if the folder, the file `labels`, or a file that `labels` names does not exist.
  /// @throws Error(corrupt) if `labels` is not a CSV file, or one of its lines has no label.
  /// @throws Error(invalid_argument) if
  /// - a label is empty, or a whole number of more than 64 bits, or labels are numbers with a decimal comma;
  /// - `labels` names a file twice, or a file that is not below `root`;
  /// - `classes` lacks a class, or names one twice;
  /// - both `labels` and a function are given;
  /// - some files have a class, and others are in `root` itself;
  /// - a FilesSink has not finished the folder.
  /// @throws what the function `label` throws. An exception that is not an Error becomes Error(user) with the file.
  explicit FilesSource(Files options);

  /// Number of files.
  std::uint64_t size() const noexcept;
  /// {image: u8[?], label: i64[]}, or only `image` if nothing gives labels.
  Schema schema() const;
  /// Reads the whole file. @throws Error(not_found | io), with file, key and index.
  void read(std::uint64_t index, SampleBuilder& out) const;

  /// The source's name in errors and `plan()`.
  std::string name() const { return "files"; }
  /// The folder.
  std::string file() const;
  /// The file's path with the folder before it, "train/cat/7.jpg". @throws Error(not_found) past the end.
  std::string file_of(std::uint64_t index) const;
  /// The file's path below the folder, as bytes and without its extension: "cat/7" for cat/7.jpg. So images, their
  /// masks, and stores that they were packed into have the same keys. An extension is removed only if it is one of
  /// `Files::extensions`. If that list is empty, the default extensions are removed. Files that would have the same
  /// key, like cat/7.jpg and cat/7.png, keep their extensions.
  /// @throws Error(not_found) past the end.
  std::string key(std::uint64_t index) const;
  /// The file's path below the folder, "cat/7.jpg", as bytes. @throws Error(not_found) past the end.
  std::string path(std::uint64_t index) const;
  /// Says which files are not records, and why. If the folder has no files at all, says that. If folders give the
  /// classes, and all files are at least two folders deep, says that `root` may be one folder too high.
  std::vector<std::string> notes() const;
  /// Hash of all paths, labels and file sizes. The first call looks at every file, and later calls return the same
  /// hash. A file that does not exist any more counts with a size that no file has.
  std::uint64_t identity() const;
  /// Hash of the files' sizes and times. Looks at every file.
  std::uint64_t revision() const;

  /// The label of each record, if `field` is the field with labels; otherwise none. Reads no file.
  std::optional<std::vector<std::int64_t>> labels(std::string_view field) const;

  /// Number of files with one of the `extensions` that are not records, because `labels` doesn't name them. 0 without
  /// `labels`.
  std::uint64_t skipped() const noexcept;
  /// Number of files that are not records, and have none of the `extensions`. The files that a FilesSink adds to `root`
  /// do not count.
  std::uint64_t ignored() const noexcept;
  /// The files that `ignored` counts, by extension: "12 files (.gz 8, .txt 4)". Empty if `ignored` is 0.
  std::string passed_over() const;
  /// Number of links that couldn't be followed and were left out. 0 with `labels`, which must name existing files.
  std::uint64_t broken_links() const noexcept;
  /// The first line of `labels`, counted from 1, whose label has a fraction, or is of another kind (whole number or
  /// name) than the first label. If there is such a line, all labels are names, also the whole numbers. 0 if all labels
  /// are whole numbers, or if all are text.
  std::uint64_t mixed_labels_line() const noexcept;

 private:
  class Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace penstock
