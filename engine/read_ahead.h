// Volumes that are wanted soon, read on a thread of their own into memory with a budget: first the one that is wanted
// now, then those that follow in the direction in which one goes, round and round between two ends. Whatever is
// farthest ahead makes room. After a jump the next read is of what is wanted then.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "engine/interval.h"
#include "engine/io/volume_file.h"

namespace echolux {

class ReadAhead {
  public:
    // Throws what it will; called by one thread at a time, another than the one that made this.
    using Read = std::function<Volume(std::int64_t step)>;

    // `first` is step 0. The budget is of the voxels in memory, the ones being read included; one volume may always be
    // there.
    ReadAhead(std::int64_t steps, std::int64_t budget_bytes, Volume first, Read read);
    ~ReadAhead();  // waits for the read under way

    std::int64_t steps() const { return steps_; }

    void want(std::int64_t step, int direction, Interval round);

    // Nothing: not yet. An empty pointer inside: it cannot be read.
    std::optional<std::shared_ptr<const Volume>> volume(std::int64_t step) const;

    std::vector<Interval> ready() const;
    std::int64_t bytes() const;  // in memory

    // Why volumes cannot be read, each line once.
    std::vector<std::string> take_problems();

  private:
    void work(const std::stop_token& stop);
    std::optional<std::int64_t> begin_next();
    void read(std::int64_t step);
    std::int64_t steps_ahead(std::int64_t step) const;
    void make_room(std::int64_t ahead);

    const std::int64_t steps_;
    const std::int64_t budget_bytes_;
    Read read_;

    mutable std::mutex mutex_;  // of what follows
    std::condition_variable_any changed_;
    std::int64_t wanted_ = 0;
    int direction_ = 1;
    Interval round_;
    std::map<std::int64_t, std::shared_ptr<const Volume>> volumes_;  // empty: cannot be read
    std::int64_t bytes_ = 0;                                         // of them
    std::int64_t volume_bytes_ = 0;                                  // of the largest so far
    std::vector<std::string> problems_;
    std::set<std::string> said_;
    std::jthread thread_;  // begins last, ends first
};

}  // namespace echolux
