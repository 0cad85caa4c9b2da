// What every call into the library goes through: the interpreter is free for other threads meanwhile, an object that
// two threads use at once is used by one after the other, and a process that was forked off is told why it cannot work.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "echolux/echolux.hpp"

namespace echolux::python {

namespace nb = nanobind;

// Throws where this process is a fork of one whose threads the library had started: they do not exist here.
void require_own_threads();

// Runs work() without the interpreter's lock.
template <class Work>
auto released(const Work& work) {
    require_own_threads();
    const nb::gil_scoped_release others_may_run;
    return work();
}

// An object of the library that one thread at a time may use. The lock is recursive: a progress callback may look at
// the object whose work it watches.
template <class T>
class Shared {
  public:
    explicit Shared(T&& one) : state_(std::make_shared<State>(std::move(one))) {}

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

  private:
    struct State {
        explicit State(T&& given) : one(std::move(given)) {}
        std::recursive_mutex lock;
        T one;
    };
    std::shared_ptr<State> state_;
};

// Tells a Python callable (task, done, total) how far work is, ten times a second at most, and looks for signals. What
// the callable raises, and KeyboardInterrupt, stop the work and are raised again by rethrow().
class Watch {
  public:
    explicit Watch(nb::object told);  // None: only signals are looked for
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    api::Progress progress();
    void check();  // without the interpreter's lock; throws api::Error{ECHOLUX_CANCELLED}
    void rethrow();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

// work(watch) without the interpreter's lock.
template <class Work>
auto watched(const nb::object& told, const Work& work) {
    Watch watch(told);
    try {
        return released([&] { return work(watch); });
    } catch (const api::Error& error) {
        if (error.status() == ECHOLUX_CANCELLED) watch.rethrow();
        throw;
    }
}

}  // namespace echolux::python
