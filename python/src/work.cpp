#include "python/src/work.h"

#include <nanobind/stl/string.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>

namespace echolux::python {
namespace {

std::atomic<pid_t> owner{0};  // of the library's threads; 0: none were started yet

constexpr std::chrono::milliseconds between_looks{50};

}  // namespace

void require_own_threads() {
    const pid_t process = getpid();
    pid_t expected = 0;
    if (owner.compare_exchange_strong(expected, process) || expected == process) return;
    auto error = api::make<echolux_error>();
    error.code = ECHOLUX_UNSUPPORTED;
    std::string("this process was forked from one that used echolux before, and has none of its threads")
        .copy(error.what, sizeof error.what - 1);
    std::string("start processes with multiprocessing.get_context(\"spawn\"), or use echolux in them only")
        .copy(error.remedy, sizeof error.remedy - 1);
    throw api::Error(error);
}

void check_signals() {
    const nb::gil_scoped_acquire ours;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

bool Watch::tell(const std::string& task, std::int64_t done, std::int64_t total) {
    const std::lock_guard<std::mutex> mine(lock_);
    task_ = task;
    done_ = done;
    total_ = total;
    has_news_ = true;
    return !is_stopped_;
}

void Watch::finish(std::exception_ptr problem) noexcept {
    const std::lock_guard<std::mutex> mine(lock_);
    problem_ = std::move(problem);
    is_finished_ = true;
    changed_.notify_all();
}

// Whether there was something to show.
bool Watch::show(const nb::object& told, std::unique_lock<std::mutex>& mine) {
    if (!std::exchange(has_news_, false) || told.is_none()) return false;
    const std::string task = task_;
    const std::int64_t done = done_, total = total_;
    mine.unlock();
    {
        const nb::gil_scoped_acquire ours;
        told(task, done, total);
    }
    mine.lock();
    return true;
}

void Watch::wait(const nb::object& told) {
    const nb::gil_scoped_release others_may_run;
    std::unique_lock<std::mutex> mine(lock_);
    try {
        while (!changed_.wait_for(mine, between_looks, [this] { return is_finished_; })) {
            mine.unlock();
            check_signals();
            mine.lock();
            show(told, mine);
        }
        if (problem_) std::rethrow_exception(problem_);
        show(told, mine);
    } catch (...) {
        if (!mine.owns_lock()) mine.lock();
        is_stopped_ = true;
        throw;
    }
}

namespace {

std::mutex working_lock;
std::condition_variable one_ended;
int working = 0;

}  // namespace

Worker::Worker() {
    const std::lock_guard<std::mutex> mine(working_lock);
    ++working;
}

Worker::~Worker() {
    const std::lock_guard<std::mutex> mine(working_lock);
    --working;
    one_ended.notify_all();
}

void Worker::wait_for_all() {
    if (owner != getpid()) return;  // none are here
    const nb::gil_scoped_release others_may_run;
    std::unique_lock<std::mutex> mine(working_lock);
    one_ended.wait(mine, [] { return working == 0; });
}

}  // namespace echolux::python
