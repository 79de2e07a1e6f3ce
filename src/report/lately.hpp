#pragma once

#include <string>

#include <penstock/report.hpp>

namespace penstock::detail::runtime {

/// What is to be said of the last seconds of a run, where something else bounds them than the whole, or they are much
/// slower or faster; else nothing.
std::string what_changed(const Report& whole, const Report& lately);

}  // namespace penstock::detail::runtime
