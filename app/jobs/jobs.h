// Background work: loading, searching, exporting. Each job runs on its own thread, reports progress, can be cancelled,
// and returns a final step that runs on the drawing thread. Small files are written by a separate thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "compute/error.h"
#include "engine/progress.h"

namespace echolux {

// ---- Jobs

class AllowedFolders;  // engine/io/file_name.h

// A user request and all work it causes: jobs, and further jobs started by their final steps. All of these share it;
// the request is complete when only the requester still holds it.
struct UserRequest {
    std::optional<Error> error;                     // the first error
    std::shared_ptr<const AllowedFolders> folders;  // folders it may read and write; nullptr: any

    void fail(const Error& with) {
        if (!error) error = with;
    }
};

struct JobState {
    std::uint64_t id = 0;
    std::string title;      // "opening retina.nrrd"
    std::string task = {};  // current step: "read"
    std::int64_t done = 0;
    std::int64_t total = 0;  // if 0, unknown
    std::string unit = {};
    double seconds = 0;                       // since the start
    std::optional<double> seconds_left = {};  // std::nullopt: not known yet
    bool is_cancelled = false;                // the user asked to stop it
};

// Treatment of a job that is cancelled after its work is complete: its result is dropped, or kept because it is a file.
enum class LateCancel { drops_result, keeps_result };

class Jobs {
  public:
    using LastStep = std::function<void()>;
    using Work = std::function<LastStep(Progress&)>;
    using Failed = std::function<void(const Error&)>;

    Jobs();
    ~Jobs();  // cancels all and waits

    // Starts `work` on its own thread. The function it returns is called by collect() unless the job was cancelled. Its
    // exceptions are passed to `failed` there, except Error{cancelled}.
    std::uint64_t start(const std::string& title, Work work, Failed failed,
                        LateCancel late_cancel = LateCancel::drops_result);

    // Jobs that `work` starts, and their follow-up jobs, belong to `request`, which receives their errors.
    void belong(const std::shared_ptr<UserRequest>& request, const std::function<void()>& work);
    const std::shared_ptr<UserRequest>& request() const { return request_; }  // nullptr: none

    void cancel(std::uint64_t id);
    void cancel_all();

    std::vector<JobState> states() const;
    bool is_idle() const;

    // Runs the final steps of finished jobs on the calling thread.
    void collect();

    // Collects until all jobs have finished. For tests and the command line.
    void finish();

  private:
    struct Job;
    std::shared_ptr<UserRequest> request_;
    std::vector<std::unique_ptr<Job>> jobs_;
    std::uint64_t next_ = 1;
};

// ---- Small files, written in order by a separate thread, each to a temporary name first, so that the window never
// waits for a slow disk.

class TextWriter {
  public:
    TextWriter();
    ~TextWriter();  // writes everything
    TextWriter(const TextWriter&) = delete;
    TextWriter& operator=(const TextWriter&) = delete;

    // If several texts wait for the same file, only the last is written.
    void write(const std::filesystem::path& path, std::string text);

    void finish();  // waits until everything is written
    bool is_idle() const;

    std::vector<Error> take_problems();

  private:
    struct Waiting {
        std::filesystem::path path;
        std::string text;
    };

    void work(const std::stop_token& stop);

    mutable std::mutex mutex_;  // guards the members below
    std::condition_variable_any changed_;
    std::deque<Waiting> waiting_;
    bool is_writing_ = false;
    std::vector<std::exception_ptr> problems_;  // capacity reserved, so that errors can be stored when memory runs out
    std::jthread thread_;                       // starts last and ends first
};

}  // namespace echolux
