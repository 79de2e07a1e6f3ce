#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <penstock/detail/export.hpp>

namespace penstock {

/// What kind of failure an `Error` is. A policy (`on_error`) may act on the codes marked *sample*; the others always
/// end the run.
enum class Errc : std::uint8_t {
  invalid_argument,  ///< a call or an option that can't work, found before anything ran
  schema_mismatch,   ///< a field is missing, or has another dtype, rank or shape than a stage asks for
  unsupported,       ///< well-formed input of a kind that is not handled                          (*sample*)
  corrupt,           ///< damaged bytes: a decoder's error or warning, a checksum that differs     (*sample*)
  not_found,         ///< a file, key, index or field that isn't there                             (*sample*)
  io,                ///< the operating system refused or cut short a read or write                (*sample*)
  limit_exceeded,    ///< a declared size above `max_sample_bytes` or the decoder's pixel limit    (*sample*)
  user,              ///< an exception that left a user's source, transform or sink                (*sample*)
  out_of_memory,     ///< the byte budget, or the memory resource below it, is exhausted
  state_mismatch,    ///< a saved state that belongs to another pipeline, or is damaged
  quota_exceeded,    ///< more samples failed than `on_error` allows
  leases_exhausted,  ///< `next()` was called while the caller holds every batch of the ring
  closed,            ///< the loader, or the object it reads from, was closed or stopped
  forked,            ///< used in a child process made by fork()
  device,            ///< a call of a device failed, or the device itself
};

/// The code's name as written above, for logs and JSON. Any thread.
PENSTOCK_API std::string_view to_string(Errc code) noexcept;

/// The one exception type of the library. `what()` is a single line that names everything known, and what to do. Names
/// and words of a damaged file may be of any length: a cause of more than 2,000 bytes, and in `what()` a stage or key
/// of more than 1,000, has its middle replaced by the number of bytes that are left out.
///
/// Fields that don't apply are empty. Engine and stages fill them from the inside out: a decoder knows cause and
/// offset, the source its key and file, the engine the stage and the sample's index. Immutable once thrown.
class PENSTOCK_API Error : public std::runtime_error {
 public:
  /// `cause`: one sentence without the fields below, and, where there is something to do, what to do.
  Error(Errc code, std::string cause);

  /// What kind of error it is.
  Errc code() const noexcept { return code_; }
  /// What is wrong, and what to do, without the fields below. At most 2,000 bytes.
  const std::string& cause() const noexcept { return cause_; }
  /// Name of the stage as `plan()` prints it, e.g. "decode_jpeg(image)"; "read" for the source.
  const std::string& stage() const noexcept { return stage_; }
  /// Name of the source, e.g. "lmdb".
  const std::string& source() const noexcept { return source_; }
  /// The sample's key in its source (an LMDB key, a path below the root folder).
  const std::string& key() const noexcept { return key_; }
  /// The file that was being read or written.
  const std::string& file() const noexcept { return file_; }
  /// The sample's index in its source.
  std::optional<std::uint64_t> index() const noexcept { return index_; }
  /// Byte offset in the record or file where the damage was noticed.
  std::optional<std::uint64_t> offset() const noexcept { return offset_; }

  /// Says the stage, where it is not said yet. Returns *this, as the others do: `throw Error(...).with_stage(s)`.
  Error& with_stage(std::string_view stage);
  /// Says the source, where it is not said yet. Returns *this.
  Error& with_source(std::string_view source);
  /// Says the key, where it is not said yet. Returns *this.
  Error& with_key(std::string_view key);
  /// Says the file, where it is not said yet. Returns *this.
  Error& with_file(std::string_view file);
  /// Says the index, where it is not said yet. Returns *this.
  Error& with_index(std::uint64_t index);
  /// Says the offset, where it is not said yet. Returns *this.
  Error& with_offset(std::uint64_t offset);

  /// True when an error policy may act on this error: it belongs to one sample, and the next may be fine.
  bool sample_scoped() const noexcept;

  const char* what() const noexcept override;

 private:
  void compose();

  Errc code_;
  std::string cause_, stage_, source_, key_, file_, what_;
  std::optional<std::uint64_t> index_, offset_;
};

}  // namespace penstock
