#include "python/src/work.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>

namespace echolux::python {
namespace {

std::atomic<pid_t> owner{0};  // of the library's threads; 0: none started yet

constexpr std::chrono::milliseconds signal_check_interval{50};  // delay of KeyboardInterrupt and of progress

// Never destroyed: threads may wait at it until the process ends.
struct Gate {
    std::mutex lock;
    std::condition_variable changed;
    std::atomic<bool> is_shut{false};
    std::thread::id keeper;  // thread that shut it
    // Threads that work in the library without the interpreter lock, that have or await the lock, and that work for a
    // call of another thread.
    int outside = 0, inside = 0, workers = 0;
};
Gate& gate = *new Gate;

// The part of these counts that belongs to this thread: calls, and callbacks made by them.
thread_local int outside_here = 0, inside_here = 0;

bool is_shut_for(std::thread::id thread) {
    return gate.is_shut && gate.keeper != thread;
}

bool is_shut_here() {
    return is_shut_for(std::this_thread::get_id());
}

void count(int& all, int& here, int by) {
    all += by;
    here += by;
    gate.changed.notify_all();
}

// Blocks this thread until the process ends, and removes it from the counts so that shut() does not wait for it.
[[noreturn]] void stay_outside(std::unique_lock<std::mutex>& guard) {
    count(gate.outside, outside_here, -outside_here);
    count(gate.inside, inside_here, -inside_here);
    guard.unlock();
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace

bool is_fork() {
    const pid_t process = owner;
    return process != 0 && process != getpid();
}

GilRelease::GilRelease() : state_(PyEval_SaveThread()) {
    std::unique_lock<std::mutex> guard(gate.lock);
    if (is_shut_here()) stay_outside(guard);
    count(gate.outside, outside_here, 1);
}

GilRelease::~GilRelease() {
    std::unique_lock<std::mutex> guard(gate.lock);
    if (is_shut_here()) stay_outside(guard);
    count(gate.outside, outside_here, -1);
    count(gate.inside, inside_here, 1);  // count it until it has the lock; otherwise Python could end the thread here
    guard.unlock();
    PyEval_RestoreThread(state_);
    guard.lock();
    count(gate.inside, inside_here, -1);
}

GilAcquire::GilAcquire() : GilAcquire(std::nothrow) {
    if (is_open_) return;
    std::unique_lock<std::mutex> guard(gate.lock);
    stay_outside(guard);
}

GilAcquire::GilAcquire(std::nothrow_t) {
    std::unique_lock<std::mutex> guard(gate.lock);
    is_open_ = !is_shut_here();
    if (!is_open_) return;
    count(gate.inside, inside_here, 1);
    guard.unlock();
    state_ = PyGILState_Ensure();
}

GilAcquire::~GilAcquire() {
    if (!is_open_) return;
    PyGILState_Release(state_);
    const std::lock_guard<std::mutex> guard(gate.lock);
    count(gate.inside, inside_here, -1);
}

void shut() {
    if (is_fork()) return;  // no other thread exists here
    const nb::gil_scoped_release gil_release;
    std::unique_lock<std::mutex> guard(gate.lock);
    gate.keeper = std::this_thread::get_id();
    gate.is_shut = true;
    const auto is_empty = [] { return gate.outside == 0 && gate.inside == 0 && gate.workers == 0; };
    while (!gate.changed.wait_for(guard, signal_check_interval, is_empty)) {
        guard.unlock();
        check_signals();
        guard.lock();
    }
}

// The first call makes this process the owner. A child of fork() inherits the value but not the threads.
void require_own_threads() {
    pid_t expected = 0;
    if (owner.compare_exchange_strong(expected, getpid()) || !is_fork()) return;
    auto error = api::make<echolux_error>();
    error.code = ECHOLUX_UNSUPPORTED;
    std::string("this process was forked from one that used echolux before, and has none of its threads")
        .copy(error.what, sizeof error.what - 1);
    std::string("start processes with multiprocessing.get_context(\"spawn\"), or use echolux in them only")
        .copy(error.remedy, sizeof error.remedy - 1);
    throw api::Error(error);
}

void check_signals() {
    const GilAcquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

bool Watch::report(const std::string& task, std::int64_t done, std::int64_t total) {
    const std::lock_guard<std::mutex> guard(lock_);
    task_ = task;
    done_ = done;
    total_ = total;
    has_news_ = true;
    return !is_stopped_ && !is_shut_for(waiter_);
}

void Watch::finish(std::exception_ptr problem) noexcept {
    const std::lock_guard<std::mutex> guard(lock_);
    problem_ = std::move(problem);
    is_finished_ = true;
    changed_.notify_all();
}

// Returns true if there was something to show.
bool Watch::show(const nb::object& on_progress, std::unique_lock<std::mutex>& guard) {
    if (!std::exchange(has_news_, false) || on_progress.is_none()) return false;
    const std::string task = task_;
    const std::int64_t done = done_, total = total_;
    guard.unlock();
    {
        const GilAcquire gil;
        on_progress(task, done, total);
    }
    guard.lock();
    return true;
}

// Signal handlers of Python run on the main thread only, and only while it executes Python or asks for them, so a wait
// for the condition alone would delay KeyboardInterrupt until the work ends.
void Watch::wait(const nb::object& on_progress) {
    const GilRelease gil_release;
    std::unique_lock<std::mutex> guard(lock_);
    try {
        while (!changed_.wait_for(guard, signal_check_interval, [this] { return is_finished_; })) {
            guard.unlock();
            check_signals();
            guard.lock();
            show(on_progress, guard);
        }
        if (problem_) std::rethrow_exception(problem_);
        show(on_progress, guard);
    } catch (...) {
        if (!guard.owns_lock()) guard.lock();
        is_stopped_ = true;
        throw;
    }
}

Worker::Worker() {
    const std::lock_guard<std::mutex> guard(gate.lock);
    ++gate.workers;
}

Worker::~Worker() {
    const std::lock_guard<std::mutex> guard(gate.lock);
    --gate.workers;
    gate.changed.notify_all();
}

}  // namespace echolux::python
