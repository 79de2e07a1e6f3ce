// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <new>
#include <optional>

#include <penstock/error.hpp>

namespace penstock::detail {

inline Error no_memory() { return Error(Errc::out_of_memory, "the system has no memory left"); }

/// Returns the exception in flight as an Error, whatever its type. Call inside a catch block.
inline Error current_error() {
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return no_memory();
  } catch (const std::exception& error) {
    return Error(Errc::user, error.what());
  } catch (...) {
    return Error(Errc::user, "an exception that is no std::exception");
  }
}

/// Returns the exception in flight as an Error of `stage`. Returns none if there is no memory to describe the
/// exception.
inline std::optional<Error> described_error(const char* stage) noexcept {
  try {
    Error error = current_error();
    error.with_stage(stage);
    return error;
  } catch (...) {
    return std::nullopt;
  }
}

}  // namespace penstock::detail
