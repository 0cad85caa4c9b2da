// Jobs under test: recordings, results in every format, settings. Each checks its own guarantees after a power cut and
// after a failed call.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "journal.h"

namespace echolux::faults {

// Outcome of a job in which a call failed.
struct Ending {
    std::string problem;           // as reported; empty: success
    bool may_leave_rests = false;  // if removing is what failed
};

class Job {
  public:
    explicit Job(std::string name) : name_(std::move(name)) {}
    virtual ~Job() = default;
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    const std::string& name() const { return name_; }

    // Creates the initial state of the disk. May run only once; the files are kept.
    virtual void prepare(const Path& folder) = 0;

    // Reports through the journal how much is durable. Returns the problem as shown to the user.
    virtual std::string run(const Path& folder) = 0;

    // Both return the fault of a disk, or "". `before` is the initial state, `whole` the state after a run without
    // faults.
    virtual std::string judge_cut(const Files& files, const Files& before, const Files& whole, std::int64_t said,
                                  const Path& scratch) = 0;
    virtual std::string judge_end(const Path& folder, const Files& before, const Files& whole,
                                  const Ending& ending) = 0;

  private:
    std::string name_;
};

std::vector<std::unique_ptr<Job>> all_jobs();

// True for leftovers of unfinished work.
bool is_rest(const std::string& name);

std::unique_ptr<Job> recording_job(bool replaces);
std::unique_ptr<Job> settings_job(bool replaces);
std::vector<std::unique_ptr<Job>> result_jobs();

}  // namespace echolux::faults
