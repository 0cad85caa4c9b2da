// Work that is tried in a copy of the process: what goes wrong there does not go wrong here, and is told.
#include "engine/io/trial.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "temporary_folder.h"

namespace echolux {
namespace {

constexpr TrialBounds some{.max_bytes = 256 << 20, .longest_s = 20};

void touch(std::size_t bytes) {
    std::vector<char> memory(bytes, 'x');
    if (memory[bytes / 2] != 'x') std::abort();
}

TEST(Trials, WhatGoesWellDoesNothingHere) {
    bool was_here = false;
    EXPECT_TRUE(survives([&] { was_here = true; }, some));
    EXPECT_FALSE(was_here);
}

TEST(Trials, CrashesAndEndlessWorkAreTold) {
    EXPECT_FALSE(survives([] { std::abort(); }, some));
    EXPECT_FALSE(survives([] { _exit(0); }, some)) << "a library that ends the program";
    EXPECT_FALSE(survives(
        [] {
            for (;;) pause();
        },
        {.max_bytes = 256 << 20, .longest_s = 1}));
}

TEST(Trials, MemoryBeyondTheBoundIsTold) {
    EXPECT_TRUE(survives([] { touch(64 << 20); }, some));
    EXPECT_FALSE(survives([] { touch(512 << 20); }, some));
    EXPECT_TRUE(survives([] { touch(512 << 20); }, {.max_bytes = 1 << 30})) << "it is the bound that refused it";
}

TEST(Trials, ErrorsAreThoseOfTheCopy) {
    const auto refuses = [] { throw Error(ErrorCode::bad_setting, "is wrong", "x.h5", ""); };
    const auto caught = error_of([&] { survives(refuses, some); });
    EXPECT_EQ(caught.code, ErrorCode::bad_setting);
    EXPECT_EQ(caught.line, "x.h5: is wrong");
    const std::string remedy(100'000, 'r');  // more than a pipe holds
    EXPECT_NE(error_of([&] {
                  survives([&] { throw Error(ErrorCode::bad_file, "is wrong", "x.h5", remedy); }, some);
              }).line.find(remedy),
              std::string::npos);
}

}  // namespace
}  // namespace echolux
