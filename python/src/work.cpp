#include "python/src/work.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>

namespace echolux::python {
namespace {

std::atomic<pid_t> owner{0};  // of the library's threads; 0: none were started yet

constexpr std::chrono::milliseconds between_looks{50};

[[noreturn]] void cancelled() {
    auto error = api::make<echolux_error>();
    error.code = ECHOLUX_CANCELLED;
    std::string("was stopped").copy(error.what, sizeof error.what - 1);
    throw api::Error(error);
}

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

struct Watch::State {
    nb::object told;
    std::chrono::steady_clock::time_point last{};
    std::optional<nb::python_error> raised;
    std::string task;

    bool look(const std::string& now, std::int64_t done, std::int64_t total) {
        const auto time = std::chrono::steady_clock::now();
        const bool turns = task != now || (total > 0 && done >= total);
        if (!turns && time - last < between_looks) return true;
        last = time;
        task = now;
        const nb::gil_scoped_acquire ours;
        try {
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
            if (!told.is_none()) told(now, done, total);
            return true;
        } catch (nb::python_error& error) {
            raised.emplace(std::move(error));
            return false;
        }
    }
};

Watch::Watch(nb::object told) : state_(std::make_unique<State>()) {
    state_->told = std::move(told);
}

Watch::~Watch() = default;

api::Progress Watch::progress() {
    return [this](const std::string& task, std::int64_t done, std::int64_t total) {
        return state_->look(task, done, total);
    };
}

void Watch::check() {
    if (!state_->look({}, 0, 0)) cancelled();
}

void Watch::rethrow() {
    if (!state_->raised) return;
    nb::python_error error = std::move(*state_->raised);
    state_->raised.reset();
    throw error;
}

}  // namespace echolux::python
