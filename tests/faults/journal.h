// Watches a folder. Every libc call for files below it (libc_calls.cpp) is recorded here and may be made to fail. The
// program does not know about it, so all code that writes files is tested, including libraries.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "disk.h"

namespace echolux::faults {

enum class Call { open, read, make, write, allocate, resize, flush, rename, make_folder, remove, close };

enum class Trouble { input_output, full, interrupted, half };  // EIO, ENOSPC, EINTR, a short read or write

struct Fault {
    std::int64_t at = -1;  // number of the failing call, from 0; negative: none
    Trouble trouble = Trouble::input_output;
    bool for_good = false;  // all later calls fail too
};

// True if such a call can fail in this way.
bool can_meet(Call call, Trouble trouble, bool for_good);

struct Record {
    Disk start;
    std::vector<Step> steps;
    std::vector<Call> calls;
    std::vector<std::pair<std::size_t, std::int64_t>> said;  // (steps before, amount reported as durable)
};

class Journal {
  public:
    static Journal& the();

    void begin(const Path& folder, const Fault& fault);
    Record end();

    // Called by the job: `much` is durable from now on.
    void say(std::int64_t much);

    // ---- for libc_calls.cpp, which holds the lock

    std::recursive_mutex& mutex() { return mutex_; }
    bool is_on() const { return is_on_; }
    bool watches(const std::string& path) const;
    std::string path_of(int at, const char* path) const;  // absolute

    // Returns true if the call must fail, with errno set. For `half` it returns false and reduces `bytes`.
    bool fails(Call call, std::size_t* bytes = nullptr);

    bool is_open(int descriptor) const { return open_.contains(descriptor); }
    void opened(int descriptor, const std::string& path, bool is_new, bool is_emptied);
    void closed(int descriptor) { open_.erase(descriptor); }
    void wrote(int descriptor, std::int64_t place, const void* bytes, std::size_t count);
    void resized(int descriptor, std::int64_t size);
    void flushed(int descriptor, bool has_failed);
    void renamed(const std::string& from, const std::string& to, bool exchanged);
    void made_folder(const std::string& path);
    void removed(const std::string& path);

  private:
    struct Name {
        int folder = -1;
        std::string name;
    };
    Name name_of(const std::string& path) const;
    int node_at(const Name& name) const;
    void note(Step step);

    std::recursive_mutex mutex_;
    bool is_on_ = false;
    std::string folder_;  // ends in '/'
    Fault fault_;
    Record record_;
    Disk now_;  // names only
    int next_node_ = 1;
    std::map<int, int> open_;  // from descriptor to node
};

}  // namespace echolux::faults
