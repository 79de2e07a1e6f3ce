// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <penstock/detail/export.hpp>

namespace penstock {

/// What kind of failure an `Error` is. A policy (`on_error`) may act on the codes marked *sample*. The other codes
/// always end the run.
enum class Errc : std::uint8_t {
  invalid_argument,  ///< a call or an option that can't work, found before anything runs
  schema_mismatch,   ///< a field is missing, or its dtype, rank or shape is not what a stage needs
  unsupported,       ///< well-formed input of a kind that is not handled                          (*sample*)
  corrupt,           ///< damaged bytes: a decoder's error or warning, a checksum that differs     (*sample*)
  not_found,         ///< a file, key, index or field that doesn't exist                           (*sample*)
  io,                ///< the operating system refused or cut short a read or write                (*sample*)
  limit_exceeded,    ///< a declared size above `max_sample_bytes` or the decoder's pixel limit    (*sample*)
  user,              ///< an exception thrown by a user's source, transform or sink                (*sample*)
  out_of_memory,     ///< the byte budget, or the memory resource below it, is exhausted
  state_mismatch,    ///< a saved state belongs to another pipeline, or is damaged
  quota_exceeded,    ///< more samples failed than `on_error` allows
  leases_exhausted,  ///< `next()` was called while the caller held every batch of the ring
  closed,            ///< the loader, or the object it reads from, was closed or stopped
  forked,            ///< the library was used in a child process made by fork()
  device,            ///< a call of a device failed, or the device itself failed
  network,           ///< a server was not reached, or did not send what it has, also after repetitions
};

/// Returns the code's name as written above, for logs and JSON. Any thread.
PENSTOCK_API std::string_view to_string(Errc code) noexcept;

/// The only exception type of the library. `what()` is a single line that names everything that is known, and says what
/// to do. Texts from a damaged file may be long. If a cause has more than 2,000 bytes, the number of bytes that are
/// left out replaces its middle. `what()` shortens a stage or a key of more than 1,000 bytes in the same way.
///
/// Fields that don't apply are empty. Each part of the library fills the fields that it knows, first the part that
/// failed. For example, a decoder knows the cause and the offset. The source knows the key and the file. The engine
/// knows the stage and the sample's index. A caught error may get further fields before it is thrown again.
class PENSTOCK_API Error : public std::runtime_error {
 public:
  /// Makes an error. `cause` is one sentence that says what is wrong and, if the user can do something, what to do. The
  /// cause does not repeat the fields below.
  Error(Errc code, std::string cause);

  /// Kind of the error.
  Errc code() const noexcept { return code_; }
  /// What is wrong, and what to do, without the fields below. At most 2,000 bytes.
  const std::string& cause() const noexcept { return cause_; }
  /// Name of the stage as `plan()` prints it, for example "decode_jpeg(image)"; "read" for the source.
  const std::string& stage() const noexcept { return stage_; }
  /// Name of the source, for example "lmdb".
  const std::string& source() const noexcept { return source_; }
  /// The sample's key in its source (an LMDB key, a path below the root folder).
  const std::string& key() const noexcept { return key_; }
  /// The file that was being read or written.
  const std::string& file() const noexcept { return file_; }
  /// The sample's index in its source.
  std::optional<std::uint64_t> index() const noexcept { return index_; }
  /// Byte offset in the record or file where the damage was noticed.
  std::optional<std::uint64_t> offset() const noexcept { return offset_; }

  /// Sets the stage if none is set. Returns *this, like the other setters: `throw Error(...).with_stage(s)`.
  Error& with_stage(std::string_view stage);
  /// Sets the source if none is set. Returns *this.
  Error& with_source(std::string_view source);
  /// Sets the key if none is set. Returns *this.
  Error& with_key(std::string_view key);
  /// Sets the file if none is set. Returns *this.
  Error& with_file(std::string_view file);
  /// Sets the index if none is set. Returns *this.
  Error& with_index(std::uint64_t index);
  /// Sets the offset if none is set. Returns *this.
  Error& with_offset(std::uint64_t offset);

  /// True if an error policy may act on this error: it concerns one sample, and the next sample may be good.
  bool sample_scoped() const noexcept;

  const char* what() const noexcept override;

 private:
  void compose();

  Errc code_;
  std::string cause_, stage_, source_, key_, file_, what_;
  std::optional<std::uint64_t> index_, offset_;
};

}  // namespace penstock
