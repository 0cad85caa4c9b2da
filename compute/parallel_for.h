// Runs loops on all cores: with oneTBB, or with plain threads under the thread sanitizer.
#pragma once

#include <cstdint>

namespace echolux {

// Sets the number of threads of subsequent loops. 0: one thread per core. Allocates.
void set_thread_count(int count);
int thread_count();

namespace detail {
void run_parallel(std::int64_t begin, std::int64_t end, void (*call)(const void* body, std::int64_t index),
                  const void* body);
}

// Calls body(i) exactly once for every i in [begin, end), on any thread. Blocks until all calls have returned, and
// rethrows an exception of a body. Does not allocate, except in the program's first loop, which starts the threads.
template <class Body>
void parallel_for(std::int64_t begin, std::int64_t end, const Body& body) {
    detail::run_parallel(
        begin, end, [](const void* b, std::int64_t index) { (*static_cast<const Body*>(b))(index); }, &body);
}

}  // namespace echolux
