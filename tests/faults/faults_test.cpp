// Makes every file call fail, and cuts the power after every step. ECHOLUX_FAULT repeats a case by the name that a
// failure prints. ECHOLUX_FAULT_SEED repeats the random part of the fast tests.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <random>
#include <set>

#include "allocations.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "watched.h"

namespace echolux::faults {
namespace {

constexpr std::array troubles{std::pair{Trouble::input_output, "EIO"}, std::pair{Trouble::full, "ENOSPC"},
                              std::pair{Trouble::interrupted, "EINTR"}, std::pair{Trouble::half, "short"}};

class Faults : public testing::Test {
  protected:
    Faults() {
        std::set_terminate([] {
            std::fprintf(stderr, "ended by %s\n", now_.c_str());
            std::abort();
        });
        for (std::unique_ptr<Job>& job : all_jobs()) {
            Watched watched{std::move(job), {}, {}, {}};
            put_files({}, scratch_.work());
            watched.job->prepare(scratch_.work());
            watched.before = files_in(scratch_.work());
            const std::string problem = watched.run(scratch_.work(), {}, watched.record);
            EXPECT_EQ(problem, "") << watched.job->name();
            watched.whole = files_in(scratch_.work());
            EXPECT_EQ(watched.record.start.files(), watched.before);
            jobs_.push_back(std::move(watched));
        }
    }

    // ---- cases: names and verdicts

    static std::string name_of_cut(const Watched& watched, std::size_t after, std::uint64_t seed) {
        return fmt::format("{}: cut after {}, {}", watched.job->name(), after, seed);
    }

    std::string judge_cut(const Watched& watched, std::span<const Step> steps, std::size_t after,
                          std::uint64_t seed) const {
        std::mt19937_64 random(seed * 1000003 + after);
        const Disk disk = after_power_cut(watched.record.start, steps.first(after), random);
        return watched.job->judge_cut(disk.files(), watched.before, watched.whole, watched.said(after),
                                      scratch_.look());
    }

    static std::string name_of_fault(const Watched& watched, const Fault& fault) {
        const auto* const trouble = std::ranges::find(troubles, fault.trouble, &decltype(troubles)::value_type::first);
        return fmt::format("{}: {} at {}{}", watched.job->name(), trouble->second, fault.at,
                           fault.for_good ? ", for good" : "");
    }

    std::string judge_fault(const Watched& watched, const Fault& fault) const {
        put_files(watched.before, scratch_.work());
        Record record;
        Ending ending;
        ending.problem = watched.run(scratch_.work(), fault, record);
        const auto at = index(fault.at);
        if (at >= record.calls.size()) return {};  // the run took another path
        const Call call = record.calls[at];
        ending.may_leave_rests = fault.for_good || call == Call::remove || call == Call::open || call == Call::close;
        return watched.job->judge_end(scratch_.work(), watched.before, watched.whole, ending);
    }

    static std::vector<Fault> faults_of(const Watched& watched) {
        std::vector<Fault> faults;
        for (std::size_t at = 0; at < watched.record.calls.size(); ++at) {
            for (const auto& [trouble, name] : troubles) {
                for (const bool for_good : {false, true}) {
                    if (can_meet(watched.record.calls[at], trouble, for_good))
                        faults.push_back({static_cast<std::int64_t>(at), trouble, for_good});
                }
            }
        }
        return faults;
    }

    void expect_nothing(const std::string& name, const std::string& violation) {
        ++cases_;
        if (violation.empty()) return;
        ++violations_;
        if (violations_ <= 20)
            ADD_FAILURE() << name << "\n  " << violation << "\n  repeat: ECHOLUX_FAULT='" << name << "'";
    }

    void expect_flushes_that_fail(std::uint64_t chances) {
        for (const Watched& watched : jobs_) {
            if (!watched.job->name().starts_with("recording")) continue;
            for (std::size_t at = 0; at < watched.record.calls.size(); ++at) {
                if (watched.record.calls[at] != Call::flush) continue;
                for (const bool for_good : {false, true})
                    expect_flush_that_fails(watched, {static_cast<std::int64_t>(at), Trouble::input_output, for_good},
                                            chances);
            }
        }
        tell("flushes that fail");
    }

    void expect_flush_that_fails(const Watched& watched, const Fault& fault, std::uint64_t chances) {
        put_files(watched.before, scratch_.work());
        Watched again{nullptr, {}, {}, {}};
        watched.run(scratch_.work(), fault, again.record);
        for (std::uint64_t chance = 0; chance < chances; ++chance) {
            for (std::size_t after = 0; after <= again.record.steps.size(); ++after) {
                std::mt19937_64 random(chance * 1000003 + after);
                const Disk disk =
                    after_power_cut(again.record.start, std::span(again.record.steps).first(after), random);
                expect_nothing(fmt::format("{}, then cut after {}, {}", name_of_fault(watched, fault), after, chance),
                               watched.job->judge_cut(disk.files(), watched.before, watched.whole, again.said(after),
                                                      scratch_.look()));
            }
        }
    }

    // Without memory, nlohmann's JSON (allocates in its destructor) and toml++ (parses behind a noexcept) end the
    // program.
    void leave_out_json_and_toml() {
        std::erase_if(jobs_, [](const Watched& watched) {
            const std::string& name = watched.job->name();
            return name.find(".ome.zarr") != std::string::npos || name.starts_with("reconstruct") ||
                   name == "recording over an earlier one";
        });
    }

    // Returns the number of allocations of each job, without those that are made once per process.
    std::vector<std::int64_t> allocations() {
        std::vector<std::int64_t> counts;
        for (const Watched& watched : jobs_) {
            put_files(watched.before, scratch_.work());
            const Path folder = scratch_.work();
            Journal::the().begin(folder, {});  // skips flushes and preallocation
            Allocations::begin(-1);
            watched.run(folder);
            counts.push_back(Allocations::end());
            Journal::the().end();
        }
        return counts;
    }

    void expect_out_of_memory(const Watched& watched, std::int64_t at) {
        now_ = fmt::format("{}: no memory at {}", watched.job->name(), at);
        put_files(watched.before, scratch_.work());
        Ending ending;
        const Path folder = scratch_.work();
        Journal::the().begin(folder, {});
        Allocations::begin(at);
        ending.problem = watched.run(folder);
        const bool was_met = Allocations::end() > at;
        Journal::the().end();
        ending.may_leave_rests = true;
        if (was_met)
            expect_nothing(now_, watched.job->judge_end(scratch_.work(), watched.before, watched.whole, ending));
    }

    void tell(const std::string& what) const {
        std::cout << what << ": " << cases_ << " cases in " << jobs_.size() << " jobs, " << violations_
                  << " violations\n";
        RecordProperty("cases", std::to_string(cases_));
        EXPECT_GT(cases_, 0);
        EXPECT_EQ(violations_, 0);
    }

    static std::uint64_t seed() {
        const char* const given = std::getenv("ECHOLUX_FAULT_SEED");
        const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
        std::cout << "ECHOLUX_FAULT_SEED=" << seed << "\n";
        return seed;
    }

    Scratch scratch_;
    std::vector<Watched> jobs_;
    std::int64_t cases_ = 0;
    std::int64_t violations_ = 0;
    static inline std::string now_;  // printed if the program is terminated
};

constexpr auto timeout = std::chrono::seconds(4);  // time limit of each random part

TEST_F(Faults, FailedCallsKeepFilesConsistent) {
    std::mt19937_64 random(seed());
    const auto until = std::chrono::steady_clock::now() + timeout;
    std::vector<std::vector<Fault>> faults;
    for (const Watched& watched : jobs_) faults.push_back(faults_of(watched));
    while (std::chrono::steady_clock::now() < until && violations_ == 0) {
        const std::size_t which = random() % jobs_.size();
        const Fault fault = faults[which][random() % faults[which].size()];
        expect_nothing(name_of_fault(jobs_[which], fault), judge_fault(jobs_[which], fault));
    }
    tell("calls that fail");
}

TEST_F(Faults, SlowEveryFailedCallKeepsFilesConsistent) {
    for (const Watched& watched : jobs_) {
        for (const Fault& fault : faults_of(watched))
            expect_nothing(name_of_fault(watched, fault), judge_fault(watched, fault));
    }
    tell("calls that fail");
}

TEST_F(Faults, PowerCutsKeepReportedData) {
    std::mt19937_64 random(seed());
    const auto until = std::chrono::steady_clock::now() + timeout;
    while (std::chrono::steady_clock::now() < until && violations_ == 0) {
        const Watched& watched = jobs_[random() % jobs_.size()];
        const std::size_t after = random() % (watched.record.steps.size() + 1);
        const std::uint64_t chance = random() % 1000000;
        expect_nothing(name_of_cut(watched, after, chance), judge_cut(watched, watched.record.steps, after, chance));
    }
    tell("power cuts");
}

TEST_F(Faults, SlowPowerCutAfterEveryStepKeepsReportedData) {
    for (const Watched& watched : jobs_) {
        for (std::size_t after = 0; after <= watched.record.steps.size(); ++after) {
            for (std::uint64_t chance = 0; chance < 1700; ++chance)
                expect_nothing(name_of_cut(watched, after, chance),
                               judge_cut(watched, watched.record.steps, after, chance));
        }
    }
    tell("power cuts");
}

// Data that failed to flush is lost at once. The recording's reports and later reads must not depend on it.
TEST_F(Faults, FailedFlushesAreNotTrusted) {
    expect_flushes_that_fail(1);
}

TEST_F(Faults, SlowFailedFlushesAreNotTrusted) {
    expect_flushes_that_fail(20);
}

// ---- memory

TEST_F(Faults, FailedAllocationsKeepFilesConsistent) {
    leave_out_json_and_toml();
    std::mt19937_64 random(seed());
    const std::vector<std::int64_t> counts = allocations();
    const auto until = std::chrono::steady_clock::now() + timeout;
    while (std::chrono::steady_clock::now() < until && violations_ == 0) {
        const std::size_t which = random() % jobs_.size();
        const auto at = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(counts[which]));
        expect_out_of_memory(jobs_[which], at);
    }
    tell("allocations that fail");
}

// Covers every allocation of recordings and settings, and every 17th of results, which make some thousand each.
TEST_F(Faults, SlowEveryFailedAllocationKeepsFilesConsistent) {
    leave_out_json_and_toml();
    const std::vector<std::int64_t> counts = allocations();
    for (std::size_t which = 0; which < jobs_.size(); ++which) {
        const std::string& name = jobs_[which].job->name();
        const std::int64_t step = name.starts_with("recording") || name.starts_with("settings") ? 1 : 17;
        for (std::int64_t at = 0; at < counts[which]; at += step) expect_out_of_memory(jobs_[which], at);
    }
    tell("allocations that fail");
}

// ---- checks of these tests: each kind of carelessness is found in each job

std::vector<Step> without_flushes(const Record& record, bool of_folders) {
    std::vector<Step> steps = record.steps;
    std::set<int> folders{Disk::root};
    for (const auto& [folder, names] : record.start.names) folders.insert(folder);
    for (const Step& step : steps) {
        if (step.kind == Step::Kind::make_folder) folders.insert(step.node);
    }
    for (Step& step : steps) {
        if (step.kind == Step::Kind::flush && folders.contains(step.node) == of_folders)
            step = {.kind = Step::Kind::flush, .node = -1};  // flushes nothing; keeps the numbering
    }
    return steps;
}

// Renames before flushing the bytes.
std::vector<Step> renamed_too_soon(const Record& record) {
    std::vector<Step> steps = record.steps;
    for (std::size_t i = 1; i < steps.size(); ++i) {
        const bool takes_name = steps[i].kind == Step::Kind::rename || steps[i].kind == Step::Kind::exchange;
        if (takes_name && steps[i - 1].kind == Step::Kind::flush) std::swap(steps[i - 1], steps[i]);
    }
    return steps;
}

TEST_F(Faults, DetectsPlantedFaults) {
    for (const Watched& watched : jobs_) {
        const auto is_found = [&](const std::vector<Step>& steps, std::uint64_t chances = 50) {
            for (std::uint64_t chance = 0; chance < chances; ++chance) {
                for (std::size_t after = 0; after <= steps.size(); ++after) {
                    if (!judge_cut(watched, steps, after, chance).empty()) return true;
                }
            }
            return false;
        };
        EXPECT_FALSE(is_found(watched.record.steps, 5)) << watched.job->name();
        EXPECT_TRUE(is_found(without_flushes(watched.record, false))) << "no flush of files: " << watched.job->name();
        EXPECT_TRUE(is_found(without_flushes(watched.record, true))) << "no flush of folders: " << watched.job->name();
        EXPECT_TRUE(is_found(renamed_too_soon(watched.record))) << "renamed too soon: " << watched.job->name();
    }
}

void print(const Record& record) {
    constexpr std::array kinds{"make",         "make folder", "write",    "resize", "flush",
                               "failed flush", "rename",      "exchange", "remove"};
    for (std::size_t i = 0; i < record.steps.size(); ++i) {
        const Step& step = record.steps[i];
        std::cout << fmt::format("{:4} {} node {}: {}/{} {}/{} {} bytes at {}", i,
                                 kinds[static_cast<std::size_t>(step.kind)], step.node, step.folder, step.name,
                                 step.to_folder, step.to_name, step.bytes.size(), step.place);
        for (const auto& [after, much] : record.said) {
            if (after == i + 1) std::cout << "; then said: " << much;
        }
        std::cout << "\n";
    }
}

TEST_F(Faults, RepeatsNamedCase) {
    const char* const given = std::getenv("ECHOLUX_FAULT");
    if (given == nullptr) GTEST_SKIP() << "set ECHOLUX_FAULT to the name of a case that failed";
    const std::string wanted = given;
    for (const Watched& watched : jobs_) {
        const std::string begins = watched.job->name() + ": ";
        if (!wanted.starts_with(begins)) continue;
        print(watched.record);
        for (const Fault& fault : faults_of(watched)) {
            const std::string name = name_of_fault(watched, fault);
            if (wanted == name) expect_nothing(name, judge_fault(watched, fault));
            if (wanted.starts_with(name + ", then cut")) expect_flush_that_fails(watched, fault, 20);
        }
        std::size_t number = 0;
        std::uint64_t chance = 0;
        const char* const rest = wanted.c_str() + begins.size();
        if (std::sscanf(rest, "no memory at %zu", &number) == 1)
            expect_out_of_memory(watched, static_cast<std::int64_t>(number));
        if (std::sscanf(rest, "cut after %zu, %lu", &number, &chance) == 2)
            expect_nothing(wanted, judge_cut(watched, watched.record.steps, number, chance));
    }
    tell("named cases");
}

}  // namespace
}  // namespace echolux::faults
