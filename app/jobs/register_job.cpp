#include "app/jobs/register_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "app/jobs/convert_job.h"
#include "app/open/open_volume.h"
#include "compute/error.h"
#include "compute/gpu_backend.h"
#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "compute/plural.h"
#include "engine/build.h"
#include "engine/io/atomic_file.h"
#include "engine/io/output_rule.h"
#include "engine/registration/registration.h"
#include "engine/scan/settings.h"

namespace echolux {

// ---- A volume and a second one of the same position whose B-scans run across it: an x-fast and a y-fast raster.

namespace {

// Returns true if `across`, with x and y exchanged, covers the same width and length. Unknown spacings are accepted.
bool is_same_field(const VolumeGrid& raster, const VolumeGrid& across) {
    constexpr double tolerance = 0.02;
    const auto size = [](double spacing_um, std::int64_t count) { return spacing_um * static_cast<double>(count); };
    const auto agree = [](double a, double b) { return a <= 0 || b <= 0 || std::abs(a - b) <= tolerance * a; };
    return agree(size(raster.spacing_um[1], raster.a_scans), size(across.spacing_um[2], across.b_scans)) &&
           agree(size(raster.spacing_um[2], raster.b_scans), size(across.spacing_um[1], across.a_scans));
}

// Checks the protocol if it is known.
void require_protocol(const std::map<std::string, std::string>& provenance, const std::string& wanted,
                      const std::string& name, const std::string& remedy) {
    const auto known = provenance.find("scan.protocol");
    if (known == provenance.end() || known->second == '"' + wanted + '"') return;
    throw Error(ErrorCode::bad_setting,
                fmt::format("was scanned with scan.protocol {}, not \"{}\"", known->second, wanted), name, remedy);
}

// Returns `volumes` with the B-scans of `file` in front of those of its single volume, as if both had been scanned at
// once. Sets settings.crosses to their number. Throws Error{bad_setting} if there are several volumes or a reference,
// or if a known scan protocol is not raster (the volume) or raster_y (`file`). Reading the result also throws if
// depths, A-scans or fields differ.
VolumesToRegister with_across(VolumesToRegister volumes, const std::filesystem::path& file, StoredAs stored_as,
                              RegistrationSettings& settings) {
    const std::string name = file.filename().string();
    if (volumes.count != 1 || volumes.reference) {
        throw Error(ErrorCode::bad_setting, "aligns a single volume, without a reference", name,
                    "align volumes one by one, then register what comes of them");
    }
    require_protocol(volumes.provenance, "raster", volumes.name(0),
                     "the volume to align is a raster along x; a raster_cross needs no other volume");
    PowerVolume across = with_file_context(name, "registration", [&] {
        Volume volume = read_volume(file);
        state_quantity(volume, stored_as);
        require_protocol(volume.provenance, "raster_y", name, "give the raster along y of the same place");
        return power_of(volume);
    });
    settings.crosses = across.grid.b_scans;
    volumes.read = [across = std::move(across), name, read = volumes.read](std::int64_t number) {
        PowerVolume raster = read(number);
        if (raster.grid.depth != across.grid.depth || raster.grid.a_scans != across.grid.a_scans) {
            throw Error(ErrorCode::bad_setting, "has B-scans of another size than the volume that it is to run across",
                        name, "scan both with as many A-scans and the same depths");
        }
        if (!is_same_field(raster.grid, across.grid)) {
            throw Error(ErrorCode::bad_setting, "covers another field than the volume that it is to run across", name,
                        "scan both as wide and as long");
        }
        raster.grid.b_scans += across.grid.b_scans;
        raster.power.insert(raster.power.begin(), across.power.begin(), across.power.end());
        return raster;
    };
    return volumes;
}

}  // namespace

// ---- Job

namespace {

constexpr std::string_view at_registration = "registration";
constexpr double many = 0.2;  // share of B-scans without a position from which a warning is given

// Concatenates the time points of all inputs.
class VolumesIn {
  public:
    VolumesIn(const std::vector<std::filesystem::path>& paths, StoredAs stored_as) : stored_as_(stored_as) {
        for (const std::filesystem::path& path : paths) {
            if (is_scan_name(path)) {
                throw Error(ErrorCode::bad_setting, "is a scan: registration takes volumes", path.string(),
                            "`reconstruct` makes them");
            }
            auto& one = inputs_.emplace_back(path.filename().string(), std::make_unique<ConvertInput>(path), 0);
            one.count = one.input->header().time_points;
            count_ += one.count;
        }
    }

    std::int64_t count() const { return count_; }

    PowerVolume read(std::int64_t number) const {
        const Input& one = input_with(number);
        const VolumeGrid& grid = one.input->header().grid;
        return with_file_context(one.name, at_registration, [&] {
            Volume volume{grid, one.input->read(number, {0, grid.b_scans}), {}};
            state_quantity(volume, stored_as_);
            return power_of(volume);
        });
    }

    std::string name(std::int64_t number) const { return input_with(number).name; }

    std::int64_t crosses(std::int64_t number) const {
        const Input& one = input_with(number);
        return with_file_context(one.name, at_registration, [&] {
            return crosses_of(one.input->header({number, number + 1}).provenance);
        });
    }

    const std::map<std::string, std::string>& provenance() const { return inputs_.front().input->header().provenance; }

  private:
    struct Input {
        std::string name;
        std::unique_ptr<ConvertInput> input;
        std::int64_t count;
    };

    // `number` becomes the index within the input.
    const Input& input_with(std::int64_t& number) const {
        auto one = inputs_.begin();
        for (; number >= one->count; ++one) number -= one->count;
        return *one;
    }

    StoredAs stored_as_;
    std::vector<Input> inputs_;
    std::int64_t count_ = 0;
};

std::vector<RowShift> at_rest(std::int64_t b_scans) {
    return std::vector<RowShift>(index(b_scans), RowShift{.quality = 1});
}

// A registration: options, intermediate state and results.
class Registering {
  public:
    Registering(const VolumesToRegister& volumes, const RegistrationSettings& settings)
        : volumes_(volumes), wanted_(settings), settings_(settings) {}

    RegisteredSeries run(Progress& progress) {
        result_.volumes = volumes_.count;
        result_.is_within = !volumes_.reference && volumes_.count == 1;
        if (volumes_.reference_volume < 0 || volumes_.reference_volume >= volumes_.count) refuse_number();
        if (settings_.crosses == 0) settings_.crosses = volumes_.crosses(0);
        result_.crosses = settings_.crosses;
        BackendChoice backend = volumes_.backend;
        if (result_.is_within && settings_.crosses > 0) backend.backend = Backend::cpu;  // crosses need the CPU
        result_.used = on_gpu_or_cpu(
            backend, [&] { register_on(Backend::cuda, progress); }, [&] { register_on(Backend::cpu, progress); });
        for (const auto& rows : rows_) count(rows);
        warn();
        RegisteredSeries made{result_, std::move(rows_), grid_, {}};
        if (mean_) made.mean = finished_mean();
        return made;
    }

  private:
    [[noreturn]] void refuse_number() const {
        throw Error(ErrorCode::bad_setting, "there is no volume of this number", "reference_volume",
                    volumes_.count == 1 ? "there is one, whose B-scans are aligned to their neighbours"
                                        : fmt::format("there are 0 to {}", volumes_.count - 1));
    }

    // Name of the file, for messages.
    std::string name(std::int64_t number) const { return volumes_.name ? volumes_.name(number) : std::string(); }
    std::string name_of_reference() const {
        if (!volumes_.name) return {};
        return volumes_.reference ? volumes_.reference_name : name(volumes_.reference_volume);
    }
    std::string name_of_other() const {
        if (volumes_.reference) return volumes_.count == 1 ? name(0) : std::string();
        return volumes_.count == 2 ? name(1 - volumes_.reference_volume) : std::string();
    }

    PowerVolume volume_of_number(std::int64_t number) {
        PowerVolume volume = volumes_.read(number);
        is_quantity_known_ = is_quantity_known_ && !volume.grid.quantity.empty();
        return volume;
    }

    PowerVolume raster_of_number(std::int64_t number) {
        if (wanted_.crosses == 0) require_as_many_crosses(number);
        return without_crosses(volume_of_number(number), settings_.crosses);
    }

    void require_as_many_crosses(std::int64_t number) const {
        const std::int64_t crosses = volumes_.crosses(number);
        if (crosses == settings_.crosses) return;
        throw Error(
            ErrorCode::bad_setting,
            fmt::format("has {} across, the first volume has {}", plural(crosses, "B-scans"), settings_.crosses),
            volumes_.name ? name(number) : fmt::format("volume {}", number), "register volumes of one scan protocol");
    }

    void register_on(Backend processor, Progress& progress) {
        on_ = volumes_.backend;
        on_.backend = processor;
        rows_.clear();
        result_.seconds = 0;
        if (result_.is_within)
            align(progress);
        else
            register_all(progress);
    }

    bool is_on_gpu() const { return on_.backend == Backend::cuda; }

    // A volume in the form required by the device.
    struct PreparedPower {
        PowerVolume host;
        std::optional<PowerCopy> copy{};

        PowerOnGpu on_gpu() const { return copy->on_gpu(); }
    };

    PreparedPower held(PowerVolume volume) {
        const auto start = std::chrono::steady_clock::now();
        PreparedPower one{std::move(volume)};
        if (is_on_gpu()) one.copy.emplace(one.host, on_);
        count_time_since(start);
        return one;
    }

    void count_time_since(std::chrono::steady_clock::time_point start) {
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        result_.seconds += took.count();
    }

    template <class Work>
    auto timed(const Work& work) {
        const auto start = std::chrono::steady_clock::now();
        auto done = work();
        count_time_since(start);
        return done;
    }

    void align(Progress& progress) {
        PreparedPower volume = held(volume_of_number(0));
        progress.begin("register", volume.host.grid.b_scans, "B-scans");
        rows_.push_back(with_file_context(name(0), at_registration, [&] {
            return timed([&] {
                return is_on_gpu()
                           ? align_neighbours(volume.on_gpu(), settings_, progress, *required_gpu().registration(on_))
                           : align_neighbours(volume.host, settings_, progress);
            });
        }));
        if (settings_.crosses > 0) {
            const auto raster = rows_of_raster(rows_.back(), settings_.crosses);
            rows_.back() = {raster.begin(), raster.end()};
            volume.host = without_crosses(std::move(volume.host), settings_.crosses);
        }
        require_some(rows_.back(), name(0),
                     settings_.crosses > 0 ? "no B-scan fits those across" : "no B-scan fits its neighbours");
        start_mean(volume.host.grid);
        add(volume);
        progress.end();
    }

    void register_all(Progress& progress) {
        const bool is_apart = static_cast<bool>(volumes_.reference);
        const PreparedPower first = held(is_apart ? volumes_.reference() : raster_of_number(volumes_.reference_volume));
        progress.begin("register", first.host.grid.b_scans * volumes_.count, "B-scans");
        const Reference reference = with_file_context(name_of_reference(), at_registration, [&] {
            return timed([&] {
                return is_on_gpu() ? Reference(first.on_gpu(), settings_, on_) : Reference(first.host, settings_, on_);
            });
        });
        start_mean(first.host.grid);
        std::vector<RowShift> others;
        for (std::int64_t number = 0; number < volumes_.count; ++number) {
            const bool is_itself = !is_apart && number == volumes_.reference_volume;
            const PreparedPower volume = held(raster_of_number(number));
            if (is_itself) {
                rows_.push_back(at_rest(volume.host.grid.b_scans));
                progress.advance(volume.host.grid.b_scans);
            } else {
                rows_.push_back(with_file_context(name(number), at_registration, [&] {
                    return timed([&] {
                        return is_on_gpu() ? reference.register_rows(volume.on_gpu(), progress)
                                           : reference.register_rows(volume.host, progress);
                    });
                }));
                others.insert(others.end(), rows_.back().begin(), rows_.back().end());
            }
            add(volume);
        }
        require_some(others, name_of_other(), "no B-scan fits the reference");
        progress.end();
    }

    static void require_some(const std::vector<RowShift>& rows, const std::string& file, const std::string& problem) {
        if (std::ranges::any_of(rows, &RowShift::is_valid)) return;
        throw Error(ErrorCode::bad_setting, problem, file.empty() ? std::string(at_registration) : file,
                    "is it the same place of the same sample, and more than noise? Larger ranges may help");
    }

    void start_mean(const VolumeGrid& grid) {
        grid_ = grid;
        if (!volumes_.makes_mean) return;
        mean_ = is_on_gpu() ? std::make_unique<RegisteredMean>(grid, on_) : std::make_unique<RegisteredMean>(grid);
    }

    void add(const PreparedPower& volume) {
        if (!mean_) return;
        const auto start = std::chrono::steady_clock::now();
        if (is_on_gpu())
            mean_->add(volume.on_gpu(), rows_.back());
        else
            mean_->add(volume.host, rows_.back());
        count_time_since(start);
    }

    void count(const std::vector<RowShift>& rows) {
        for (const RowShift& row : rows) {
            ++result_.b_scans;
            ++result_.reasons[std::string(name_of(row.reason))];
            if (row.is_saccade) ++result_.saccades;
        }
    }

    void warn() {
        if (!is_quantity_known_)
            result_.warnings.push_back("the volume does not say what its voxels hold; they are taken as intensities");
        if (!result_.used.refusal.empty()) result_.warnings.push_back(result_.used.refusal);
        for (std::size_t volume = 0; volume < rows_.size(); ++volume) {
            const auto lost = std::ranges::count_if(rows_[volume], [](const RowShift& row) { return !row.is_valid(); });
            const auto all = std::ssize(rows_[volume]);
            if (static_cast<double>(lost) > many * static_cast<double>(all)) {
                result_.warnings.push_back(fmt::format("volume {}: {} of {} have no place in the reference", volume,
                                                       lost, plural(all, "B-scans")));
            }
        }
    }

    Volume finished_mean() const {
        Volume volume = mean_->volume();
        volume.provenance = volumes_.provenance;
        forget_crosses(volume.provenance);
        volume.provenance["echolux"] = version;
        volume.provenance["registration.volumes"] = std::to_string(result_.volumes);
        volume.provenance["registration.b_scans_used"] =
            fmt::format("{} of {}", mean_->b_scans_used(), result_.b_scans);
        volume.provenance["registration.reference"] = result_.is_within && settings_.crosses > 0 ? "crosses"
                                                      : result_.is_within                        ? "neighbours"
                                                      : !volumes_.reference
                                                          ? fmt::format("volume {}", volumes_.reference_volume)
                                                          : volumes_.reference_name;
        volume.provenance["registration.backend"] = is_on_gpu() ? "cuda" : "cpu";
        RegistrationSettings bound = settings_;
        Settings settings;
        settings.bind("registration", bound);
        for (const BoundField& field : settings.fields()) volume.provenance[field.key()] = spelled(field.get());
        return volume;
    }

    const VolumesToRegister& volumes_;
    const RegistrationSettings& wanted_;
    RegistrationSettings settings_;  // with the number of crosses in the volumes
    bool is_quantity_known_ = true;
    BackendChoice on_;  // device in use
    VolumeGrid grid_;
    std::unique_ptr<RegisteredMean> mean_;
    std::vector<std::vector<RowShift>> rows_;
    RegisteredVolumes result_;
};

VolumesToRegister to_register(const RegisterJob& job, const VolumesIn& inputs) {
    VolumesToRegister volumes;
    volumes.count = inputs.count();
    volumes.read = [&inputs](std::int64_t number) { return inputs.read(number); };
    volumes.crosses = [&inputs](std::int64_t number) { return inputs.crosses(number); };
    volumes.name = [&inputs](std::int64_t number) { return inputs.name(number); };
    const std::string of_reference = job.reference.filename().string();
    if (!job.reference.empty()) {
        volumes.reference = [&job, of_reference] {
            return with_file_context(of_reference, at_registration, [&] {
                Volume volume = read_volume(job.reference);
                state_quantity(volume, job.stored_as);
                return raster_of(std::move(volume));
            });
        };
    }
    volumes.reference_volume = job.reference_volume;
    volumes.reference_name = of_reference;
    volumes.provenance = inputs.provenance();
    volumes.makes_mean = !job.output.empty();
    volumes.backend = job.backend;
    return volumes;
}

void write_shifts(const std::filesystem::path& path, const RegisteredSeries& made) {
    const std::string text = csv_of(made.rows, made.grid);
    OutputFile file(path);
    file.write(std::as_bytes(std::span(text)));
    file.commit();
}

}  // namespace

RegisteredSeries registered(const VolumesToRegister& volumes, const RegistrationSettings& settings,
                            Progress& progress) {
    require_backend(volumes.backend);
    return Registering(volumes, settings).run(progress);
}

MovedVolume placed_volume(const PowerVolume& volume, const std::vector<RowShift>& rows, const VolumeGrid& reference,
                          const RegistrationSettings& settings, const std::map<std::string, std::string>& provenance) {
    RegisteredMean mean(reference);
    mean.add(volume, rows);
    MovedVolume made{mean.volume(), mean.b_scans_used()};
    made.volume.provenance = provenance;
    forget_crosses(made.volume.provenance);
    made.volume.provenance["registration"] = section_toml("registration", settings);
    made.volume.provenance["registration.b_scans_used"] = fmt::format("{} of {}", made.b_scans_used, rows.size());
    return made;
}

RegisteredVolumes run(const RegisterJob& job, Progress& progress) {
    if (job.output.empty() && job.table.empty()) {
        throw Error(ErrorCode::bad_setting, "nothing would be written", "output", "name a volume, a table, or both");
    }
    FileNames inputs = job.reference.empty() ? FileNames{} : files_read(job.reference);
    if (!job.across.empty()) std::ranges::copy(files_read(job.across), std::back_inserter(inputs));
    for (const std::filesystem::path& input : job.inputs)
        std::ranges::copy(files_read(input), std::back_inserter(inputs));
    const auto is_own_table = [](const std::filesystem::path& path) { return begins_with(path, registration_heading); };
    require_backend(job.backend);
    check_outputs({{job.output, is_own_volume}, {job.table, is_own_table, {".csv"}}}, inputs, job.overwrites);
    if (!job.output.empty()) check_volume_name(job.output, VoxelType::f32);
    RegistrationSettings wanted;
    Settings settings;
    settings.bind("registration", wanted);
    for (const std::string& assignment : job.settings) settings.set_assignment(assignment);
    const VolumesIn volumes(job.inputs, job.stored_as);
    VolumesToRegister to_do = to_register(job, volumes);
    if (!job.across.empty()) to_do = with_across(std::move(to_do), job.across, job.stored_as, wanted);
    const RegisteredSeries made = registered(to_do, wanted, progress);
    if (!job.table.empty()) write_shifts(job.table, made);
    if (made.mean) write_volume(job.output, *made.mean);
    return made.summary;
}

}  // namespace echolux
