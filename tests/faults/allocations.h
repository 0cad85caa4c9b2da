// Simulates out-of-memory: makes the nth allocation of the program fail.
#pragma once

#include <cstdint>

namespace echolux::faults {

class Allocations {
  public:
    // Starts counting allocations from 0. A negative `fail_at` lets all succeed.
    static void begin(std::int64_t fail_at);
    static std::int64_t end();  // returns the number of allocations
};

// Excludes the tests' own allocations on this thread from the count.
class UncountedScope {
  public:
    UncountedScope();
    ~UncountedScope();
    UncountedScope(const UncountedScope&) = delete;
    UncountedScope& operator=(const UncountedScope&) = delete;
};

}  // namespace echolux::faults
