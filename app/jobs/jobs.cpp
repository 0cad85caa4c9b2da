#include "app/jobs/jobs.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "app/seconds_since.h"
#include "engine/io/atomic_file.h"

namespace echolux {

// ---- Jobs

namespace {

using Clock = std::chrono::steady_clock;

constexpr double soon_s = 0.5;  // time of a task before its remaining time is estimated

// Converts a caught exception to an Error.
Error error_of(const std::exception_ptr& caught, const std::string& where) {
    try {
        std::rethrow_exception(caught);
    } catch (const Error& error) {
        return error;
    } catch (const std::bad_alloc&) {
        return {ErrorCode::out_of_memory, "there is not enough memory", where, "close something else first"};
    } catch (const std::exception& error) {
        return {ErrorCode::bad_setting, error.what(), where};
    }
}

}  // namespace

struct Jobs::Job : Progress {
    Job(std::uint64_t id, const std::string& title, Work wanted, Failed hears, std::shared_ptr<UserRequest> of,
        LateCancel late)
        : request(std::move(of)), late_cancel(late), failed_(std::move(hears)), state_{.id = id, .title = title},
          thread_([this, work = std::move(wanted)] { run(work); }) {}
    ~Job() override { cancel(); }

    void begin(const std::string& task, std::int64_t total, const std::string& unit) override {
        const std::scoped_lock lock(mutex_);
        state_.task = task;
        state_.unit = unit;
        state_.total = total;
        state_.done = 0;
        task_start_ = Clock::now();
    }
    void advance(std::int64_t count) override {
        if (is_cancelled()) throw Error(ErrorCode::cancelled, "cancelled");
        const std::scoped_lock lock(mutex_);
        state_.done += count;
    }
    void end() override { begin({}, 0, {}); }

    void cancel() { is_cancelled_ = true; }
    bool is_cancelled() const { return is_cancelled_; }
    bool is_finished() const { return is_finished_; }
    void join() {
        if (thread_.joinable()) thread_.join();
    }

    JobState state() const {
        const std::scoped_lock lock(mutex_);
        JobState state = state_;
        state.is_cancelled = is_cancelled();
        state.seconds = seconds_since(start_);
        const double task_s = seconds_since(task_start_);
        if (state.done > 0 && state.done <= state.total && task_s > soon_s)
            state.seconds_left =
                task_s * static_cast<double>(state.total - state.done) / static_cast<double>(state.done);
        return state;
    }

    // Runs on the drawing thread after the work has ended.
    void hand_over() {
        try {
            if (caught_) std::rethrow_exception(caught_);
            if (last_step_) last_step_();
        } catch (...) {
            const Error error = error_of(std::current_exception(), state().title);
            if (request) request->fail(error);
            if (failed_ && error.code() != ErrorCode::cancelled) failed_(error);
        }
    }

    const std::shared_ptr<UserRequest> request;  // nullptr: none
    const LateCancel late_cancel;

  private:
    void run(const Work& work) {
        try {
            last_step_ = work(*this);
        } catch (...) {
            caught_ = std::current_exception();
        }
        is_finished_ = true;
    }

    Failed failed_;
    std::atomic<bool> is_cancelled_ = false;
    std::atomic<bool> is_finished_ = false;
    LastStep last_step_;  // these two belong to the job's thread until it has finished
    std::exception_ptr caught_;
    mutable std::mutex mutex_;  // guards the members below
    JobState state_;
    Clock::time_point start_ = Clock::now();
    Clock::time_point task_start_ = start_;
    std::jthread thread_;  // starts last and ends first
};

Jobs::Jobs() = default;

Jobs::~Jobs() {
    cancel_all();
}

std::uint64_t Jobs::start(const std::string& title, Work work, Failed failed, LateCancel late_cancel) {
    const std::uint64_t id = next_++;
    jobs_.push_back(std::make_unique<Job>(id, title, std::move(work), std::move(failed), request_, late_cancel));
    return id;
}

void Jobs::belong(const std::shared_ptr<UserRequest>& request, const std::function<void()>& work) {
    struct Until {
        std::shared_ptr<UserRequest>& now;
        std::shared_ptr<UserRequest> before;
        ~Until() { now = std::move(before); }
    } until{request_, std::exchange(request_, request)};
    work();
}

void Jobs::cancel(std::uint64_t id) {
    for (const auto& job : jobs_) {
        if (job->state().id == id) job->cancel();
    }
}

void Jobs::cancel_all() {
    for (const auto& job : jobs_) job->cancel();
}

std::vector<JobState> Jobs::states() const {
    std::vector<JobState> states;
    for (const auto& job : jobs_) states.push_back(job->state());
    return states;
}

bool Jobs::is_idle() const {
    return jobs_.empty();
}

// Final steps may start jobs, so separate the finished jobs from the list first.
void Jobs::collect() {
    const auto first =
        std::stable_partition(jobs_.begin(), jobs_.end(), [](const auto& job) { return !job->is_finished(); });
    std::vector<std::unique_ptr<Job>> finished(std::make_move_iterator(first), std::make_move_iterator(jobs_.end()));
    jobs_.erase(first, jobs_.end());
    for (const auto& job : finished) {
        job->join();
        belong(job->request, [&] {
            if (!job->is_cancelled() || job->late_cancel == LateCancel::keeps_result) return job->hand_over();
            if (job->request) job->request->fail(Error(ErrorCode::cancelled, "cancelled", job->state().title));
        });
    }
}

void Jobs::finish() {
    while (!jobs_.empty()) {
        jobs_.front()->join();
        collect();
    }
}

// ---- Small files

TextWriter::TextWriter() : thread_([this](const std::stop_token& stop) { work(stop); }) {}

TextWriter::~TextWriter() = default;

void TextWriter::write(const std::filesystem::path& path, std::string text) {
    const std::scoped_lock lock(mutex_);
    const auto same = std::ranges::find(waiting_, path, &Waiting::path);
    if (same != waiting_.end())
        same->text = std::move(text);
    else
        waiting_.push_back({path, std::move(text)});
    problems_.reserve(problems_.size() + waiting_.size() + 1);
    changed_.notify_all();
}

void TextWriter::finish() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_.empty() && !is_writing_; });
}

bool TextWriter::is_idle() const {
    const std::scoped_lock lock(mutex_);
    return waiting_.empty() && !is_writing_;
}

std::vector<Error> TextWriter::take_problems() {
    const std::scoped_lock lock(mutex_);
    std::vector<Error> problems;
    for (const std::exception_ptr& problem : problems_) {
        try {
            std::rethrow_exception(problem);
        } catch (const Error& error) {
            problems.push_back(error);
        } catch (const std::exception& error) {
            problems.emplace_back(ErrorCode::output, error.what(), "settings");
        }
    }
    problems_.clear();
    return problems;
}

// After a stop request, continues until everything is written.
void TextWriter::work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return !waiting_.empty(); }), !waiting_.empty()) {
        const Waiting next = std::move(waiting_.front());
        waiting_.pop_front();
        is_writing_ = true;
        lock.unlock();
        std::exception_ptr problem;
        try {
            make_folders_for(next.path);  // ~/.config may be missing
            write_text(next.path, next.text);
        } catch (...) {
            problem = std::current_exception();
        }
        lock.lock();
        is_writing_ = false;
        if (problem) problems_.push_back(std::move(problem));
        changed_.notify_all();
    }
}

}  // namespace echolux
