// SPDX-License-Identifier: Apache-2.0
#include "kills.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "support/catch.hpp"

namespace penstock_test {

namespace {

unsigned number_in(const char* name, unsigned otherwise) {
  const std::string text = variable(name);
  return text.empty() ? otherwise : static_cast<unsigned>(std::strtoul(text.c_str(), nullptr, 10));
}

}  // namespace

Kills::Kills(std::string what, std::vector<Delicate> delicate)
    : what_(std::move(what)),
      delicate_(std::move(delicate)),
      random_(number_in("PENSTOCK_SEED", 1)),
      wanted_(number_in("PENSTOCK_KILLS", 10)),
      long_run_(!variable("PENSTOCK_KILLS").empty()) {}

void Kills::measure(Child& child) {
  const auto never = Clock::now() + std::chrono::hours(1);
  if (!child.wait_for("begun", 1, never)) {
    child.was_killed();
    throw std::runtime_error("the program ended and never said that it had begun");
  }
  until_begun_ = Clock::now() - child.started();
  if (child.was_killed()) throw std::runtime_error("a program that nobody should kill was killed");
  at_work_ = Clock::now() - child.started() - until_begun_;
}

void Kills::hurry(Child& child, unsigned died_before) {
  const auto some_of = [this](Clock::duration most) {
    return Clock::duration(static_cast<Clock::rep>(random_() % (static_cast<std::uint64_t>(most.count()) + 1)));
  };
  const auto never = Clock::now() + std::chrono::hours(1);
  const std::uint64_t way = random_() % 8;
  if (way == 0) {  // also while it starts
    child.wait_until(child.started() + some_of(until_begun_ * 2));
  } else if (way <= 3 && !delicate_.empty()) {
    const unsigned times = 1 + static_cast<unsigned>(random_() % (2 + died_before));
    child.wait_for(delicate_[random_() % delicate_.size()].begins, times, never);
    child.wait_until(Clock::now() + some_of(std::chrono::microseconds(400)));
  } else {
    child.wait_for("begun", 1, never);
    // Later and later, so that a run comes to its end.
    child.wait_until(Clock::now() + some_of(at_work_ * (3 + died_before) / 20));
  }
  child.kill();
}

bool Kills::strike(Child& child, unsigned died_before) {
  if (enough() || finished_) {
    if (child.was_killed()) throw std::runtime_error("a program that nobody should kill was killed");
    return false;
  }
  hurry(child, died_before);
  if (!child.was_killed()) {
    ++survived_;
    return false;
  }
  if (child.told("finished") != 0) {
    ++late_;
    finished_ = true;
  } else if (child.told("begun") == 0) {
    ++early_;
  } else {
    ++middle_;
    inside_delicate_ += std::ranges::any_of(
        delicate_, [&](const Delicate& part) { return child.told(part.begins) > child.told(part.ends); });
  }
  return true;
}

void Kills::had_finished() {
  --middle_;
  ++late_;
  finished_ = true;
}

void Kills::run_completed() {
  ++runs_;
  finished_ = false;
}

void Kills::check() const {
  INFO(what_ << ": " << early_ << " kills came before the work had begun, " << middle_ << " in the middle, " << late_
             << " after its end; " << survived_ << " processes ended before they could be killed");
  CHECK(killed() >= wanted_);
  // Ten kills say little about shares.
  CHECK(middle_ * 10 >= killed() * (long_run_ ? 6 : 3));
  if (long_run_) {
    // The columns of the table that tests/campaigns/kills makes.
    std::printf("KILLS | %s | %u | %u | %u | %u | %u | %u | %u |\n", what_.c_str(), runs_, killed(), early_, middle_,
                inside_delicate_, late_, survived_);
    std::fflush(stdout);
  }
}

}  // namespace penstock_test
