#pragma once

#include <exception>
#include <new>

#include <penstock/error.hpp>

namespace penstock::detail {

/// The exception in flight, whatever it is, as an Error. Call inside a catch block.
inline Error current_error() {
  try {
    throw;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error(Errc::out_of_memory, "the system has no memory left");
  } catch (const std::exception& error) {
    return Error(Errc::user, error.what());
  } catch (...) {
    return Error(Errc::user, "an exception that is no std::exception");
  }
}

}  // namespace penstock::detail
