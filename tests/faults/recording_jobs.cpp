// A recording of three small volumes, new or replacing an earlier one.
#include <atomic>

#include "allocations.h"
#include "jobs.h"
#include "recording_disks.h"

namespace echolux::faults {
namespace {

constexpr std::int64_t blocks = 9, earlier_blocks = 6;
const std::string toml = "rec/scan.toml";
const std::string aside = "rec/scan.before/";

class RecordingJob : public Job {
  public:
    explicit RecordingJob(bool replaces)
        : Job(replaces ? "recording over an earlier one" : "recording"), replaces_(replaces) {}

    void prepare(const Path& folder) override {
        std::filesystem::create_directories(folder / "rec");
        if (!replaces_) return;
        Recorder recorder(wanted(earlier_, folder, 7));
        offer_all(recorder, earlier_, earlier_blocks);
    }

    std::string run(const Path& folder) override {
        stats_ = {};
        std::atomic<double> clock = 0;
        std::optional<UncountedScope> not_counted(std::in_place);
        RecordingTools tools = watched_raw([&](std::int64_t, std::span<const std::byte>) { clock = clock + 0.2; });
        tools.seconds = [&] { return clock.load(); };
        const RecordingRequest wanted_now = wanted(source_, folder, 8);
        not_counted.reset();
        Recorder recorder(wanted_now, tools);
        offer_all(recorder, source_, blocks);
        recorder.finish();
        not_counted.emplace();
        stats_ = recorder.stats();
        if (stats_.problem) return stats_.problem->line();
        Journal::the().say(blocks);
        return {};
    }

    std::string judge_cut(const Files& files, const Files& before, const Files&, std::int64_t said,
                          const Path& scratch) override {
        const bool has_earlier = is_there(files, before);
        if (!files.contains(toml)) return said > 0 || !has_earlier ? "the recording is gone" : "";
        if (replaces_ && files.at(toml) == before.at(toml)) return said == 0 ? "" : "the earlier recording is back";
        put_files(files, scratch);
        std::int64_t opened = 0;
        for (const char* name : {"rec/scan.toml", "rec/scan-2.toml", "rec/scan-3.toml"}) {
            if (!files.contains(name)) continue;
            if (const std::string wrong = look_into(scratch / name, opened); !wrong.empty()) return wrong;
        }
        if (opened == 0 && !has_earlier) return "the earlier recording is gone too soon";
        if (opened >= said) return {};
        return std::to_string(said) + " blocks were said to be there, " + std::to_string(opened) + " are";
    }

    std::string judge_end(const Path& folder, const Files& before, const Files&, const Ending& ending) override {
        const Files files = files_in(folder);
        for (const auto& [name, bytes] : files) {
            if (is_rest(name) && !ending.may_leave_rests) return name + " is left";
        }
        if (stats_.blocks == 0) {
            if (ending.problem.empty()) return "no block is recorded, and nothing said";
            if (ending.may_leave_rests) return replaces_ && !is_there(files, before) ? "the earlier one is gone" : "";
            return files == before ? "" : "what was there before is not there again";
        }
        return judge_recorded(folder, ending);
    }

  private:
    static RecordingRequest wanted(const SmallSource& source, const Path& folder, double dark) {
        RecordingRequest wanted{.scan_toml = folder / toml, .scan = source.scan()};
        wanted.scan.calibration.dark.assign(SmallSource::samples, dark);
        wanted.replace = true;
        return wanted;
    }

    // Offers each block after the previous one is processed, even if the disk has failed.
    static void offer_all(Recorder& recorder, const SmallSource& source, std::int64_t count) {
        for (std::int64_t number = 0; number < count; ++number) {
            std::optional<UncountedScope> not_counted(std::in_place);
            const Block block = source.block(number);
            not_counted.reset();
            recorder.offer(block);
            not_counted.emplace();
            while (recorder.stats().blocks_held > 0) std::this_thread::yield();
            Journal::the().say(recorder.stats().durable_blocks);
        }
    }

    // True if every file of the earlier recording is unchanged, at its place or moved aside.
    static bool is_there(const Files& files, const Files& before) {
        return std::ranges::all_of(before, [&](const auto& file) {
            const auto& [name, bytes] = file;
            if (name.ends_with('/')) return true;
            const auto is = [&](const std::string& at) {
                const auto found = files.find(at);
                return found != files.end() && found->second == bytes;
            };
            return is(name) || is(aside + name.substr(name.rfind('/') + 1));
        });
    }

    // Adds the number of blocks that can be opened to `opened`. Returns the first fault, or "".
    std::string look_into(const Path& scan_toml, std::int64_t& opened) const {
        Scan scan;
        try {
            scan = open_scan(scan_toml);
        } catch (const Error& error) {
            const bool is_empty = error.line().find("before its first whole block") != std::string::npos;
            return is_empty ? "" : "does not open: " + error.line();
        }
        if (scan.calibration.dark != std::vector<double>(SmallSource::samples, 8))
            return "opens with wrong calibration";
        const std::int64_t b_scan_bytes = 2 * source_.frame_bytes();
        const bool has_volume = scan.geometry.b_scans == SmallSource::b_scans;
        const std::int64_t whole = has_volume ? scan.geometry.volumes * source_.volume_bytes() : 0;
        const std::int64_t end = whole + scan.recording.last_volume_b_scans * b_scan_bytes;
        std::int64_t blocks_in_it = 0;
        const std::string wrong = wrong_block(scan, end, blocks_in_it);
        opened += blocks_in_it;
        return wrong.empty() && scan.recording.complete && blocks_in_it < blocks ? "is called complete, and is not"
                                                                                 : wrong;
    }

    // Checks the blocks before byte `end` against the index. Returns the fault, or "".
    std::string wrong_block(const Scan& scan, std::int64_t end, std::int64_t& blocks_in_it) const {
        const Bytes raw = bytes_of(scan.spectra);
        std::string wrong;
        read_index(scan.path.parent_path() / scan.recording.index, [&](const IndexRow& row) {
            if (row.end() > end) return false;
            if (row.missing > 0) return true;
            ++blocks_in_it;
            const Block block = source_.block(static_cast<std::int64_t>(row.sequence));
            const bool is_whole = row.end() <= std::ssize(raw) && row.bytes == block.bytes;
            if (!is_whole || !std::equal(block.data, block.data + block.bytes, raw.begin() + row.byte_offset))
                wrong = "block " + std::to_string(row.sequence) + " is wrong";
            return wrong.empty();
        });
        return wrong;
    }

    // Checks that every block in the index is in the file and that missing blocks are reported.
    std::string judge_recorded(const Path& folder, const Ending& ending) const {
        std::int64_t recorded = 0;
        bool is_complete = false;
        for (const auto& entry : std::filesystem::directory_iterator(folder / "rec")) {
            if (entry.path().extension() != ".toml" || is_rest(entry.path().filename().string())) continue;
            Scan scan;
            try {
                scan = open_scan(entry.path());
            } catch (const Error& error) {
                return "does not open: " + error.line();
            }
            is_complete = scan.recording.complete;
            const std::string wrong = wrong_block(scan, std::int64_t{1} << 40, recorded);
            if (!wrong.empty()) return wrong;
        }
        if (recorded != stats_.blocks) return "the index tells of " + std::to_string(recorded) + " blocks";
        if (stats_.blocks + stats_.missing_blocks != blocks) return "blocks are not counted";
        if (ending.problem.empty() && !is_complete) return "is not complete, and nothing was said";
        return is_complete && stats_.blocks < blocks ? "is called complete, and is not" : "";
    }

    const bool replaces_;
    SmallSource source_;
    SmallSource earlier_{0, 1, 0, 0};
    RecorderStats stats_;
};

}  // namespace

std::unique_ptr<Job> recording_job(bool replaces) {
    return std::make_unique<RecordingJob>(replaces);
}

std::vector<std::unique_ptr<Job>> all_jobs() {
    std::vector<std::unique_ptr<Job>> jobs = result_jobs();
    for (const bool replaces : {false, true}) {
        jobs.push_back(recording_job(replaces));
        jobs.push_back(settings_job(replaces));
    }
    return jobs;
}

}  // namespace echolux::faults
