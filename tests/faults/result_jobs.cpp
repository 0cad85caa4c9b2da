// Results under one name, new or replacing an earlier one: volumes in every format, and settings.
#include <fmt/format.h>

#include <fstream>

#include "app/jobs/jobs.h"
#include "compute/indexing.h"
#include "engine/build.h"
#include "engine/io/image_format.h"
#include "engine/io/volume_file.h"
#include "engine/scan/scan.h"
#include "jobs.h"
#include "run_operation.h"

namespace echolux::faults {
namespace {

bool is_or_lies_in(const std::string& name, const std::string& result) {
    return name == result || name.starts_with(result + "/");
}

Files part_of(const Files& files, const std::string& result) {
    Files part;
    for (const auto& [name, bytes] : files) {
        if (is_or_lies_in(name, result)) part[name] = bytes;
    }
    return part;
}

class ResultJob : public Job {
  public:
    ResultJob(const std::string& name, std::string result, bool replaces)
        : Job(name + (replaces ? " over an earlier one" : "")), replaces_(replaces), result_(std::move(result)) {}

    void prepare(const Path& folder) override {
        if (!replaces_) return prepare_input(folder, 2);
        prepare_input(folder, 1);
        make(folder / result_);
        prepare_input(folder, 2);
    }

    std::string run(const Path& folder) override {
        make(folder / result_);
        Journal::the().say(1);
        return {};
    }

    std::string judge_cut(const Files& files, const Files& before, const Files& whole, std::int64_t said,
                          const Path&) override {
        if (const std::string harm = others(files, before, true); !harm.empty()) return harm;
        const Files now = part_of(files, result_), old = part_of(before, result_), made = part_of(whole, result_);
        if (now == made) return {};
        if (said > 0) return "what was said to be on the disk is not";
        return now == old ? "" : "the result is neither the old one nor the new one";
    }

    std::string judge_end(const Path& folder, const Files& before, const Files& whole, const Ending& ending) override {
        const Files files = files_in(folder);
        if (const std::string harm = others(files, before, ending.may_leave_rests); !harm.empty()) return harm;
        const Files now = part_of(files, result_), old = part_of(before, result_);
        if (now == old) return ending.problem.empty() ? "nothing was done, and nothing said" : "";
        try {
            if (content(files, folder / result_) == expected(whole, folder)) return {};
        } catch (const Error& error) {
            return "the result does not open: " + error.line();
        }
        return "the result is neither the old one nor the new one";
    }

  protected:
    const bool replaces_;
    const std::string result_;

    virtual void prepare_input(const Path& folder, int seed) = 0;
    virtual void make(const Path& result) = 0;

    // Compares voxels rather than files, because formats may store the time.
    virtual Bytes content(const Files&, const Path& result) { return read_volume(result).voxels; }

  private:
    std::string others(const Files& files, const Files& before, bool may_leave_rests) const {
        for (const auto& [name, bytes] : before) {
            if (is_or_lies_in(name, result_) || name.ends_with('/')) continue;
            const auto now = files.find(name);
            if (now == files.end() || now->second != bytes) return name + " was harmed";
        }
        for (const auto& [name, bytes] : files) {
            if (is_or_lies_in(name, result_) || before.contains(name) || is_folder_of_result(name)) continue;
            if (is_rest(name) && (may_leave_rests || is_old_folder(name, files, before))) continue;
            return name + " is left";
        }
        return {};
    }

    // True if the leftover is the old result. It is kept if the exchange could not be flushed, because a power cut
    // could undo the exchange.
    bool is_old_folder(const std::string& name, const Files& files, const Files& before) const {
        const std::string rest = name.substr(0, name.find('/'));
        Files old, now;
        for (const auto& [file, bytes] : part_of(before, result_)) old[file.substr(result_.size())] = bytes;
        for (const auto& [file, bytes] : part_of(files, rest)) now[file.substr(rest.size())] = bytes;
        return now == old;
    }

    bool is_folder_of_result(const std::string& name) const { return name.ends_with('/') && result_.starts_with(name); }

    const Bytes& expected(const Files& whole, const Path& folder) {
        if (expected_.empty()) {
            const Path elsewhere = folder.parent_path() / "whole";
            std::filesystem::create_directories(elsewhere);
            put_files(whole, elsewhere);
            expected_ = content(whole, elsewhere / result_);
            std::filesystem::remove_all(elsewhere);
        }
        return expected_;
    }

    Bytes expected_;
};

class ConvertResult : public ResultJob {
  public:
    ConvertResult(const std::string& ending, bool replaces)
        : ResultJob("convert to " + ending, "result" + ending, replaces) {}

  private:
    void prepare_input(const Path& folder, int seed) override {
        Volume volume;
        volume.grid.depth = 9;
        volume.grid.a_scans = 70;  // two OME-Zarr chunks
        volume.grid.b_scans = 3;
        volume.grid.type = VoxelType::u8;
        volume.voxels.resize(index(volume.grid.bytes()));
        std::mt19937 random(static_cast<unsigned>(seed));
        for (std::byte& voxel : volume.voxels) voxel = static_cast<std::byte>(random());
        write_volume(folder / "input.nrrd", volume);
    }

    void make(const Path& result) override {
        test::run_operation("convert",
                            {"input=" + (result.parent_path() / "input.nrrd").string(), "output=" + result.string()});
    }
};

class ReconstructResult : public ResultJob {
  public:
    ReconstructResult(const std::string& ending, bool replaces)
        : ResultJob("reconstruct to " + ending, "result" + ending, replaces) {}

  private:
    void prepare_input(const Path& folder, int seed) override {
        std::ofstream(folder / "scan.toml") << "[scan]\nfile = \"scan.raw\"\nsamples = 64\na_scans = 6\nb_scans = 3\n";
        std::mt19937 random(static_cast<unsigned>(seed));
        std::ofstream raw(folder / "scan.raw", std::ios::binary);
        for (int i = 0; i < 64 * 6 * 3; ++i) {
            const auto count = static_cast<std::uint16_t>(1000 + random() % 1000);
            raw.write(reinterpret_cast<const char*>(&count), sizeof count);
        }
    }

    void make(const Path& result) override {
        test::run_operation("reconstruct",
                            {"scan=" + (result.parent_path() / "scan.toml").string(), "output=" + result.string()},
                            Backend::cpu);
    }
};

// Saves like the window, whose settings folder may be missing.
class SettingsResult : public ResultJob {
  public:
    explicit SettingsResult(bool replaces) : ResultJob("settings", "config/echolux/window.toml", replaces) {}

  private:
    void prepare_input(const Path&, int seed) override { text_ = fmt::format("[window]\nnumber = {}\n", seed); }

    void make(const Path& result) override {
        TextWriter writer;
        writer.write(result, text_);
        writer.finish();
        const std::vector<Error> problems = writer.take_problems();
        if (!problems.empty()) throw problems.front();
    }

    Bytes content(const Files&, const Path& result) override {
        return files_in(result.parent_path()).at(result.filename().string());
    }

    std::string text_;
};

}  // namespace

bool is_rest(const std::string& name) {
    return name.starts_with("unfinished-") || name.find("/unfinished-") != std::string::npos;
}

std::unique_ptr<Job> settings_job(bool replaces) {
    return std::make_unique<SettingsResult>(replaces);
}

std::vector<std::unique_ptr<Job>> result_jobs() {
    std::vector<std::string> endings{".nrrd", ".nii", ".nii.gz", ".npy", ".mha"};
    if (has(Part::tiff)) endings.insert(endings.end(), {".ome.tif", ".tif"});
    if (has(Part::hdf5)) endings.emplace_back(".h5");
    if (has(Part::zarr)) endings.emplace_back(".ome.zarr");
    std::vector<std::unique_ptr<Job>> jobs;
    for (const std::string& ending : endings) {
        for (const bool replaces : {false, true}) {
            const bool tells_its_own = ending != ".npy";  // others are replaced only on request
            if (replaces && !tells_its_own) continue;
            jobs.push_back(std::make_unique<ConvertResult>(ending, replaces));
            jobs.push_back(std::make_unique<ReconstructResult>(ending, replaces));
        }
    }
    return jobs;
}

}  // namespace echolux::faults
