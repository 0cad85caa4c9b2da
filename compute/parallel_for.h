// The one way to run a loop on all cores: oneTBB, or plain threads under the thread sanitizer.
#pragma once

#include <cstdint>

namespace echolux {

// 0: one thread a core. Applies to the loops that start afterwards. Allocates.
void set_thread_count(int count);
int thread_count();

namespace detail {
void run_parallel(std::int64_t begin, std::int64_t end, void (*call)(const void* body, std::int64_t index),
                  const void* body);
}

// body(i) for every i in [begin, end), each once, on some thread. Returns when all are done; an exception of a body is
// thrown here. Does not allocate, but for the first loop of a program, which starts the threads.
template <class Body>
void parallel_for(std::int64_t begin, std::int64_t end, const Body& body) {
    detail::run_parallel(
        begin, end, [](const void* b, std::int64_t index) { (*static_cast<const Body*>(b))(index); }, &body);
}

}  // namespace echolux
