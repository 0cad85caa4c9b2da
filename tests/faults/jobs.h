// The work that is watched: recordings, results in every format, settings. Each knows what must hold after a power cut
// and after a call that failed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "journal.h"

namespace echolux::faults {

// How a job ended that some call failed in.
struct Ending {
    std::string problem;           // what it said; empty: all is well
    bool may_leave_rests = false;  // removing was what failed
};

class Job {
  public:
    explicit Job(std::string name) : name_(std::move(name)) {}
    virtual ~Job() = default;
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    const std::string& name() const { return name_; }

    // What is on the disk before. May be done once; the files are kept.
    virtual void prepare(const Path& folder) = 0;

    // Says through the journal what is on the disk. Returns what it tells the user of a problem.
    virtual std::string run(const Path& folder) = 0;

    // What is wrong with a disk; empty: nothing. `before`: what there was; `whole`: after a run without a fault.
    virtual std::string judge_cut(const Files& files, const Files& before, const Files& whole, std::int64_t said,
                                  const Path& scratch) = 0;
    virtual std::string judge_end(const Path& folder, const Files& before, const Files& whole,
                                  const Ending& ending) = 0;

  private:
    std::string name_;
};

std::vector<std::unique_ptr<Job>> all_jobs();

// Rests of unfinished work, which are nobody's.
bool is_rest(const std::string& name);

std::unique_ptr<Job> recording_job(bool replaces);
std::unique_ptr<Job> settings_job(bool replaces);
std::vector<std::unique_ptr<Job>> result_jobs();

}  // namespace echolux::faults
