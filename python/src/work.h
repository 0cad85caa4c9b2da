// What every call into the library goes through: the interpreter is free for other threads meanwhile, an object that
// two threads use at once is used by one after the other, and a process that was forked off is told why it cannot work.
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

// Whether this process is a fork of one whose threads the library had started: they do not exist here, so that nothing
// of theirs can be used or freed.
bool is_fork();
void require_own_threads();  // throws where it is

// The way between the interpreter and the library. It is shut before the interpreter ends: Python ends a thread that
// takes its lock later by unwinding it, which C++ answers by ending the process. So a thread that is outside by then
// stays there for good.

// Without the interpreter's lock, as nb::gil_scoped_release.
class Outside {
  public:
    Outside();
    ~Outside();
    Outside(const Outside&) = delete;
    Outside& operator=(const Outside&) = delete;

  private:
    PyThreadState* state_;
};

// With the interpreter's lock, as nb::gil_scoped_acquire. False, and without it: the way is shut.
class Inside {
  public:
    Inside();
    explicit Inside(std::nothrow_t);
    ~Inside();
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

    explicit operator bool() const { return is_open_; }

  private:
    bool is_open_;
    PyGILState_STATE state_{};
};

// Waits for every call, worker and callback under way; afterwards only the thread that called this goes in and out.
void shut();

// Runs work() without the interpreter's lock.
template <class Work>
auto released(const Work& work) {
    require_own_threads();
    const Outside others_may_run;
    return work();
}

// An object of the library that one thread at a time may use. The lock is recursive: a progress callback may look at
// the object whose work it watches.
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

    // For whoever does not hold the interpreter's lock.
    template <class Work>
    auto locked(const Work& work) const {
        const std::lock_guard<std::recursive_mutex> mine(state_->lock);
        return work(state_->one);
    }

    // Looks at the object, also while long work goes on with it, which changes nothing.
    template <class Work>
    auto looked(const Work& work) const {
        return released([&] {
            const std::lock_guard<std::recursive_mutex> nobody_changes_it(state_->changing);
            return work(state_->one);
        });
    }

    // Changes it when no work goes on and nobody looks.
    template <class Work>
    auto changed(const Work& work) const {
        return with([&](T& one) {
            const std::lock_guard<std::recursive_mutex> nobody_looks(state_->changing);
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

// Raises what a signal's handler raises, KeyboardInterrupt mostly; without the interpreter's lock.
void check_signals();

// What passes between the thread that works and the one that waits and looks for signals.
class Watch {
  public:
    // Of the working thread: false stops it.
    bool tell(const std::string& task, std::int64_t done, std::int64_t total);
    void finish(std::exception_ptr problem) noexcept;

    // Of the waiting thread, which has the interpreter's lock: calls told(task, done, total), or nobody where it is
    // None, some ten times a second, and throws what it or a signal raises; the work is stopped then, but not waited
    // for. Throws what the work threw.
    void wait(const nb::object& told);

  private:
    bool show(const nb::object& told, std::unique_lock<std::mutex>& mine);

    const std::thread::id waiter_ = std::this_thread::get_id();
    std::mutex lock_;
    std::condition_variable changed_;
    std::string task_;
    std::int64_t done_ = 0, total_ = 0;
    bool has_news_ = false, is_stopped_ = false, is_finished_ = false;
    std::exception_ptr problem_;
};

// Counts threads that work for a call, because nobody waits any more for some of them.
class Worker {
  public:
    Worker();
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;
};

// work(progress) on a thread of its own, so that KeyboardInterrupt never waits for a long step of it. It owns whatever
// it uses, because it may go on for a moment after the call has ended.
template <class Work>
auto watched(const nb::object& told, Work work) {
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
                    return watch.tell(name, done, total);
                }));
        } catch (...) {
            problem = std::current_exception();
        }
        task->watch.finish(problem);
        task.reset();
    }).detach();
    task->watch.wait(told);
    return std::move(*task->result);
}

}  // namespace echolux::python
