// SPDX-License-Identifier: Apache-2.0
#include "store/errors.hpp"

#include <lmdb.h>

#include <cerrno>

#include <penstock/extend/system_error.hpp>

namespace penstock::lmdb {

namespace {

struct Meaning {
  Errc code;
  const char* text;
};

Meaning meaning_of(int code) {
  switch (code) {
    case MDB_INVALID:
      return {Errc::corrupt, "the file is not an LMDB store, or its first pages are damaged"};
    case MDB_VERSION_MISMATCH:
      return {Errc::unsupported, "the file is of another version of LMDB's format"};
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
      return {Errc::corrupt, "LMDB's tree is damaged"};
    case MDB_NOTFOUND:
      return {Errc::not_found, "there is no such key"};
    case MDB_READERS_FULL:
      return {Errc::invalid_argument,
              "all reader slots of the store are taken; use fewer threads, or close the other processes that read it"};
    case MDB_MAP_RESIZED:
      return {Errc::io, "another process let the store grow past what is mapped; open it again"};
    case MDB_INCOMPATIBLE:
      return {Errc::unsupported, "the record is a table of tables, which is not supported"};
    case MDB_MAP_FULL:
      return {Errc::io, "the memory map is full"};
    case MDB_TXN_FULL:
      return {Errc::io, "the transaction is too large; commit more often"};
    case MDB_BAD_VALSIZE:
      return {Errc::invalid_argument, "a key must have 1 to 511 bytes, a value fewer than 4 GiB"};
    case ENOENT:
      return {Errc::not_found, nullptr};
    case ENODEV:
      return {
          Errc::io,
          "the store's file system has no memory maps, which LMDB reads and writes by; copy the store to another one"};
    case ENOMEM:
      return {Errc::out_of_memory, nullptr};
    default:
      return {Errc::io, nullptr};
  }
}

}  // namespace

Error error_of(int code, std::string_view doing, std::string_view file) {
  const Meaning meaning = meaning_of(code);
  std::string cause(doing);
  cause += ": ";
  cause += meaning.text != nullptr ? meaning.text : mdb_strerror(code);
  Error error(meaning.code, std::move(cause));
  error.with_source("lmdb").with_file(file);
  return error;
}

Error write_error(int code, std::string_view doing, const std::string& file, std::size_t bytes) {
  // If a full disk cuts a write short, LMDB reports EIO.
  if (code != ENOSPC && code != EIO && code != EDQUOT && code != EFBIG) return error_of(code, doing, file);
  return penstock::write_error(source_name, code, doing, file, bytes);
}

}  // namespace penstock::lmdb
