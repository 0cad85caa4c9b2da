// Background work: loading, searching, exporting. Each job runs on its own thread, reports progress, can be cancelled,
// and returns a final step that runs on the drawing thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/error.h"
#include "engine/progress.h"

namespace echolux {

class AllowedFolders;  // engine/io/file_name.h

// A user request and all work it causes: jobs, and further jobs started by their final steps. All of these share it;
// the request is complete when only the requester still holds it.
struct Operation {
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

class Jobs {
  public:
    using LastStep = std::function<void()>;
    using Work = std::function<LastStep(Progress&)>;
    using Failed = std::function<void(const Error&)>;

    Jobs();
    ~Jobs();  // cancels all and waits

    // Starts `work` on its own thread. The function it returns is called by collect() unless the job was cancelled. Its
    // exceptions are passed to `failed` there, except Error{cancelled}.
    std::uint64_t start(const std::string& title, Work work, Failed failed);

    // Jobs that `work` starts, and their follow-up jobs, belong to `operation`, which receives their errors.
    void belong(const std::shared_ptr<Operation>& operation, const std::function<void()>& work);
    const std::shared_ptr<Operation>& operation() const { return operation_; }  // nullptr: none

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
    std::shared_ptr<Operation> operation_;
    std::vector<std::unique_ptr<Job>> jobs_;
    std::uint64_t next_ = 1;
};

}  // namespace echolux
