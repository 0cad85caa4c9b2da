#include "app/jobs/register_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>

#include "app/jobs/convert_input.h"
#include "app/open/files_read.h"
#include "app/open/open_volume.h"
#include "compute/counted.h"
#include "compute/error.h"
#include "engine/io/output_file.h"
#include "engine/io/own_files.h"
#include "engine/scan/settings.h"
#include "engine/version.h"

namespace echolux {
namespace {

constexpr double many = 0.2;  // part of the B-scans without a place, from which on it is told

// All time points of all inputs, one after the other.
class VolumesIn {
  public:
    explicit VolumesIn(const std::vector<std::filesystem::path>& paths) {
        for (const std::filesystem::path& path : paths) {
            if (is_scan_name(path)) {
                throw Error(ErrorCode::bad_setting, "is a scan: registration takes volumes", path.string(),
                            "`reconstruct` makes them");
            }
            auto& one = inputs_.emplace_back(path.string(), std::make_unique<ConvertInput>(path), 0);
            one.count = one.input->header().time_points;
            count_ += one.count;
        }
    }

    std::int64_t count() const { return count_; }

    PowerVolume read(std::int64_t number) {
        for (Input& one : inputs_) {
            if (number < one.count) {
                const SeriesHeader& header = one.input->header();
                return power_of({header.grid, one.input->read(number, {0, header.grid.b_scans}), {}});
            }
            number -= one.count;
        }
        refuse_number();
    }

    [[noreturn]] void refuse_number() const {
        throw Error(ErrorCode::bad_setting, "there is no volume of this number", "reference_volume",
                    count_ == 1 ? "there is one, whose B-scans are aligned to their neighbours"
                                : fmt::format("there are 0 to {}", count_ - 1));
    }

    const VolumeGrid& grid() const { return inputs_.front().input->header().grid; }

    const std::map<std::string, std::string>& provenance() const { return inputs_.front().input->header().provenance; }

  private:
    struct Input {
        std::string name;
        std::unique_ptr<ConvertInput> input;
        std::int64_t count;
    };

    std::vector<Input> inputs_;
    std::int64_t count_ = 0;
};

std::vector<RowShift> at_rest(std::int64_t b_scans) {
    return std::vector<RowShift>(static_cast<std::size_t>(b_scans), RowShift{.quality = 1});
}

// What was asked for, and the numbers of what came of it.
class Registering {
  public:
    Registering(const RegisterJob& job, const RegistrationSettings& settings)
        : job_(job), settings_(settings), volumes_(job.inputs) {}

    RegisteredVolumes run(Progress& progress) {
        result_.volumes = volumes_.count();
        result_.is_within = job_.reference.empty() && volumes_.count() == 1;
        if (job_.reference_volume < 0 || job_.reference_volume >= volumes_.count()) volumes_.refuse_number();
        if (volumes_.grid().quantity.empty())
            result_.warnings.push_back("the volume does not say what its voxels hold; they are taken as intensities");
        if (result_.is_within)
            align(progress);
        else
            register_all(progress);
        for (const auto& rows : rows_) count(rows);
        warn();
        write();
        return result_;
    }

  private:
    void align(Progress& progress) {
        const PowerVolume volume = volumes_.read(0);
        progress.begin("register", volume.grid.b_scans, "B-scans");
        rows_.push_back(align_neighbours(volume, settings_, progress));
        require_some(rows_.back(), "no B-scan fits its neighbours");
        start_mean(volume.grid);
        add(volume);
        progress.end();
    }

    void register_all(Progress& progress) {
        const bool is_apart = !job_.reference.empty();
        const PowerVolume first =
            is_apart ? power_of(read_volume(job_.reference)) : volumes_.read(job_.reference_volume);
        progress.begin("register", first.grid.b_scans * volumes_.count(), "B-scans");
        const Reference reference(first, settings_);
        start_mean(first.grid);
        std::vector<RowShift> others;
        for (std::int64_t number = 0; number < volumes_.count(); ++number) {
            const bool is_itself = !is_apart && number == job_.reference_volume;
            const PowerVolume volume = volumes_.read(number);
            if (is_itself) {
                rows_.push_back(at_rest(volume.grid.b_scans));
                progress.advance(volume.grid.b_scans);
            } else {
                rows_.push_back(reference.register_rows(volume, progress));
                others.insert(others.end(), rows_.back().begin(), rows_.back().end());
            }
            add(volume);
        }
        require_some(others, "no B-scan fits the reference");
        progress.end();
    }

    static void require_some(const std::vector<RowShift>& rows, const std::string& problem) {
        if (std::ranges::any_of(rows, &RowShift::is_valid)) return;
        throw Error(ErrorCode::bad_setting, problem, "registration",
                    "is it the same place of the same sample, and more than noise? Larger ranges may help");
    }

    void start_mean(const VolumeGrid& grid) {
        grid_ = grid;
        if (!job_.output.empty()) mean_ = std::make_unique<RegisteredMean>(grid);
    }

    void add(const PowerVolume& volume) {
        if (mean_) mean_->add(volume, rows_.back());
    }

    void count(const std::vector<RowShift>& rows) {
        for (const RowShift& row : rows) {
            ++result_.b_scans;
            ++result_.reasons[std::string(name_of(row.reason))];
            if (row.is_saccade) ++result_.saccades;
        }
    }

    void warn() {
        for (std::size_t volume = 0; volume < rows_.size(); ++volume) {
            const auto lost = std::ranges::count_if(rows_[volume], [](const RowShift& row) { return !row.is_valid(); });
            const auto all = std::ssize(rows_[volume]);
            if (static_cast<double>(lost) > many * static_cast<double>(all)) {
                result_.warnings.push_back(fmt::format("volume {}: {} of {} have no place in the reference", volume,
                                                       lost, counted(all, "B-scans")));
            }
        }
    }

    void write() const {
        if (!job_.table.empty()) {
            const std::string text = csv_of(rows_, grid_);
            OutputFile file(job_.table);
            file.write(std::as_bytes(std::span(text)));
            file.commit();
        }
        if (!mean_) return;
        Volume volume = mean_->volume();
        volume.provenance = volumes_.provenance();
        volume.provenance["echolux"] = version;
        volume.provenance["registration.volumes"] = std::to_string(result_.volumes);
        volume.provenance["registration.b_scans_used"] =
            fmt::format("{} of {}", mean_->b_scans_used(), result_.b_scans);
        volume.provenance["registration.reference"] = result_.is_within ? "neighbours"
                                                      : job_.reference.empty()
                                                          ? fmt::format("volume {}", job_.reference_volume)
                                                          : job_.reference.filename().string();
        RegistrationSettings bound = settings_;
        Settings settings;
        settings.bind("registration", bound);
        for (const BoundField& field : settings.fields()) volume.provenance[field.key()] = spelled(field.get());
        write_volume(job_.output, volume);
    }

    const RegisterJob& job_;
    RegistrationSettings settings_;
    VolumesIn volumes_;
    VolumeGrid grid_;
    std::unique_ptr<RegisteredMean> mean_;
    std::vector<std::vector<RowShift>> rows_;
    RegisteredVolumes result_;
};

}  // namespace

RegisteredVolumes run(const RegisterJob& job, Progress& progress) {
    if (job.output.empty() && job.table.empty()) {
        throw Error(ErrorCode::bad_setting, "nothing would be written", "output", "name a volume, a table, or both");
    }
    FileNames inputs = job.reference.empty() ? FileNames{} : files_read(job.reference);
    for (const std::filesystem::path& input : job.inputs)
        std::ranges::copy(files_read(input), std::back_inserter(inputs));
    const auto is_own_table = [](const std::filesystem::path& path) { return begins_with(path, registration_heading); };
    check_outputs({{job.output, is_own_volume}, {job.table, is_own_table, {".csv"}}}, inputs, job.overwrites);
    if (!job.output.empty()) check_volume_name(job.output, VoxelType::f32);
    RegistrationSettings wanted;
    Settings settings;
    settings.bind("registration", wanted);
    for (const std::string& assignment : job.settings) settings.set_assignment(assignment);
    return Registering(job, wanted).run(progress);
}

}  // namespace echolux
