// Threads scheduled by a seed. One runs at a time and yields only where it waits. Then one of the runnable threads is
// drawn at random; if there is none, time advances until one becomes runnable. The same seed gives the same run.
//
// The threads are coroutines on one real thread, each with its own stack, so a switch is cheap. Sanitizers do not
// support them.
//
// This covers every order in which waits can end. It does not cover switches between two statements, missing wake-ups
// or memory order; the thread sanitizer and tests with real threads look for those.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/live/threads.h"

namespace echolux::test {

class SimulatedThreads : public Threads {
  public:
    // The creating thread is the first one.
    explicit SimulatedThreads(std::uint64_t seed) : seed_(seed), random_(seed) {
        all_.push_back(std::make_unique<Simulated>());
        current_ = all_.front().get();
        begins_at_ = now_;
    }

    std::function<void()> after_each_step;  // while no thread runs
    std::int64_t steps() const { return steps_; }
    std::uint64_t seed() const { return seed_; }
    double seconds() const { return std::chrono::duration<double>(now_ - begins_at_).count(); }

    // Random number in [0, 1), and a random event of the given probability. All randomness comes from here.
    double any() { return std::uniform_real_distribution<double>(0, 1)(random_); }
    bool happens(double probability) { return any() < probability; }

    // Lets other threads run first.
    void give_way() { sleep(std::chrono::nanoseconds(0)); }

    Clock::time_point now() override { return now_; }

    LiveThread start(Work work) override {
        std::stop_source stop;
        auto made = std::make_unique<Simulated>();
        made->body = [work = std::move(work), token = stop.get_token()] { work(token); };
        made->stack.resize(stack_bytes);
        getcontext(&made->context);
        made->context.uc_stack.ss_sp = made->stack.data();
        made->context.uc_stack.ss_size = made->stack.size();
        makecontext(&made->context, &SimulatedThreads::enter, 0);
        Simulated* raw = made.get();
        all_.push_back(std::move(made));
        return {std::move(stop), std::make_unique<Joined>(*this, *raw)};
    }

    bool wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any&, const std::stop_token& stop,
              Clock::time_point time, const std::function<bool()>& is_so) override {
        lock.unlock();
        wait_until(stop, time, is_so);
        lock.lock();
        return is_so();
    }

  private:
    static constexpr std::size_t stack_bytes = std::size_t{1} << 19;

    struct Simulated {
        ucontext_t context{};
        std::vector<std::byte> stack;
        std::function<void()> body;
        std::stop_token stop;
        Clock::time_point until{};
        std::function<bool()> is_so;  // empty: not started yet
        bool has_ended = false;

        bool can_continue(Clock::time_point now) const {
            return !has_ended && (!is_so || until <= now || stop.stop_requested() || is_so());
        }
    };

    class Joined : public LiveThread::Running {
      public:
        Joined(SimulatedThreads& threads, Simulated& one) : threads_(threads), one_(one) {}
        void join() override {
            threads_.wait_until({}, Clock::time_point::max(), [this] { return one_.has_ended; });
            std::erase_if(threads_.all_, [this](const auto& one) { return one.get() == &one_; });
        }

      private:
        SimulatedThreads& threads_;
        Simulated& one_;
    };

    // A context takes no arguments; the current thread is known.
    static void enter() {
        SimulatedThreads& threads = *running();
        Simulated& me = *threads.current_;
        me.body();
        me.body = nullptr;
        me.has_ended = true;
        threads.pass_on();
    }
    static SimulatedThreads*& running() {
        static SimulatedThreads* one = nullptr;
        return one;
    }

    void wait_until(const std::stop_token& stop, Clock::time_point time, std::function<bool()> is_so) {
        Simulated* me = current_;
        me->stop = stop;
        me->until = time;
        me->is_so = std::move(is_so);
        pass_on();
    }

    void pass_on() {
        ++steps_;
        if (after_each_step) after_each_step();
        Simulated* me = current_;
        current_ = chosen();
        running() = this;
        if (current_ != me) swapcontext(&me->context, &current_->context);
    }

    Simulated* chosen() {
        for (;;) {
            ready_.clear();
            for (const auto& one : all_) {
                if (one->can_continue(now_)) ready_.push_back(one.get());
            }
            if (!ready_.empty()) return ready_[random_() % ready_.size()];
            let_time_pass();
        }
    }

    void let_time_pass() {
        Clock::time_point next = Clock::time_point::max();
        for (const auto& one : all_) {
            if (!one->has_ended) next = std::min(next, one->until);
        }
        if (next == Clock::time_point::max()) {
            std::fprintf(stderr, "seed %llu, step %lld: all threads wait for ever\n",
                         static_cast<unsigned long long>(seed_), static_cast<long long>(steps_));
            std::abort();
        }
        now_ = next;
    }

    std::uint64_t seed_;
    std::mt19937_64 random_;
    Clock::time_point now_{std::chrono::hours(1)};
    Clock::time_point begins_at_;
    std::int64_t steps_ = 0;
    Simulated* current_ = nullptr;
    std::vector<std::unique_ptr<Simulated>> all_;
    std::vector<Simulated*> ready_;
};

}  // namespace echolux::test
