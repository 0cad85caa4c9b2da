#include "python/src/work.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>

namespace echolux::python {
namespace {

std::atomic<pid_t> owner{0};  // of the library's threads; 0: none started yet

constexpr std::chrono::milliseconds between_looks{50};

// Never destroyed: threads may wait at it until the process ends.
struct Gate {
    std::mutex lock;
    std::condition_variable changed;
    std::atomic<bool> is_shut{false};
    std::thread::id keeper;  // thread that shut it
    int outside = 0, inside = 0, workers = 0;
};
Gate& door = *new Gate;

// The part of these counts that belongs to this thread: calls, and callbacks made by them.
thread_local int outside_here = 0, inside_here = 0;

bool is_shut_for(std::thread::id thread) {
    return door.is_shut && door.keeper != thread;
}

bool is_shut_here() {
    return is_shut_for(std::this_thread::get_id());
}

void count(int& all, int& here, int by) {
    all += by;
    here += by;
    door.changed.notify_all();
}

[[noreturn]] void stay_outside(std::unique_lock<std::mutex>& mine) {
    count(door.outside, outside_here, -outside_here);
    count(door.inside, inside_here, -inside_here);
    mine.unlock();
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace

bool is_fork() {
    const pid_t process = owner;
    return process != 0 && process != getpid();
}

GilRelease::GilRelease() : state_(PyEval_SaveThread()) {
    std::unique_lock<std::mutex> mine(door.lock);
    if (is_shut_here()) stay_outside(mine);
    count(door.outside, outside_here, 1);
}

GilRelease::~GilRelease() {
    std::unique_lock<std::mutex> mine(door.lock);
    if (is_shut_here()) stay_outside(mine);
    count(door.outside, outside_here, -1);
    count(door.inside, inside_here, 1);  // count it until it has the lock; otherwise Python could end the thread here
    mine.unlock();
    PyEval_RestoreThread(state_);
    mine.lock();
    count(door.inside, inside_here, -1);
}

GilAcquire::GilAcquire() : GilAcquire(std::nothrow) {
    if (is_open_) return;
    std::unique_lock<std::mutex> mine(door.lock);
    stay_outside(mine);
}

GilAcquire::GilAcquire(std::nothrow_t) {
    std::unique_lock<std::mutex> mine(door.lock);
    is_open_ = !is_shut_here();
    if (!is_open_) return;
    count(door.inside, inside_here, 1);
    mine.unlock();
    state_ = PyGILState_Ensure();
}

GilAcquire::~GilAcquire() {
    if (!is_open_) return;
    PyGILState_Release(state_);
    const std::lock_guard<std::mutex> mine(door.lock);
    count(door.inside, inside_here, -1);
}

void shut() {
    if (is_fork()) return;  // no other thread exists here
    const nb::gil_scoped_release gil_release;
    std::unique_lock<std::mutex> mine(door.lock);
    door.keeper = std::this_thread::get_id();
    door.is_shut = true;
    const auto is_empty = [] { return door.outside == 0 && door.inside == 0 && door.workers == 0; };
    while (!door.changed.wait_for(mine, between_looks, is_empty)) {
        mine.unlock();
        check_signals();
        mine.lock();
    }
}

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
    const GilAcquire ours;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

bool Watch::tell(const std::string& task, std::int64_t done, std::int64_t total) {
    const std::lock_guard<std::mutex> mine(lock_);
    task_ = task;
    done_ = done;
    total_ = total;
    has_news_ = true;
    return !is_stopped_ && !is_shut_for(waiter_);
}

void Watch::finish(std::exception_ptr problem) noexcept {
    const std::lock_guard<std::mutex> mine(lock_);
    problem_ = std::move(problem);
    is_finished_ = true;
    changed_.notify_all();
}

// Returns true if there was something to show.
bool Watch::show(const nb::object& told, std::unique_lock<std::mutex>& mine) {
    if (!std::exchange(has_news_, false) || told.is_none()) return false;
    const std::string task = task_;
    const std::int64_t done = done_, total = total_;
    mine.unlock();
    {
        const GilAcquire ours;
        told(task, done, total);
    }
    mine.lock();
    return true;
}

void Watch::wait(const nb::object& told) {
    const GilRelease gil_release;
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

Worker::Worker() {
    const std::lock_guard<std::mutex> mine(door.lock);
    ++door.workers;
}

Worker::~Worker() {
    const std::lock_guard<std::mutex> mine(door.lock);
    --door.workers;
    door.changed.notify_all();
}

}  // namespace echolux::python
