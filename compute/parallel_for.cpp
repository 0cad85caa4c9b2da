#include "compute/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#ifndef ECHOLUX_PLAIN_THREADS
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#endif

namespace echolux {
namespace {

std::atomic<int> wanted_threads{0};
#ifndef ECHOLUX_PLAIN_THREADS
std::atomic<std::shared_ptr<tbb::task_arena>> arena;  // null: oneTBB's default arena
#endif

}  // namespace

void set_thread_count(int count) {
    wanted_threads = std::max(count, 0);
#ifndef ECHOLUX_PLAIN_THREADS
    arena = count > 0 ? std::make_shared<tbb::task_arena>(count) : nullptr;
#endif
}

int thread_count() {
    const int wanted = wanted_threads;
    return wanted > 0 ? wanted : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

namespace detail {

#ifndef ECHOLUX_PLAIN_THREADS

void run_parallel(std::int64_t begin, std::int64_t end, void (*call)(const void*, std::int64_t), const void* body) {
    const auto loop = [&] {
        tbb::parallel_for(
            begin, end, [&](std::int64_t i) { call(body, i); }, tbb::simple_partitioner());
    };
    const std::shared_ptr<tbb::task_arena> limited = arena;
    if (limited) {
        limited->execute(loop);
    } else {
        loop();
    }
}

#else

void run_parallel(std::int64_t begin, std::int64_t end, void (*call)(const void*, std::int64_t), const void* body) {
    std::atomic<std::int64_t> next{begin};
    std::exception_ptr failure;
    std::mutex failure_mutex;
    const auto work = [&] {
        try {
            for (std::int64_t i = next++; i < end; i = next++) call(body, i);
        } catch (...) {
            const std::lock_guard lock(failure_mutex);
            failure = std::current_exception();
            next = end;
        }
    };
    {
        std::vector<std::jthread> threads;
        const auto count = std::min<std::int64_t>(thread_count(), end - begin);
        for (std::int64_t i = 1; i < count; ++i) threads.emplace_back(work);
        work();
    }
    if (failure) std::rethrow_exception(failure);
}

#endif

}  // namespace detail
}  // namespace echolux
