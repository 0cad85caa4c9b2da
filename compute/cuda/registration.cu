// Launches of registration kernels, in batches of B-scans that fit into the caches.
#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <vector>

#include "compute/cuda/entry.h"
#include "compute/cuda/launch.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/registration_kernels.cuh"
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/tissue_on_gpu.h"

namespace echolux::cuda {

// ---- Memory owners of registration on a GPU, and the size of its batches of B-scans.

inline constexpr std::int64_t float_bytes = sizeof(float);
inline constexpr std::int64_t batch_bytes = std::int64_t{16} << 20;  // per plane of a batch: three stay in the caches
inline constexpr unsigned blocks_of_a_survey = 1024;

inline std::int64_t rows_at_once(std::int64_t of_row, std::int64_t rows, std::int64_t bytes = batch_bytes) {
    return std::clamp<std::int64_t>(bytes / (of_row * float_bytes), 1, std::max<std::int64_t>(rows, 1));
}

// Checks whether a volume contains NaN.
class LostSurvey {
  public:
    // Enqueues the check. Returns where the GPU writes the result, 0 or 1.
    const unsigned* enqueue(const float* values, std::int64_t count, cudaStream_t stream) {
        is_found_.reserve(sizeof(unsigned));
        checked(cudaMemsetAsync(is_found_.data(), 0, sizeof(unsigned), stream), "clear a number");
        find_lost<<<std::min(blocks_of_a_survey, blocks_for(count)), threads_of_a_range, 0, stream>>>(
            values, count, is_found_.as<unsigned>());
        checked_launch("search for missing values");
        return is_found_.as<unsigned>();
    }

    bool is_any(const float* values, std::int64_t count, cudaStream_t stream) {
        unsigned is_found = 0;
        checked(cudaMemcpyAsync(&is_found, enqueue(values, count, stream), sizeof(unsigned), cudaMemcpyDeviceToHost,
                                stream),
                "copy a number");
        checked(cudaStreamSynchronize(stream), "search for missing values");
        return is_found != 0;
    }

  private:
    DeviceBuffer is_found_;
};

// ---- Mean of registered volumes in GPU memory, see ShiftedMeanOnGpu.

// B-scans processed together: enough for each thread of a large GPU to have a line.
inline constexpr std::int64_t mean_batch_bytes = std::int64_t{256} << 20;
inline constexpr std::int64_t most_runs = 65535;  // per launch, one per B-scan

// Accumulates weighted sums and weights per voxel.
class MeanOnGpu : OfDevice, public ShiftedMeanOnGpu {
  public:
    MeanOnGpu(int device, const std::array<std::int64_t, 3>& size)
        : OfDevice(device), all_{static_cast<int>(size[0]), static_cast<int>(size[1]), size[2]},
          at_once_(std::min(rows_at_once(all_.of_row(), all_.rows, mean_batch_bytes), most_runs)),
          sums_(all_.samples() * float_bytes), weights_(all_.samples() * float_bytes),
          batch_(at_once_ * all_.of_row() * float_bytes) {
        clear();
    }

    ~MeanOnGpu() override { leave(stream_); }

    void clear() override {
        const CurrentDevice current(device_);
        for (const DeviceBuffer* one : {&sums_, &weights_}) {
            checked(cudaMemsetAsync(one->data(), 0, index(one->bytes()), stream_), "clear sums");
        }
        checked(cudaStreamSynchronize(stream_), "clear sums");
    }

    void add(const float* power, std::span<const LandingRow> rows) override {
        const CurrentDevice current(device_);
        if (rows.empty()) return;
        const std::vector<LandingRun> runs = runs_of(rows);
        keep(rows, landing_);
        keep(std::span<const LandingRun>(runs), runs_);
        const unsigned* has_lost = lost_.enqueue(power, all_.samples(), stream_);
        for (std::size_t first = 0; first < runs.size();) {
            std::size_t end = first + 1;
            while (end < runs.size() && runs[end].end - runs[first].begin <= at_once_) ++end;
            add_runs(power, has_lost, runs, first, end);
            first = end;
        }
        checked(cudaStreamSynchronize(stream_), "add B-scans");
    }

    void write(float* mean) override {
        const CurrentDevice current(device_);
        const bool is_here = is_on_device(mean);
        const std::int64_t at_once = is_here ? all_.rows : at_once_;
        for (std::int64_t first = 0; first < all_.rows; first += at_once) {
            const std::int64_t offset = first * all_.of_row(),
                               count = std::min(at_once, all_.rows - first) * all_.of_row();
            float* to = is_here ? mean + offset : batch_.as<float>();
            divide_by_weights<<<blocks_for(count), threads_of_a_range, 0, stream_>>>(count, sums_.as<float>() + offset,
                                                                                     weights_.as<float>() + offset, to);
            checked_launch("divide by weights");
            if (is_here) continue;
            checked(cudaMemcpyAsync(mean + offset, to, index(count * float_bytes), cudaMemcpyDeviceToHost, stream_),
                    "copy a mean");
        }
        checked(cudaStreamSynchronize(stream_), "write a mean");
    }

  private:
    // Groups B-scans with the same target. If they exceed a batch, they form several runs.
    std::vector<LandingRun> runs_of(std::span<const LandingRow> rows) const {
        std::vector<LandingRun> runs;
        for (std::int32_t i = 0; i < static_cast<std::int32_t>(rows.size()); ++i) {
            const bool is_new = i == 0 || rows[index(i)].to != rows[index(i - 1)].to;
            if (is_new || runs.back().end - runs.back().begin >= at_once_) runs.push_back({i, i});
            runs.back().end = i + 1;
        }
        return runs;
    }

    template <class Value>
    void keep(std::span<const Value> values, DeviceBuffer& on_device) {
        const auto bytes = static_cast<std::int64_t>(values.size_bytes());
        on_device.reserve(bytes);
        checked(cudaMemcpyAsync(on_device.data(), values.data(), index(bytes), cudaMemcpyHostToDevice, stream_),
                "copy a table to the GPU");
    }

    static bool is_on_device(const float* memory) {
        cudaPointerAttributes facts{};
        checked(cudaPointerGetAttributes(&facts, memory), "query the memory type");
        return facts.type == cudaMemoryTypeDevice;
    }

    // Adds runs [first, end) as one batch. Runs with the same target are never in the same batch.
    void add_runs(const float* power, const unsigned* has_lost, const std::vector<LandingRun>& runs, std::size_t first,
                  std::size_t end) {
        const std::int32_t begin = runs[first].begin;
        const FeaturePlanes planes{all_.depth, all_.a_scans, runs[end - 1].end - begin};
        auto* values = batch_.as<float>();
        const OverPlanes over(planes);
        take_landing<<<over.blocks, over.threads, 0, stream_>>>(planes, landing_.as<LandingRow>() + begin, power,
                                                                values);
        checked_launch("load B-scans");
        find_coefficients(planes, values);
        const dim3 blocks(static_cast<unsigned>(planes.a_scans), over.blocks.y, static_cast<unsigned>(end - first));
        add_landing<<<blocks, over.threads, 0, stream_>>>(planes, runs_.as<LandingRun>() + first,
                                                          landing_.as<LandingRow>(), values, power, has_lost,
                                                          sums_.as<float>(), weights_.as<float>());
        checked_launch("add B-scans");
    }

    void find_coefficients(const FeaturePlanes& planes, float* values) {
        constexpr std::int64_t together = 32 * warps_of_lines;
        const std::int64_t lines = planes.rows * planes.a_scans;
        if (planes.depth > 1) {
            filter_lines<<<static_cast<unsigned>((lines + together - 1) / together), together, 0, stream_>>>(
                values, planes.depth, lines);
            checked_launch("find coefficients along depth");
        }
        if (planes.a_scans > 1) {
            filter_a_scans<<<blocks_for(planes.rows * planes.depth), threads_of_a_range, 0, stream_>>>(planes, values);
            checked_launch("find coefficients along A-scans");
        }
    }

    FeaturePlanes all_;
    std::int64_t at_once_;
    DeviceBuffer sums_, weights_, batch_, landing_, runs_;
    LostSurvey lost_;
    Stream stream_{Urgency::urgent};
};

namespace {

// Fine and coarse features of a volume and their norms.
class Features : OfDevice, public FeaturesOnGpu {
  public:
    Features(int device, const FeaturePlanes& fine, std::int64_t times)
        : OfDevice(device), times_(times),
          fine_(fine), coarse_{parts(fine.depth, times), parts(fine.a_scans, times), fine.rows},
          values_(fine.samples() * float_bytes), coarse_values_(coarse_.samples() * float_bytes),
          norms_(fine.rows * float_bytes), coarse_norms_(fine.rows * float_bytes) {}

    ~Features() override { leave(nullptr); }

    const std::vector<float>& norms() const override { return host_norms_; }
    const std::vector<float>& coarse_norms() const override { return host_coarse_norms_; }

    void set_norms(std::vector<float> norms, std::vector<float> coarse_norms) override {
        const CurrentDevice current(device_);
        host_norms_ = std::move(norms);
        host_coarse_norms_ = std::move(coarse_norms);
        upload(host_norms_.data(), norms_.bytes(), norms_.data());
        upload(host_coarse_norms_.data(), coarse_norms_.bytes(), coarse_norms_.data());
    }

    bool are_of(const FeaturePlanes& planes, std::int64_t times) const {
        return planes.depth == fine_.depth && planes.a_scans == fine_.a_scans && planes.rows == fine_.rows &&
               times == times_;
    }

    void find_coarse(cudaStream_t stream) {
        const OverPlanes over(coarse_);
        make_coarser<<<over.blocks, over.threads, 0, stream>>>(fine_, coarse_, static_cast<int>(times_), values(),
                                                               coarse_values_.as<float>());
        checked_launch("downsample features");
        find_norms<<<static_cast<unsigned>(coarse_.rows), threads_of_a_row, 0, stream>>>(
            coarse_, coarse_values_.as<float>(), coarse_norms_.as<float>());
        checked_launch("find norms");
    }

    void fetch_norms(cudaStream_t stream) {
        for (const auto& [to, from] :
             {std::pair(&host_norms_, &norms_), std::pair(&host_coarse_norms_, &coarse_norms_)}) {
            to->resize(index(fine_.rows));
            checked(cudaMemcpyAsync(to->data(), from->data(), index(from->bytes()), cudaMemcpyDeviceToHost, stream),
                    "copy norms");
        }
        checked(cudaStreamSynchronize(stream), "compute features");
    }

    const FeaturePlanes& fine() const { return fine_; }
    const FeaturePlanes& coarse() const { return coarse_; }
    float* values() const { return values_.as<float>(); }
    const float* coarse_values() const { return coarse_values_.as<float>(); }
    float* norms_here() const { return norms_.as<float>(); }

    StripRows strips(const Features& reference, std::int64_t half) const {
        return {norms_.as<float>(), reference.norms_.as<float>(), fine_.rows, reference.fine_.rows, half};
    }
    StripRows coarse_strips(const Features& reference, std::int64_t half) const {
        return {coarse_norms_.as<float>(), reference.coarse_norms_.as<float>(), fine_.rows, reference.fine_.rows, half};
    }

  private:
    static int parts(std::int64_t count, std::int64_t times) { return static_cast<int>((count + times - 1) / times); }

    std::int64_t times_;
    FeaturePlanes fine_, coarse_;
    DeviceBuffer values_, coarse_values_, norms_, coarse_norms_;
    std::vector<float> host_norms_, host_coarse_norms_;
};

// Buffers for computing features.
struct FeatureBuffers {
    DeviceBuffer values, one, two, shares;  // buffers for a batch
    DeviceBuffer known;                     // valid samples of all B-scans, if some values are NaN
};

// Computes the features of a volume in batches of B-scans.
class FeatureMaker {
  public:
    FeatureMaker(const FeatureTables& tables, const float* power, bool has_lost, FeatureBuffers& buffers,
                 Features& features, cudaStream_t stream)
        : tables_(tables), weights_(tables.smoothing), power_(power), has_lost_(has_lost), buffers_(buffers),
          features_(features), stream_(stream), at_once_(rows_at_once(features.fine().of_row(), features.fine().rows)) {
        const std::int64_t bytes = at_once_ * features.fine().of_row() * float_bytes;
        for (DeviceBuffer* plane : {&buffers.values, &buffers.one, &buffers.two}) plane->reserve(bytes);
        if (!has_lost) return;
        buffers.shares.reserve(bytes);
        buffers.known.reserve(features.fine().samples() * float_bytes);
    }

    void run() {
        const FeaturePlanes& all = features_.fine();
        for (std::int64_t first = 0; first < all.rows; first += at_once_)
            batch(first, std::min(at_once_, all.rows - first));
        centre_rows<<<static_cast<unsigned>(all.rows), threads_of_a_row, 0, stream_>>>(
            all, known_from(0), features_.values(), features_.norms_here());
        checked_launch("centre features");
        features_.find_coarse(stream_);
        features_.fetch_norms(stream_);  // afterwards the buffers are free
    }

  private:
    float* known_from(std::int64_t sample) const { return has_lost_ ? buffers_.known.as<float>() + sample : nullptr; }

    void batch(std::int64_t first, std::int64_t rows) {
        planes_ = {features_.fine().depth, features_.fine().a_scans, rows};
        const std::int64_t samples = planes_.samples(), offset = first * planes_.of_row();
        auto *values = buffers_.values.as<float>(), *one = buffers_.one.as<float>(), *two = buffers_.two.as<float>();
        float *known = known_from(offset), *shares = buffers_.shares.as<float>();
        const OverPlanes over(planes_);
        take_band<<<over.blocks, over.threads, 0, stream_>>>(
            planes_, power_ + first * tables_.size[0] * tables_.size[1], static_cast<int>(tables_.size[0]),
            static_cast<int>(tables_.first_depth), values, known);
        checked_launch("select the depth band");
        smooth(values, one, values);
        if (known != nullptr) smooth(known, one, shares);
        take_feature<<<blocks_for(samples), threads_of_a_range, 0, stream_>>>(samples, shares, known, tables_.feature,
                                                                              values);
        checked_launch("compute logarithms");
        const float* slow = slow_part(values, one, two);
        const float* slow_shares = known == nullptr ? nullptr : slow_part(known, slow == one ? two : one, shares);
        take_fast<<<blocks_for(samples), threads_of_a_range, 0, stream_>>>(samples, values, slow, slow_shares, known,
                                                                           features_.values() + offset);
        checked_launch("subtract the slow part");
    }

    void smooth(const float* from, float* between, float* to) {
        const OverPlanes over(planes_);
        smooth_planes<false><<<over.blocks, over.threads, 0, stream_>>>(planes_, from, weights_, between);
        smooth_planes<true><<<over.blocks, over.threads, 0, stream_>>>(planes_, between, weights_, to);
        checked_launch("smooth power");
    }

    // Returns the slowly varying part, in one of two planes.
    const float* slow_part(const float* from, float* one, float* two) {
        const int half = static_cast<int>(tables_.slow_half);
        const std::int64_t parts = (planes_.a_scans + a_scans_together - 1) / a_scans_together;
        const OverPlanes over(planes_), over_parts(planes_.rows * parts, planes_.depth);
        for (const bool along_a : {false, true}) {
            for (std::int64_t i = 0; i < tables_.slow_times; ++i) {
                float* to = from == one ? two : one;
                if (along_a)
                    mean_along_a_scans<<<over_parts.blocks, over_parts.threads, 0, stream_>>>(planes_, from, half, to);
                else
                    mean_along_depth<<<over.blocks, over.threads, 0, stream_>>>(planes_, from, half, to);
                checked_launch("find the slow part");
                from = to;
            }
        }
        return from;
    }

    const FeatureTables& tables_;
    SmoothingWeights weights_;
    const float* power_;
    bool has_lost_;
    FeatureBuffers& buffers_;
    Features& features_;
    cudaStream_t stream_;
    std::int64_t at_once_;
    FeaturePlanes planes_{};
};

// Kernel launches on one urgent stream, and reusable buffers.
class Registration : OfDevice, public RegistrationOnGpu {
  public:
    explicit Registration(int device) : OfDevice(device) {}

    ~Registration() override { leave(stream_); }

    std::vector<float> runs(const float* power, std::int64_t count, std::int64_t length, std::int64_t stride) override {
        const CurrentDevice current(device_);
        std::vector<float> values(index(count * length));
        gathered_.reserve(count * length * float_bytes);
        gather_runs<<<blocks_for(count * length), threads_of_a_range, 0, stream_>>>(power, count * length, length,
                                                                                    stride, gathered_.as<float>());
        checked_launch("gather samples");
        fetch(values.data(), gathered_, count * length * float_bytes, "gather samples");
        return values;
    }

    std::shared_ptr<FeaturesOnGpu> features(const float* power, const FeatureTables& tables) override {
        for (const std::int64_t axis : tables.size) {
            if (axis > std::numeric_limits<int>::max() / 2)
                throw Error(ErrorCode::device, "the volume is too long to be registered on a GPU", "cuda");
        }
        const CurrentDevice current(device_);
        const FeaturePlanes planes{static_cast<int>(tables.depths), static_cast<int>(tables.size[1]), tables.size[2]};
        const std::shared_ptr<Features> features = features_for(planes, tables.coarse);
        const bool has_lost = lost_.is_any(power, tables.size[0] * tables.size[1] * tables.size[2], stream_);
        FeatureMaker(tables, power, has_lost, buffers_, *features, stream_).run();
        return features;
    }

    std::vector<CoarsePeak> peaks(const FeaturesOnGpu& reference, const FeaturesOnGpu& moving,
                                  const StripRanges& ranges, const RowCallback& done) override {
        const CurrentDevice current(device_);
        const auto& of_moving = dynamic_cast<const Features&>(moving);
        const auto& of_reference = dynamic_cast<const Features&>(reference);
        CoarsePairs pairs{of_moving.coarse_values(),
                          of_reference.coarse_values(),
                          of_moving.coarse().depth,
                          of_moving.coarse().a_scans,
                          of_moving.coarse_strips(of_reference, ranges.half),
                          0,
                          static_cast<int>(ranges.first_y),
                          static_cast<int>(ranges.offsets()),
                          {ranges.coarse_z, ranges.coarse_x}};
        const std::int64_t rows = of_moving.coarse().rows, at_once = rows_of_maps(pairs, rows);
        std::vector<CoarsePeak> peaks(index(rows * pairs.offsets));
        for (std::int64_t first = 0; first < rows; first += at_once) {
            const std::int64_t end = std::min(rows, first + at_once);
            peaks_of(pairs, first, end, peaks.data() + first * pairs.offsets);
            if (done) done(end - first);
        }
        return peaks;
    }

    std::vector<Correlations> correlations(const FeaturesOnGpu& reference, const FeaturesOnGpu& moving,
                                           std::int64_t half, std::span<const CorrelationRequest> asked) override {
        const CurrentDevice current(device_);
        const auto& of_moving = dynamic_cast<const Features&>(moving);
        const auto& of_reference = dynamic_cast<const Features&>(reference);
        const FinePairs pairs{of_moving.values(), of_reference.values(), of_moving.fine().depth,
                              of_moving.fine().a_scans, of_moving.strips(of_reference, half)};
        const std::int64_t count = std::ssize(asked);
        const int parts = (pairs.a_scans + a_scans_of_a_match - 1) / a_scans_of_a_match;
        const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(Correlations));
        asked_.reserve(count * static_cast<std::int64_t>(sizeof(CorrelationRequest)));
        found_.reserve(bytes);
        parts_.reserve(bytes * parts);
        upload(asked.data(), count * static_cast<std::int64_t>(sizeof(CorrelationRequest)), asked_.data());
        correlate_about<<<dim3(static_cast<unsigned>(count), static_cast<unsigned>(parts)), threads_of_a_match, 0,
                          stream_>>>(pairs, asked_.as<CorrelationRequest>(), parts_.as<float>());
        checked_launch("correlate B-scans finely");
        add_parts<<<blocks_for(bytes / float_bytes), threads_of_a_range, 0, stream_>>>(parts_.as<float>(), count, parts,
                                                                                       found_.as<float>());
        checked_launch("add correlations");
        std::vector<Correlations> found(asked.size());
        fetch(found.data(), found_, bytes, "correlate B-scans finely");
        return found;
    }

    std::unique_ptr<ShiftedMeanOnGpu> mean(const std::array<std::int64_t, 3>& size) override {
        const CurrentDevice current(device_);
        require_free(2 * size[0] * size[1] * size[2] * float_bytes + mean_batch_bytes, "the mean of registered volumes",
                     remedy);
        return std::make_unique<MeanOnGpu>(device_, size);
    }

  private:
    // Reuses the last features if there is no other owner, because freeing memory waits for all work of a GPU.
    std::shared_ptr<Features> features_for(const FeaturePlanes& planes, std::int64_t times) {
        if (last_ && last_.use_count() == 1 && last_->are_of(planes, times)) return last_;
        last_.reset();
        constexpr std::int64_t planes_of_a_batch = 4;
        require_free(2 * planes.samples() * float_bytes + planes_of_a_batch * batch_bytes, "this registration", remedy);
        last_ = std::make_shared<Features>(device_, planes, times);
        return last_;
    }

    // Returns the rows per batch, so that their maps and those of neighbouring strips fit, and few enough to report
    // progress.
    static std::int64_t rows_of_maps(const CoarsePairs& pairs, std::int64_t rows) {
        constexpr std::int64_t most = 64, bytes = std::int64_t{256} << 20;
        const std::int64_t of_row = std::int64_t{pairs.offsets} * pairs.map.cells() * float_bytes;
        return std::clamp<std::int64_t>(bytes / of_row - 2 * pairs.strips.half, 1, std::min(most, rows));
    }

    void peaks_of(CoarsePairs pairs, std::int64_t first, std::int64_t end, CoarsePeak* to) {
        const std::int64_t half = pairs.strips.half, last = std::min(end + half, pairs.strips.moving_rows);
        pairs.first_row = std::max<std::int64_t>(0, first - half);
        const std::int64_t of_maps = (last - pairs.first_row) * pairs.offsets, of_peaks = (end - first) * pairs.offsets;
        maps_.reserve(of_maps * pairs.map.cells() * float_bytes);
        peaks_.reserve(of_peaks * static_cast<std::int64_t>(sizeof(CoarsePeak)));
        const CorrelationTile tile = CorrelationTile::of(pairs.map.max_x);
        const auto shared_bytes = index(tile.floats()) * sizeof(float);
        const dim3 blocks(static_cast<unsigned>(of_maps),
                          static_cast<unsigned>(tile.parts_of_x(pairs.map) * tile.parts_of_z(pairs.map)));
        correlate_pairs<<<blocks, CorrelationTile::threads, shared_bytes, stream_>>>(pairs, tile, maps_.as<float>());
        checked_launch("correlate B-scans");
        find_peaks<<<static_cast<unsigned>(of_peaks), threads_of_a_peak, 0, stream_>>>(pairs, first, maps_.as<float>(),
                                                                                       peaks_.as<CoarsePeak>());
        checked_launch("find peaks");
        fetch(to, peaks_, of_peaks * static_cast<std::int64_t>(sizeof(CoarsePeak)), "correlate B-scans");
    }

    void fetch(void* to, const DeviceBuffer& from, std::int64_t bytes, const char* doing) {
        checked(cudaMemcpyAsync(to, from.data(), index(bytes), cudaMemcpyDeviceToHost, stream_), doing);
        checked(cudaStreamSynchronize(stream_), doing);
    }

    static constexpr const char* remedy =
        "register a part of the volumes, close what else uses the GPU, or choose `backend` cpu";

    DeviceBuffer gathered_, maps_, peaks_, asked_, found_, parts_;
    FeatureBuffers buffers_;
    std::shared_ptr<Features> last_;
    LostSurvey lost_;
    Stream stream_{Urgency::urgent};
};

}  // namespace

std::shared_ptr<RegistrationOnGpu> registration(const BackendChoice& choice) {
    const int device = usable_gpu(choice.gpu).index;
    const CurrentDevice current(device);
    return std::make_shared<Registration>(device);
}

}  // namespace echolux::cuda
