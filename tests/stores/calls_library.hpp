// SPDX-License-Identifier: Apache-2.0
// A library that stands before the C library: programs that are linked with it, or started with it in LD_PRELOAD, tell
// it of every call that changes files or reads from a place in one, and it lets the one that is chosen fail.
#pragma once

namespace penstock_test {

// Code of a write that writes only half of what it should.
constexpr int short_write = 10'000;
// Code that kills the process there: before the call, or with half of a write done.
constexpr int killed = 20'000;

}  // namespace penstock_test

extern "C" {

// From now on calls on what is below `folder` are numbered, from 1, and each is a line of the file `log`, unless that
// is null: number, name, path, second path or "-", offset, bytes, flags, and errno where it failed. Of the names in
// flags: "created", "writes" (it may be written to), "cut", "synced" (O_DSYNC), "folder". Syncs are noted and not done:
// nobody pulls the plug. The call number `fail_at` (0: none) fails with `code`; with a `name`, all calls of that name
// do ("fsync folder": those with that flag). Not with threads at work.
//
// In LD_PRELOAD the same is said by PENSTOCK_CALLS_FOLDER, _LOG, _FAIL_AT, _CODE and _NAME.
void penstock_calls_begin(const char* folder, const char* log, unsigned long fail_at, int code, const char* name);
// After `begin`: the bytes of each write go to this file, too, one after the other, and each write has its offset. In
// LD_PRELOAD: PENSTOCK_CALLS_DATA.
void penstock_calls_keep_data(const char* file);
// How many there were.
unsigned long penstock_calls_end(void);
}
