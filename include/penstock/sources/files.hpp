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

/// In which order files are records.
enum class FilesOrder : std::uint8_t {
  natural,  ///< the order people count in: img2 before img10; folder by folder
  bytes,    ///< the order of the path's bytes, by which a store sorts its keys
};

struct FileLabel;

namespace files {
template <class>
inline constexpr bool mistaken = false;

/// @throws Error(invalid_argument) for a number above 2^63 - 1.
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

/// The field with a file's class: its name, or a function of the file's path below the root ("cat/7.jpg"), or both. A
/// function that gives a whole number gives the label itself; one that gives text gives the class's name, and classes
/// are numbered from 0 in the order of their names' bytes.
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
  /// What is none of these: a compiler's error that says so.
  template <files::NoLabel F>
  FileLabel(F) {  // NOLINT(google-explicit-constructor)
    files::explain_label<F>();
  }
  /// What is no function of a path, after a name: a compiler's error that says so.
  template <files::NoLabel F>
  FileLabel(const std::string&, F) {
    files::explain_label<F>();
  }

  /// Name of the field.
  std::string field;
  /// The function, where it gives a whole number.
  std::function<std::int64_t(std::string_view)> number = {};
  /// The function, where it gives text.
  std::function<std::string(std::string_view)> class_name = {};
};

/// A folder of files to read from, one record a file. `from(Files{.root = "train"})` lists it.
///
/// A file's class is the folder it is in, just below `root` (`train/cat/7.jpg`: "cat"); classes are numbered from 0 in
/// the order of their names' bytes, empty folders included, or as `classes` says. The schema has their names. With
/// `labels` it is what that file says instead, and only the files named there are records; with a function as `label`,
/// what that gives for the file's path.
///
/// What is hidden, or an operating system's (Thumbs.db, __MACOSX, @eaDir), is skipped. A folder that a FilesSink has
/// not finished is refused. The sink's table, `records.csv` in `root`, is not counted as left out. Links are followed,
/// but not a link to a folder it lies in, nor one that leads nowhere. A folder that several links lead to stands under
/// each of their names, so two may be two classes of the same files. Where links lead to folders of links, so that the
/// ways to the same folders become far more than there are folders (16 times as many and 10,000, or entries in them and
/// a million), it is refused: Error(limit_exceeded).
struct Files {
  using Source = class FilesSource;  ///< what it opens
  /// The folder.
  std::string root;
  /// A CSV file of `file,label` lines: files as paths below `root`, labels whole numbers of 64 bits throughout, or
  /// names (numbered in the order of their bytes). Cells are separated by commas, or by semicolons or tabs where commas
  /// make no table of it, or the file's name ends in .tsv. Spaces and tabs around cells are no part of them, but in
  /// quotes; more cells a line are ignored. Where one label is no whole number, all are names, and `plan()` says so. A
  /// first line is a heading where its first cell names no file that is there. It is none, and its file is missing,
  /// where its label is a number or another line's too, or its name ends as another line's does, in .jpg, say.
  /// `file,label`, as FilesSink writes it, is a heading in any case.
  std::string labels = {};
  /// Endings of the files that are records, without dot, upper or lower case; empty = all files. Files named in
  /// `labels` may have any.
  std::vector<std::string> extensions = {"jpg", "jpeg", "png", "bmp", "gif", "tif", "tiff", "webp"};
  /// In which order files are records.
  FilesOrder order = FilesOrder::natural;
  std::string field = "image";  ///< name of the field with the file's bytes
  FileLabel label = "label";    ///< name of the field with the class's number, or a function that gives it: called once
                                ///< for each file, when they are listed, on that thread
  /// The classes and their numbers, where they shall not be those that are found: a test set is read with
  /// `.classes = train.schema().at("label").classes`. A file of another class is refused. Where labels are numbers,
  /// these are their names. Empty: what is found.
  ClassNames classes = {};
};

/// The files below a folder: {image: u8[?], label: i64[]}, or {image: u8[?]} where they lie in `root` itself and have
/// nothing gives them labels. They are listed once, when this is made. Immutable; copies share the list; any thread.
class PENSTOCK_API FilesSource {
 public:
  /// @throws Error(not_found) for a missing folder, or a file that `labels` names and that isn't there; Error(corrupt)
  /// for a CSV file that isn't one; Error(invalid_argument) for an empty label or a number of more than 64 bits, for a
  /// class that `classes` lacks or names twice, for both `labels` and a function, where some files have a class and
  /// others lie in `root` itself, and for a folder that a FilesSink has not finished; what the function throws, where
  /// that is no Error as Error(user), with the file.
  explicit FilesSource(Files options);

  /// Number of files.
  std::uint64_t size() const noexcept;
  /// {image: u8[?], label: i64[]}, or the image alone where nothing gives labels.
  Schema schema() const;
  /// Reads the whole file. @throws Error(not_found | io), with file, key and index.
  void read(std::uint64_t index, SampleBuilder& out) const;

  /// The source's name in errors and `plan()`.
  std::string name() const { return "files"; }
  /// The folder.
  std::string file() const;
  /// The file's path with the folder before it, "train/cat/7.jpg". @throws Error(not_found) past the end.
  std::string file_of(std::uint64_t index) const;
  /// The file's path below the folder as bytes, without its ending: "cat/7" for cat/7.jpg, so that images and masks,
  /// or a store they were packed into, have the same keys. An ending is one of `extensions` (where all files are
  /// wanted, of those it has by default). Where keys would be the same, for cat/7.jpg and cat/7.png, these files keep
  /// theirs.
  /// @throws Error(not_found) past the end.
  std::string key(std::uint64_t index) const;
  /// The file's path below the folder, "cat/7.jpg", as bytes. @throws Error(not_found) past the end.
  std::string path(std::uint64_t index) const;
  /// Files that are no records, and why; where there is none at all, what would be; where all files lie two folders
  /// deep, that the root may be too high.
  std::vector<std::string> notes() const;
  /// Hash of all paths, labels and file sizes; looks at every file the first time. A file that is gone by then counts
  /// as one of a size no file has.
  std::uint64_t identity() const;
  /// Hash of the files' sizes and times; looks at each of them.
  std::uint64_t revision() const;

  /// The classes' numbers, where `field` is that of labels. Reads no file.
  std::optional<std::vector<std::int64_t>> labels(std::string_view field) const;

  /// Files with one of the `extensions` that `labels` doesn't name.
  std::uint64_t skipped() const noexcept;
  /// Files that are no records because of their extension: with `labels`, those that it doesn't name. The table that
  /// FilesSink writes does not count.
  std::uint64_t ignored() const noexcept;
  /// The same by their endings: "12 files (.gz 8, .txt 4)"; empty where there are none.
  std::string passed_over() const;
  /// Links that couldn't be followed, and were left out; 0 with `labels`, which must name files that are there.
  std::uint64_t broken_links() const noexcept;
  /// The first line of `labels` whose label is of another kind than the first one's, whole number or name, or is a
  /// number with a fraction, which is neither. All labels are names then, whole numbers too. 0 = there is none such.
  std::uint64_t mixed_labels_line() const noexcept;

 private:
  class Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace penstock
