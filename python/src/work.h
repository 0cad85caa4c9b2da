// Rules for every call into the library: the interpreter lock is released, concurrent calls on an object are
// serialised, and a forked process gets an error that explains why it cannot work.
#pragma once

#include <nanobind/nanobind.h>

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "echolux/echolux.hpp"
#include "python/src/texts.h"

namespace echolux::python {

namespace nb = nanobind;

// Returns true if this process was forked from one in which the library had started threads. Those do not exist here,
// so nothing that belongs to them can be used or freed.
bool is_fork();
void require_own_threads();  // throws in a forked process

// ---- Gate between the interpreter and the library. It is closed before the interpreter shuts down: Python unwinds
// threads that acquire its lock later, and C++ then terminates the process. A thread outside the interpreter at that
// moment therefore stays outside forever.

// Releases the interpreter lock, like nb::gil_scoped_release.
class GilRelease {
  public:
    GilRelease();
    ~GilRelease();
    GilRelease(const GilRelease&) = delete;
    GilRelease& operator=(const GilRelease&) = delete;

  private:
    PyThreadState* state_;
};

// Acquires the interpreter lock, like nb::gil_scoped_acquire. False if the gate is closed; the lock is then not held.
class GilAcquire {
  public:
    GilAcquire();
    explicit GilAcquire(std::nothrow_t);
    ~GilAcquire();
    GilAcquire(const GilAcquire&) = delete;
    GilAcquire& operator=(const GilAcquire&) = delete;

    explicit operator bool() const { return is_open_; }

  private:
    bool is_open_;
    PyGILState_STATE state_{};
};

// Waits for all running calls, workers and callbacks. Afterwards only the calling thread can pass the gate.
void shut();

// Runs work() without the interpreter lock.
template <class Work>
auto released(const Work& work) {
    require_own_threads();
    const GilRelease gil_release;
    return work();
}

// An object of the library that is used by one thread at a time. The lock is recursive, because a progress callback may
// query the object whose work it watches.
template <class T>
class Shared {
  public:
    explicit Shared(T&& one)
        : state_(new State(std::move(one)), [](State* state) {
              if (!is_fork()) delete state;
          }) {}

    template <class Work>
    auto with(const Work& work) const {
        return released([&] { return locked(work); });
    }

    // For threads that do not hold the interpreter lock.
    template <class Work>
    auto locked(const Work& work) const {
        const std::lock_guard<std::recursive_mutex> guard(state_->lock);
        return work(state_->one);
    }

    // Reads the object, also while long work that does not change it is running.
    template <class Work>
    auto looked(const Work& work) const {
        return released([&] {
            const std::lock_guard<std::recursive_mutex> changing_lock(state_->changing);
            return work(state_->one);
        });
    }

    // Changes the object when no work is running and no thread is reading it.
    template <class Work>
    auto changed(const Work& work) const {
        return with([&](T& one) {
            const std::lock_guard<std::recursive_mutex> looking_lock(state_->changing);
            return work(one);
        });
    }

  private:
    struct State {
        explicit State(T&& given) : one(std::move(given)) {}
        std::recursive_mutex lock;
        std::recursive_mutex changing;  // locked after `lock`
        T one;
    };
    std::shared_ptr<State> state_;
};

// Raises exceptions of signal handlers, usually KeyboardInterrupt. Call without the interpreter lock.
void check_signals();

// Shared by the working thread and the thread that waits and checks for signals.
class Watch {
  public:
    // Called by the working thread; false stops it.
    bool report(const std::string& task, std::int64_t done, std::int64_t total);
    void finish(std::exception_ptr problem) noexcept;

    // Called by the waiting thread with the interpreter lock. Calls on_progress(task, done, total), unless it is None,
    // about ten times per second, and throws what it or a signal handler raises; the work is then stopped but not
    // waited for. Also throws errors of the work.
    void wait(const nb::object& on_progress);

  private:
    bool show(const nb::object& on_progress, std::unique_lock<std::mutex>& guard);

    const std::thread::id waiter_ = std::this_thread::get_id();
    std::mutex lock_;
    std::condition_variable changed_;
    std::string task_;
    std::int64_t done_ = 0, total_ = 0;
    bool has_news_ = false, is_stopped_ = false, is_finished_ = false;
    std::exception_ptr problem_;
};

// Counts threads that work for a call, because no caller may be waiting for them any longer.
class Worker {
  public:
    Worker();
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;
};

// Runs work(progress) on its own thread, so that KeyboardInterrupt never waits for a long step. `work` owns everything
// it uses, because it may continue for a moment after the call has ended.
template <class Work>
auto watched(const nb::object& on_progress, Work work) {
    require_own_threads();
    using Result = decltype(work(std::declval<const api::Progress&>()));
    struct Task {
        explicit Task(Work&& given) : work(std::move(given)) {}
        Work work;
        std::optional<Result> result;
        Watch watch;
    };
    auto task = std::make_shared<Task>(std::move(work));
    std::thread([task, worker = std::make_unique<Worker>()]() mutable {
        std::exception_ptr problem;
        try {
            task->result.emplace(
                task->work([&watch = task->watch](const std::string& name, std::int64_t done, std::int64_t total) {
                    return watch.report(name, done, total);
                }));
        } catch (...) {
            problem = std::current_exception();
        }
        task->watch.finish(problem);
        task.reset();
    }).detach();
    task->watch.wait(on_progress);
    return std::move(*task->result);
}

}  // namespace echolux::python
