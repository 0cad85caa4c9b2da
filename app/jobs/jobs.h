// Background work: loading, searching, exporting. Each job has a thread, tells how far it is, can be cancelled,
// and leaves a last step for the thread that draws.
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

class AllowedFolders;  // engine/io/allowed_folders.h

// What somebody asked for, with all the work that follows from it: jobs, and those that their last steps begin.
// Whatever still works on it holds it; it is done when only who asked does.
struct Operation {
    std::optional<Error> error;                     // the first thing that went wrong
    std::shared_ptr<const AllowedFolders> folders;  // that it may read and write; nullptr: any

    void fail(const Error& with) {
        if (!error) error = with;
    }
};

struct JobState {
    std::uint64_t id = 0;
    std::string title;      // "opening retina.nrrd"
    std::string task = {};  // what it does now: "read"
    std::int64_t done = 0;
    std::int64_t total = 0;  // 0: unknown
    std::string unit = {};
    double seconds = 0;                       // since it began
    std::optional<double> seconds_left = {};  // nothing: not known yet
    bool is_cancelled = false;                // asked to stop
};

class Jobs {
  public:
    using LastStep = std::function<void()>;
    using Work = std::function<LastStep(Progress&)>;
    using Failed = std::function<void(const Error&)>;

    Jobs();
    ~Jobs();  // cancels all and waits

    // Begins `work` on a thread of its own. What it returns is called by collect(), unless it was cancelled; what it
    // throws goes to `failed` there (never Error{cancelled}).
    std::uint64_t start(const std::string& title, Work work, Failed failed);

    // Jobs that `work` starts, and those that follow from them, belong to `operation`, which hears what they fail with.
    void belong(const std::shared_ptr<Operation>& operation, const std::function<void()>& work);
    const std::shared_ptr<Operation>& operation() const { return operation_; }  // nullptr: none

    void cancel(std::uint64_t id);
    void cancel_all();

    std::vector<JobState> states() const;
    bool is_idle() const;

    // Last steps of what is finished, on the calling thread.
    void collect();

    // For tests and the command line: collects until all are finished.
    void finish();

  private:
    struct Job;
    std::shared_ptr<Operation> operation_;
    std::vector<std::unique_ptr<Job>> jobs_;
    std::uint64_t next_ = 1;
};

}  // namespace echolux
