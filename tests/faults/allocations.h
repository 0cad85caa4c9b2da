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
class NotCounted {
  public:
    NotCounted();
    ~NotCounted();
    NotCounted(const NotCounted&) = delete;
    NotCounted& operator=(const NotCounted&) = delete;
};

}  // namespace echolux::faults
