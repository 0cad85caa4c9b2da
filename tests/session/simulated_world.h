// The environment of a simulated live system: an instrument, a disk, a GPU that reconstructs and one that draws, all
// with random faults, and the check of invariants. A violation is reported with its seed and step.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "compute/error.h"
#include "compute/indexing.h"
#include "engine/acquire/source.h"
#include "engine/live/display_queue.h"
#include "engine/live/recorder.h"
#include "engine/live/session.h"
#include "engine/live/volume_ring.h"
#include "live_plan.h"
#include "simulated_threads.h"

namespace echolux::test {

using namespace std::chrono_literals;

constexpr std::int64_t blocks_a_volume = 4;  // of live_scan(), one B-scan each
constexpr std::int64_t block_words = 3 * 64 * 2 / 8;
constexpr std::int64_t pool_of_the_instrument = 24;

// Probabilities of faults. All are off while the world is calm.
struct Chances {
    double stall = 0.002, lose = 0.01, repeat = 0.005, reset = 0.001, cut_short = 0.005, jump = 0.002,
           disconnect = 0.002, refuse_start = 0.4, slow_sink = 0.05, fail_sink = 0.005, slow_disk = 0.02,
           fail_write = 0.002, fail_sync = 0.001;
};

class World {
  public:
    explicit World(std::uint64_t seed) : threads(seed) {}

    bool happens(double probability) { return !is_calm && threads.happens(probability); }
    void expect(bool holds, const char* what) const {
        if (!holds) fail(what);
    }
    // Reports what is needed to reproduce the violation and ends the process, because simulated threads cannot
    // propagate it.
    [[noreturn]] void fail(const std::string& what) const {
        fmt::print(stderr, "broken: seed {}, step {}, {:.3f} s: {}\n", threads.seed(), threads.steps(),
                   threads.seconds(), what);
        std::fflush(stderr);
        std::_Exit(3);
    }

    SimulatedThreads threads;
    Chances chances;
    bool is_calm = false;
};

// ---- the instrument

// All words of a block contain its run and its number within the run. A run begins when the instrument starts and when
// its counter restarts.
struct Stamp {
    std::int64_t run = 0, number = 0;

    std::uint64_t word() const {
        return (static_cast<std::uint64_t>(run) << 40) + static_cast<std::uint64_t>(number) + 1;
    }
    static Stamp of(std::uint64_t word) {
        const std::uint64_t both = word - 1;
        return {static_cast<std::int64_t>(both >> 40), static_cast<std::int64_t>(both & ((1ULL << 40) - 1))};
    }
};

class Instrument : public Source {
  public:
    explicit Instrument(World& world) : world_(world) {}

    const Scan& scan() const override { return scan_; }
    std::int64_t block_b_scans() const override { return 1; }
    std::int64_t pool_blocks() const override { return pool_of_the_instrument; }
    const SourceCapabilities& capabilities() const override { return capabilities_; }
    std::string name() const override { return "simulated instrument"; }

    void start() override {
        world_.threads.give_way();
        if (world_.happens(world_.chances.refuse_start)) throw Error(ErrorCode::device, "is not there", name());
        started_.insert(++run_);
        next_ = lost_ = reset_by_ = 0;
        time_jump_s_ = 0;
        due_ = world_.threads.now() + period;
        is_running_ = true;
    }
    void stop() noexcept override { is_running_ = false; }

    Arrival next(std::chrono::milliseconds timeout) override {
        world_.expect(is_running_, "a source that is stopped is asked for blocks");
        const auto wait = std::min<Threads::Clock::duration>(timeout, due_ - world_.threads.now());
        world_.threads.sleep(std::max<Threads::Clock::duration>(wait, 0ns));
        if (world_.threads.now() < due_) return {};
        due_ = std::max(due_ + period, world_.threads.now());
        return sent();
    }

    std::int64_t alive() const { return *alive_; }
    std::int64_t sent_blocks() const { return sent_; }
    bool began_with_a_start(std::int64_t run) const { return started_.contains(run); }

    static constexpr auto period = 1ms;

  private:
    Arrival sent() {
        const Chances& chances = world_.chances;
        if (world_.happens(chances.disconnect)) {
            is_running_ = false;
            throw Error(ErrorCode::device, "was disconnected", name());
        }
        if (world_.happens(chances.stall))
            due_ += std::chrono::milliseconds(static_cast<int>(8000 * world_.threads.any()));
        if (world_.happens(chances.lose) || *alive_ >= pool_of_the_instrument) {
            ++lost_;
            ++next_;
            return {};
        }
        if (world_.happens(chances.repeat) && last_) return {Arrival::Kind::block, *last_};
        if (world_.happens(chances.reset) && next_ > 40) {  // its counter restarts
            reset_by_ = next_;
            ++run_;
        }
        if (world_.happens(chances.jump)) time_jump_s_ += 10 * world_.threads.any() - 5;
        Block block = made(next_++);
        if (world_.happens(chances.cut_short)) block.bytes /= 2;
        last_ = block;
        last_->keeper.reset();  // does not keep the block's memory
        last_->data = fixed_.data();
        ++sent_;
        return {Arrival::Kind::block, std::move(block)};
    }

    Block made(std::int64_t number) {
        const std::int64_t counted = number - reset_by_;
        const auto words = std::make_shared<std::vector<std::uint64_t>>(block_words, Stamp{run_, counted}.word());
        Block block{.data = reinterpret_cast<const std::byte*>(words->data()),
                    .bytes = block_words * 8,
                    .memory = MemoryKind::host,
                    .volume = counted / blocks_a_volume,
                    .first_b_scan = counted % blocks_a_volume,
                    .b_scans = 1,
                    .sequence = static_cast<std::uint64_t>(counted),
                    .lost_before = std::exchange(lost_, 0),
                    .time_s = 0.003 * static_cast<double>(number) + time_jump_s_};
        ++*alive_;
        block.keeper = {block.data, [alive = alive_, words](const void*) { --*alive; }};
        return block;
    }

    World& world_;
    Scan scan_ = live_scan();
    SourceCapabilities capabilities_;
    std::shared_ptr<std::int64_t> alive_ = std::make_shared<std::int64_t>(0);
    std::vector<std::byte> fixed_ = std::vector<std::byte>(block_words * 8);
    std::optional<Block> last_;
    bool is_running_ = false;
    Threads::Clock::time_point due_;
    std::set<std::int64_t> started_;  // runs that began with a start
    std::int64_t run_ = 0, next_ = 0, lost_ = 0, reset_by_ = 0, sent_ = 0;
    double time_jump_s_ = 0;
};

// ---- the disk

struct FileOnDisk {
    std::vector<std::byte> bytes;
    std::size_t durable = 0;  // bytes at the last sync
};

class Disk {
  public:
    explicit Disk(World& world) : world_(world) {}

    RecordingTools tools() {
        const auto opened = [this](const std::filesystem::path& path, auto...) -> std::unique_ptr<DurableFile> {
            files[path.string()] = {};
            return std::make_unique<File>(*this, files[path.string()], path.extension() == ".csv");
        };
        RecordingTools tools = RecordingTools::real();
        tools.open_raw = tools.open_index = opened;
        tools.seconds = [this] { return world_.threads.seconds(); };
        tools.threads = &world_.threads;
        return tools;
    }

    std::map<std::string, FileOnDisk> files;
    std::int64_t failed_rows = 0;  // failed writes to an index

  private:
    class File : public DurableFile {
      public:
        File(Disk& disk, FileOnDisk& file, bool is_index)
            : disk_(disk), world_(disk.world_), file_(file), is_index_(is_index) {}

        void write(std::int64_t place, std::span<const std::byte> bytes) override {
            delay();
            if (world_.happens(world_.chances.fail_write)) {
                if (is_index_) ++disk_.failed_rows;
                throw Error(ErrorCode::output, "the disk is full", "disk");
            }
            const auto begin = index(place);
            file_.bytes.resize(std::max(file_.bytes.size(), begin + bytes.size()));
            std::memcpy(file_.bytes.data() + begin, bytes.data(), bytes.size());
        }
        bool reserve(std::int64_t) override { return true; }
        void sync() override {
            delay();
            if (world_.happens(world_.chances.fail_sync)) throw Error(ErrorCode::output, "did not sync", "disk");
            file_.durable = file_.bytes.size();
        }
        void end_at(std::int64_t size) override { file_.bytes.resize(index(size)); }

      private:
        void delay() {
            if (world_.happens(world_.chances.slow_disk))
                world_.threads.sleep(std::chrono::milliseconds(static_cast<int>(60 * world_.threads.any())));
            else
                world_.threads.give_way();
        }
        Disk& disk_;
        World& world_;
        FileOnDisk& file_;
        bool is_index_;
    };

    World& world_;
};

// ---- the two GPUs

// A timeline semaphore; checks that its value only grows.
class SimulatedTimeline {
  public:
    SimulatedTimeline(World& world, const char* name) : world_(world), name_(name) {}
    std::uint64_t value() const { return value_; }
    void signal(std::uint64_t value) {
        if (value <= value_) world_.fail(fmt::format("timeline {} goes from {} to {}", name_, value_, value));
        value_ = value;
    }

  private:
    World& world_;
    const char* name_;
    std::uint64_t value_ = 0;
};

// Executes work in order: each piece begins when its wait is over and lasts a given time.
class SimulatedQueue {
  public:
    struct Work {
        SimulatedTimeline* waits_for = nullptr;
        std::uint64_t wait = 0;
        Threads::Clock::duration lasts{};
        std::function<void()> begins, ends;
    };

    explicit SimulatedQueue(World& world) : world_(world) {}

    void submit(Work work) { work_.push_back(std::move(work)); }
    bool is_empty() const { return work_.empty(); }
    std::size_t size() const { return work_.size(); }
    void drop_all() {
        work_.clear();
        is_begun_ = false;
    }

    // Performs everything that is due.
    void advance() {
        for (; !work_.empty(); work_.pop_front(), is_begun_ = false) {
            Work& work = work_.front();
            if (!is_begun_) {
                if (work.waits_for != nullptr && work.waits_for->value() < work.wait) return;
                is_begun_ = true;
                done_at_ = world_.threads.now() + work.lasts;
                if (work.begins) work.begins();
            }
            if (world_.threads.now() < done_at_) return;
            if (work.ends) work.ends();
        }
    }

  private:
    World& world_;
    std::deque<Work> work_;
    bool is_begun_ = false;
    Threads::Clock::time_point done_at_{};
};

}  // namespace echolux::test
