// A job under test and its working folder.
#pragma once

#include <fmt/format.h>

#include <exception>
#include <memory>
#include <random>
#include <string>

#include "allocations.h"
#include "jobs.h"

namespace echolux::faults {

// In a memory file system if there is one.
class Scratch {
  public:
    Scratch() {
        std::error_code none;
        const Path base =
            std::filesystem::is_directory("/dev/shm", none) ? "/dev/shm" : std::filesystem::temp_directory_path();
        path_ = base / fmt::format("echolux-faults-{:08x}", std::random_device{}());
        for (const char* part : {"work", "look"}) std::filesystem::create_directories(path_ / part);
    }
    ~Scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    Path work() const { return path_ / "work"; }
    Path look() const { return path_ / "look"; }

  private:
    Path path_;
};

// A job with the files before and after it, and the steps in between.
struct Watched {
    std::unique_ptr<Job> job;
    Files before, whole;
    Record record;

    std::string run(const Path& folder, const Fault& fault, Record& into) const {
        Journal::the().begin(folder, fault);
        std::string problem = run(folder);
        into = Journal::the().end();
        return problem;
    }

    std::string run(const Path& folder) const {
        try {
            return job->run(folder);
        } catch (const std::exception& error) {
            const UncountedScope not_counted;
            return error.what();
        }
    }

    std::int64_t said(std::size_t steps) const {
        std::int64_t much = 0;
        for (const auto& [after, value] : record.said) {
            if (after <= steps) much = value;
        }
        return much;
    }
};

}  // namespace echolux::faults
