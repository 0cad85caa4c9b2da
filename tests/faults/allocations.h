// The program's memory runs out on demand: the allocation of a given number fails.
#pragma once

#include <cstdint>

namespace echolux::faults {

class Allocations {
  public:
    // Counts from 0 what is allocated from now on; `fail_at` below 0: none fails.
    static void begin(std::int64_t fail_at);
    static std::int64_t end();  // how many there were
};

// What the tests themselves allocate meanwhile, on this thread.
class NotCounted {
  public:
    NotCounted();
    ~NotCounted();
    NotCounted(const NotCounted&) = delete;
    NotCounted& operator=(const NotCounted&) = delete;
};

}  // namespace echolux::faults
