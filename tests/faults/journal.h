// Watches a folder: every call to libc that concerns files below it (libc_calls.cpp) asks here whether it is to fail,
// and is noted. Nothing of the program knows of it, so that whoever writes files is tested, libraries too.
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
    std::int64_t at = -1;  // the number of the call, from 0; below 0: none fails
    Trouble trouble = Trouble::input_output;
    bool for_good = false;  // and all after it
};

// Whether such a call can meet such trouble.
bool can_meet(Call call, Trouble trouble, bool for_good);

// What happened.
struct Record {
    Disk start;
    std::vector<Step> steps;
    std::vector<Call> calls;
    std::vector<std::pair<std::size_t, std::int64_t>> said;  // after so many steps: so much is on the disk
};

class Journal {
  public:
    static Journal& the();

    void begin(const Path& folder, const Fault& fault);
    Record end();
    bool has_failed() const { return failed_calls_ > 0; }

    // By the work that is watched: from now on so much is on the disk.
    void say(std::int64_t much);

    // ---- for libc_calls.cpp, which holds the lock

    std::recursive_mutex& mutex() { return mutex_; }
    bool is_on() const { return is_on_; }
    bool watches(const std::string& path) const;
    std::string path_of(int at, const char* path) const;  // absolute

    // True: the call fails, with errno set. Of `half` it does not: `bytes` is made less.
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
    std::int64_t failed_calls_ = 0;
    Record record_;
    Disk now_;  // names alone
    int next_node_ = 1;
    std::map<int, int> open_;  // nodes of descriptors
};

}  // namespace echolux::faults
