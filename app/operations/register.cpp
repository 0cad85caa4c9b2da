// Operation `register`: takes motion out of volumes. Registers them to a reference, to B-scans that run across, or the
// B-scans of a single volume to their neighbours. Makes a table of all shifts, and the mean of the registered volumes
// or one of them at its registered position.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/open/convert_input.h"
#include "app/operations/operation.h"
#include "app/seconds_since.h"
#include "compute/error.h"
#include "compute/gpu_backend.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/build.h"
#include "engine/registration/registration.h"

namespace echolux {
namespace {

constexpr std::string_view at_registration = "registration";
constexpr std::int64_t max_volumes = 1'000'000'000;
constexpr double many = 0.2;  // share of B-scans without a position from which a warning is given

struct Register {
    VolumeInput input, reference, across;
    std::int64_t reference_volume = 0;
    std::int64_t registered = -1;  // volume in the output; -1: the mean
    OperationOutput output, table;
    RegistrationSettings registration;

    std::vector<std::vector<RowShift>> rows;  // per volume, without B-scans across
    std::int64_t own_crosses = 0;             // number of leading B-scans of each volume that run across
    std::int64_t b_scans = 0, saccades = 0;   // total numbers
    std::map<std::string, std::int64_t> reasons;
    double seconds = 0;
    SelectedBackend used{};

    static void describe(OperationParts<Register>& parts);
    static void describe_results(OperationParts<Register>& parts);
    void run(Context& context);

    std::string reference_name() const { return reference.is_in_memory() ? "reference" : reference.name(); }
    std::string across_name() const { return across.is_in_memory() ? "across" : across.name(); }

    void count();
    std::string summary() const;
    template <class Of>
    static auto shifts(std::vector<std::string> words, Of of);
};

// Reads the reference or the volume across: a volume file, or a volume in memory.
std::shared_ptr<const Volume> single_volume(const VolumeInput& input, Context& context) {
    if (input.is_in_memory()) return context.volume(input);
    auto volume = std::make_shared<Volume>(read_volume(input.names.front()));
    state_quantity(*volume, input.stored_as);
    return volume;
}

// ---- A volume and a second one of the same position whose B-scans run across it: an x-fast and a y-fast raster.

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

// Returns `raster` with the B-scans of `across` before its own, as if both had been scanned at once.
PowerVolume joined(const PowerVolume& across, PowerVolume raster, const std::string& name) {
    if (raster.grid.depth != across.grid.depth || raster.grid.a_scans != across.grid.a_scans) {
        throw Error(ErrorCode::bad_setting, "has B-scans of a different size than the volume to align", name,
                    "scan both with the same number of A-scans and the same depth range");
    }
    if (!is_same_field(raster.grid, across.grid)) {
        throw Error(ErrorCode::bad_setting, "covers a different field than the volume to align", name,
                    "scan both with the same width and length");
    }
    raster.grid.b_scans += across.grid.b_scans;
    raster.power.insert(raster.power.begin(), across.power.begin(), across.power.end());
    return raster;
}

// ---- Inputs

// The volumes to register, read on demand, one at a time: all time points of all files, or volumes in memory.
class VolumesIn {
  public:
    VolumesIn(const VolumeInput& input, Context& context)
        : input_(input), context_(context), count_(std::ssize(input.held)) {
        for (const std::filesystem::path path : input.names) {
            if (is_scan_name(path)) {
                throw Error(ErrorCode::bad_setting, "is a scan: registration takes volumes", path.string(),
                            "`reconstruct` makes them");
            }
            auto& one = files_.emplace_back(path.filename().string(), std::make_unique<ConvertInput>(path), 0);
            one.count = one.input->header().time_points;
            count_ += one.count;
        }
    }

    std::int64_t count() const { return count_; }

    // Puts the B-scans of a volume in front of those of the single volume. Throws Error{bad_setting} if there are
    // several, or if a known scan protocol is not raster (the volume) or raster_y (`across`). read() also throws if
    // depths, A-scans or fields differ.
    void put_in_front(const VolumeInput& across, const std::string& of) {
        require_protocol(provenance(), "raster", name(0),
                         "the volume to align is a raster along x; a raster_cross needs no other volume");
        across_name_ = of;
        across_ = with_file_context(of, at_registration, [&] {
            const std::shared_ptr<const Volume> volume = single_volume(across, context_);
            require_protocol(volume->provenance, "raster_y", of, "give the raster along y of the same field");
            return power_of(*volume);
        });
    }
    std::int64_t b_scans_in_front() const { return across_ ? across_->grid.b_scans : 0; }

    PowerVolume read(std::int64_t number) const {
        PowerVolume power = with_file_context(name(number), at_registration, [&] { return power_at(number); });
        return across_ ? joined(*across_, std::move(power), across_name_) : power;
    }

    std::string name(std::int64_t number) const {
        return input_.is_in_memory() ? fmt::format("volume {}", number) : file_with(number).name;
    }

    // Number of leading B-scans of a volume that run across the others.
    std::int64_t crosses(std::int64_t number) const {
        return with_file_context(name(number), at_registration, [&] { return crosses_of(provenance(number)); });
    }

    std::map<std::string, std::string> provenance(std::int64_t number) const {
        if (input_.is_in_memory()) return input_.held[index(number)]->provenance;
        const File& one = file_with(number);
        return one.input->header({number, number + 1}).provenance;
    }
    const std::map<std::string, std::string>& provenance() const {
        return input_.is_in_memory() ? input_.held.front()->provenance : files_.front().input->header().provenance;
    }

  private:
    struct File {
        std::string name;
        std::unique_ptr<ConvertInput> input;
        std::int64_t count;
    };

    // `number` becomes the index within the file.
    const File& file_with(std::int64_t& number) const {
        auto one = files_.begin();
        for (; number >= one->count; ++one) number -= one->count;
        return *one;
    }

    PowerVolume power_at(std::int64_t number) const {
        if (input_.is_in_memory()) return power_of(*context_.volume(input_, index(number)));
        const File& one = file_with(number);
        const VolumeGrid& grid = one.input->header().grid;
        Volume volume{grid, one.input->read(number, {0, grid.b_scans}), {}};
        state_quantity(volume, input_.stored_as);
        return power_of(volume);
    }

    const VolumeInput& input_;
    Context& context_;
    std::vector<File> files_;
    std::int64_t count_ = 0;
    std::optional<PowerVolume> across_;
    std::string across_name_;
};

// ---- Registration

// Adds the time until its end to a sum.
struct Timing {
    explicit Timing(double& of) : sum(of) {}
    ~Timing() { sum += seconds_since(start); }
    Timing(const Timing&) = delete;
    Timing& operator=(const Timing&) = delete;

    double& sum;
    std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

// A registration on one device after the other: intermediate state and results.
class Registering {
  public:
    Registering(const Register& asked, const VolumesIn& volumes, Context& context)
        : asked_(asked), volumes_(volumes), context_(context), settings_(asked.registration) {
        if (volumes.b_scans_in_front() > 0) settings_.crosses = volumes.b_scans_in_front();
        needs_same_crosses_ = settings_.crosses == 0;
        if (needs_same_crosses_) settings_.crosses = volumes.crosses(0);
    }

    void run() {
        BackendChoice backend = context_.backend;
        if (is_within() && settings_.crosses > 0) backend.backend = Backend::cpu;  // crosses need the CPU
        used_ = on_gpu_or_cpu(
            backend, [&] { run_on(Backend::cuda); }, [&] { run_on(Backend::cpu); });
    }

    // One volume: its B-scans are registered to their neighbours, or to those across.
    bool is_within() const { return !asked_.reference.is_given() && volumes_.count() == 1; }

    const std::vector<std::vector<RowShift>>& rows() const { return rows_; }
    const VolumeGrid& grid() const { return grid_; }  // of the reference
    std::int64_t crosses() const { return settings_.crosses; }
    double seconds() const { return seconds_; }
    const SelectedBackend& used() const { return used_; }
    bool is_quantity_known() const { return is_quantity_known_; }

    // Mean of all volumes.
    Volume mean(std::int64_t b_scans) const {
        return described(*mean_, volumes_.provenance(), "registration.volumes", volumes_.count(), b_scans);
    }

    // One volume at its registered position.
    Volume placed(std::int64_t number) const {
        const std::vector<RowShift>& rows = rows_[index(number)];
        RegisteredMean alone(grid_);
        alone.add(without_crosses(volumes_.read(number), settings_.crosses), rows);
        return described(alone, volumes_.provenance(number), "registration.volume", number, std::ssize(rows));
    }

  private:
    // A volume in host memory, and in that of a GPU in use.
    struct PreparedPower {
        PowerVolume host;
        std::optional<PowerCopy> copy{};

        PowerOnGpu on_gpu() const { return copy->on_gpu(); }
    };

    bool is_on_gpu() const { return on_.backend == Backend::cuda; }

    void run_on(Backend processor) {
        on_ = context_.backend;
        on_.backend = processor;
        rows_.clear();
        seconds_ = 0;
        if (is_within())
            align();
        else
            register_all();
    }

    PowerVolume volume_of_number(std::int64_t number) {
        PowerVolume volume = volumes_.read(number);
        is_quantity_known_ = is_quantity_known_ && !volume.grid.quantity.empty();
        return volume;
    }

    PowerVolume raster_of_number(std::int64_t number) {
        if (needs_same_crosses_) require_as_many_crosses(number);
        return without_crosses(volume_of_number(number), settings_.crosses);
    }

    void require_as_many_crosses(std::int64_t number) const {
        const std::int64_t crosses = volumes_.crosses(number);
        if (crosses == settings_.crosses) return;
        throw Error(
            ErrorCode::bad_setting,
            fmt::format("has {} across, the first volume has {}", plural(crosses, "B-scans"), settings_.crosses),
            volumes_.name(number), "register volumes of the same scan protocol");
    }

    PreparedPower prepared(PowerVolume volume) {
        const Timing timing(seconds_);
        PreparedPower one{std::move(volume)};
        if (is_on_gpu()) one.copy.emplace(one.host, on_);
        return one;
    }

    void align() {
        PreparedPower volume = prepared(volume_of_number(0));
        const std::string name = volumes_.name(0);
        context_.progress.begin("register", volume.host.grid.b_scans, "B-scans");
        rows_.push_back(with_file_context(name, at_registration, [&] { return aligned(volume); }));
        if (settings_.crosses > 0) {
            const auto raster = rows_of_raster(rows_.back(), settings_.crosses);
            rows_.back() = {raster.begin(), raster.end()};
            volume.host = without_crosses(std::move(volume.host), settings_.crosses);
        }
        require_some(rows_.back(), name,
                     settings_.crosses > 0 ? "no B-scan fits those across" : "no B-scan fits its neighbours");
        start_mean(volume.host.grid);
        add(volume);
        context_.progress.end();
    }

    std::vector<RowShift> aligned(const PreparedPower& volume) {
        const Timing timing(seconds_);
        if (!is_on_gpu()) return align_neighbours(volume.host, settings_, context_.progress);
        return align_neighbours(volume.on_gpu(), settings_, context_.progress, *required_gpu().registration(on_));
    }

    PowerVolume separate_reference() const {
        return with_file_context(asked_.reference_name(), at_registration,
                                 [&] { return raster_of(*single_volume(asked_.reference, context_)); });
    }

    void register_all() {
        const bool is_apart = asked_.reference.is_given();
        const PreparedPower first =
            prepared(is_apart ? separate_reference() : raster_of_number(asked_.reference_volume));
        context_.progress.begin("register", first.host.grid.b_scans * volumes_.count(), "B-scans");
        const Reference reference =
            with_file_context(is_apart ? asked_.reference_name() : volumes_.name(asked_.reference_volume),
                              at_registration, [&] { return reference_in(first); });
        start_mean(first.host.grid);
        std::vector<RowShift> others;
        for (std::int64_t number = 0; number < volumes_.count(); ++number) {
            const PreparedPower volume = prepared(raster_of_number(number));
            if (!is_apart && number == asked_.reference_volume) {
                rows_.emplace_back(index(volume.host.grid.b_scans), RowShift{.quality = 1});
                context_.progress.advance(volume.host.grid.b_scans);
            } else {
                rows_.push_back(with_file_context(volumes_.name(number), at_registration,
                                                  [&] { return registered_to(reference, volume); }));
                others.insert(others.end(), rows_.back().begin(), rows_.back().end());
            }
            add(volume);
        }
        require_some(others, name_of_other(), "no B-scan fits the reference");
        context_.progress.end();
    }

    Reference reference_in(const PreparedPower& volume) {
        const Timing timing(seconds_);
        return is_on_gpu() ? Reference(volume.on_gpu(), settings_, on_) : Reference(volume.host, settings_, on_);
    }

    std::vector<RowShift> registered_to(const Reference& reference, const PreparedPower& volume) {
        const Timing timing(seconds_);
        return is_on_gpu() ? reference.register_rows(volume.on_gpu(), context_.progress)
                           : reference.register_rows(volume.host, context_.progress);
    }

    // The only volume that is registered to another one, if there is only one.
    std::string name_of_other() const {
        if (asked_.reference.is_given()) return volumes_.count() == 1 ? volumes_.name(0) : std::string();
        return volumes_.count() == 2 ? volumes_.name(1 - asked_.reference_volume) : std::string();
    }

    static void require_some(const std::vector<RowShift>& rows, const std::string& file, const std::string& problem) {
        if (std::ranges::any_of(rows, &RowShift::is_valid)) return;
        throw Error(ErrorCode::bad_setting, problem, file.empty() ? std::string(at_registration) : file,
                    "check that they show the same position of the same sample; larger ranges may help");
    }

    void start_mean(const VolumeGrid& grid) {
        grid_ = grid;
        if (!asked_.output.is_wanted() || asked_.registered >= 0) return;
        mean_ = is_on_gpu() ? std::make_unique<RegisteredMean>(grid, on_) : std::make_unique<RegisteredMean>(grid);
    }

    void add(const PreparedPower& volume) {
        if (!mean_) return;
        const Timing timing(seconds_);
        if (is_on_gpu())
            mean_->add(volume.on_gpu(), rows_.back());
        else
            mean_->add(volume.host, rows_.back());
    }

    Volume described(const RegisteredMean& of, std::map<std::string, std::string> provenance, const std::string& key,
                     std::int64_t volumes, std::int64_t b_scans) const {
        Volume volume = of.volume();
        forget_crosses(provenance);
        provenance["echolux"] = version;
        provenance[key] = std::to_string(volumes);
        provenance["registration.b_scans_used"] = fmt::format("{} of {}", of.b_scans_used(), b_scans);
        provenance["registration.reference"] = reference_text();
        provenance["registration.backend"] = is_on_gpu() ? "cuda" : "cpu";
        RegistrationSettings bound = settings_;
        Settings settings;
        settings.bind("registration", bound);
        for (const BoundField& field : settings.fields()) provenance[field.key()] = spelled(field.get());
        volume.provenance = std::move(provenance);
        return volume;
    }

    std::string reference_text() const {
        if (is_within()) return settings_.crosses > 0 ? "crosses" : "neighbours";
        if (!asked_.reference.is_given()) return fmt::format("volume {}", asked_.reference_volume);
        return asked_.reference.is_in_memory() ? "another volume" : asked_.reference.name();
    }

    const Register& asked_;
    const VolumesIn& volumes_;
    Context& context_;
    RegistrationSettings settings_;  // with the number of crosses in the volumes
    bool needs_same_crosses_ = false;
    bool is_quantity_known_ = true;
    BackendChoice on_;  // device in use
    VolumeGrid grid_;
    std::unique_ptr<RegisteredMean> mean_;
    std::vector<std::vector<RowShift>> rows_;
    double seconds_ = 0;
    SelectedBackend used_;
};

// ---- Operation

void check_number(std::int64_t number, std::int64_t count, const std::string& key) {
    if (number < count) return;
    throw Error(ErrorCode::bad_setting, "there is no volume of this number", key,
                count == 1 ? "leave it out: the B-scans of a single volume are aligned to their neighbours"
                           : fmt::format("the volumes are 0 to {}", count - 1));
}

void check_choice(const Register& asked, std::int64_t count) {
    if (asked.reference.is_given() && asked.reference_volume > 0) {
        throw Error(ErrorCode::bad_setting, "has no effect with another volume as the reference", "reference_volume",
                    "leave one of them out");
    }
    check_number(asked.reference_volume, count, "reference_volume");
    check_number(asked.registered, count, "registered");
    if (asked.across.is_given() && (count != 1 || asked.reference.is_given())) {
        throw Error(ErrorCode::bad_setting, "aligns a single volume, without a reference", asked.across_name(),
                    "align volumes one by one, then register the results");
    }
}

void warn(Context& context, const Registering& made) {
    if (!made.is_quantity_known())
        context.warn({"the volume does not state the meaning of its voxels; they are taken as intensities"});
    if (!made.used().refusal.empty()) context.warn({made.used().refusal});
    for (std::size_t volume = 0; volume < made.rows().size(); ++volume) {
        const std::vector<RowShift>& rows = made.rows()[volume];
        const auto lost = std::ranges::count_if(rows, [](const RowShift& row) { return !row.is_valid(); });
        const auto all = std::ssize(rows);
        if (static_cast<double>(lost) > many * static_cast<double>(all)) {
            context.warn({fmt::format("volume {}: {} of {} have no position in the reference", volume, lost,
                                      plural(all, "B-scans"))});
        }
    }
}

void Register::run(Context& context) {
    reference.stored_as = across.stored_as = input.stored_as;
    VolumesIn volumes(input, context);
    check_choice(*this, volumes.count());
    if (across.is_given()) volumes.put_in_front(across, across_name());
    Registering made(*this, volumes, context);
    made.run();
    rows = made.rows();
    own_crosses = across.is_given() ? 0 : made.crosses();
    seconds = made.seconds();
    used = made.used();
    count();
    warn(context, made);
    context.say(summary());
    context.say(fmt::format("registered in {:.2f} s on the {}", seconds, name_of(used.backend)));
    context.say(!made.is_within()    ? "motion of the reference itself stays"
                : made.crosses() > 0 ? fmt::format("aligned to {} that run across", plural(made.crosses(), "B-scans"))
                                     : "aligned to neighbours: slopes of the tissue and slow motion stay");
    if (output.is_wanted()) context.write(output, registered < 0 ? made.mean(b_scans) : made.placed(registered));
    if (table.is_wanted()) context.write(table, csv_of(rows, made.grid()));
}

void Register::count() {
    b_scans = saccades = 0;
    reasons.clear();
    for (const std::vector<RowShift>& of_volume : rows) {
        for (const RowShift& row : of_volume) {
            ++b_scans;
            ++reasons[std::string(name_of(row.reason))];
            if (row.is_saccade) ++saccades;
        }
    }
}

// Returns for example "1490 of 1536 B-scans have a place (40 saccade, 6 weak_match)".
std::string Register::summary() const {
    std::string others;
    std::int64_t placed = 0;
    for (const auto& [reason, number] : reasons) {
        if (reason == name_of(RowReason::ok))
            placed = number;
        else
            others += fmt::format("{}{} {}", others.empty() ? " (" : ", ", number, reason);
    }
    if (!others.empty()) others += ")";
    return fmt::format("{} of {} registered{}", placed, plural(b_scans, "B-scans"), others);
}

std::vector<std::string> reason_words() {
    std::vector<std::string> words;
    for (int reason = 0; reason <= static_cast<int>(RowReason::out_of_range); ++reason)
        words.emplace_back(name_of(static_cast<RowReason>(reason)));
    return words;
}

// Returns a function that makes an array [volume][b_scan] of `of(RowShift)`. B-scans across have no shift.
template <class Of>
auto Register::shifts(std::vector<std::string> words, Of of) {
    return [words = std::move(words), of](const Register& one) -> std::shared_ptr<const ResultArray> {
        if (one.rows.empty()) return nullptr;
        std::vector<decltype(of(RowShift{}))> values;
        for (const std::vector<RowShift>& of_volume : one.rows) {
            values.insert(values.end(), index(one.own_crosses), of(RowShift{.quality = 1}));
            std::ranges::transform(of_volume, std::back_inserter(values), of);
        }
        const std::int64_t volumes = std::ssize(one.rows);
        return std::make_shared<const ResultArray>(
            ResultArray{{volumes, std::ssize(values) / volumes}, std::move(values), words});
    };
}

// NaN without a position.
auto part(double RowShift::*of) {
    return [of](const RowShift& row) { return row.is_valid() ? row.*of : std::numeric_limits<double>::quiet_NaN(); };
}

bool is_own_table(const std::filesystem::path& path) {
    return begins_with(path, registration_heading);
}

void Register::describe(OperationParts<Register>& parts) {
    parts.info.summary = "Correct motion: register to a reference, or neighbouring B-scans to each other";
    parts.info.examples = {"input=v1.nrrd input=v2.nrrd output=mean.nrrd table=shifts.csv"};
    parts.info.details =
        "Strips of B-scans are compared, after C. R. Vogel et al., Optics Express 14(2), 2006, and S. B. Stevenson and "
        "A. Roorda, Proc. SPIE 5688, 2005; B-scans across after M. F. Kraus et al., Biomed. Opt. Express 3(6), 2012. "
        "The motion of the reference itself stays. See docs/tissue.md.";
    parts
        .input({.name = "input",
                .help = "volumes, series, folders or patterns (\"scan_*.nrrd\") of one size; a single volume is "
                        "aligned to its own neighbours",
                .takes_many = true,
                .takes_scans = false},
               &Register::input)
        .input({.name = "reference",
                .help = "volume to which all are registered [one of them]",
                .is_required = false,
                .takes_scans = false},
               &Register::reference)
        .input({.name = "across",
                .help = "volume of the same field whose B-scans cross those of the input (scan.protocol raster_y): a "
                        "single volume is aligned to it",
                .is_required = false,
                .takes_scans = false},
               &Register::across)
        .argument(integer("reference_volume", &Register::reference_volume, 0, max_volumes, "", Effect::file,
                          "number of the volume that is the reference, counted from 0")
                      .written_as("N"))
        .argument(integer("registered", &Register::registered, -1, max_volumes, "", Effect::file,
                          "number of a volume, counted from 0: the output is this volume at its registered position")
                      .special(-1, "the mean of all")
                      .written_as("N"))
        .output({.name = "output", .help = "mean of the registered volumes; NaN without data", .placeholder = "OUT"},
                &Register::output)
        .output({.name = "table",
                 .kind = OutputKind::table,
                 .help = "position, quality and reason of every B-scan",
                 .is_own = is_own_table},
                &Register::table)
        .section("registration", "Registration", &Register::registration)
        .uses_backend("registers");
    describe_results(parts);
}

void Register::describe_results(OperationParts<Register>& parts) {
    parts.result("volumes", "", "number of volumes", [](const Register& one) { return std::ssize(one.rows); })
        .result("b_scans", "", "number of B-scans of all volumes, without those across", &Register::b_scans)
        .result("reasons", "", "number of B-scans by reason; ok: with a position", &Register::reasons)
        .result("saccades", "", "number of B-scans during a saccade", &Register::saccades)
        .result("seconds", "s", "time of registration and averaging", &Register::seconds)
        .result("backend", "", "device that registered", [](const Register& one) { return word_for(one.used.backend); })
        .result("shifts.z", "samples", "shift in depth [volume][b_scan]; NaN without a position",
                shifts({}, part(&RowShift::z)))
        .result("shifts.x", "samples", "shift along A-scans", shifts({}, part(&RowShift::x)))
        .result("shifts.y", "samples", "shift along B-scans", shifts({}, part(&RowShift::y)))
        .result("shifts.quality", "", "normalised cross-correlation",
                shifts({}, [](const RowShift& row) { return row.quality; }))
        .result("shifts.reason", "", "why a B-scan has no position; ok: it has one",
                shifts(reason_words(), [](const RowShift& row) { return static_cast<std::uint8_t>(row.reason); }))
        .result("shifts.saccade", "", "1: the eye moved fast during this B-scan",
                shifts({}, [](const RowShift& row) { return static_cast<std::uint8_t>(row.is_saccade); }));
}

}  // namespace

ECHOLUX_OPERATION(register, Register)

}  // namespace echolux
