// Sensing through a uniform grid of any length, like compute/cpu/compressive.cpp for one line: spread, transform,
// correct, and the adjoint. One thread block per line.
#include <algorithm>
#include <vector>

#include "compute/cuda/grid_value.cuh"
#include "compute/cuda/launch.h"
#include "compute/cuda/sensing.h"
#include "compute/methods/nonuniform.h"

namespace echolux::cuda {
namespace {

// Device pointers of the tables.
struct GridWork {
    const std::int32_t* begin = nullptr;    // [points + 1]
    const std::int32_t* samples = nullptr;  // contributing to each point
    const float* weights = nullptr;
    const std::int32_t* first = nullptr;  // [sensed]
    const float* from_weights = nullptr;  // [sensed][width]
    const float2* turns = nullptr;        // [sensed]
    const float* correction = nullptr;    // [modes]
    int points = 0;
    int width = 0;
    int modes = 0;
    int middle = 0;  // mode of the grid's bin 0
};

// Both kinds have the bins of one side: a real grid because the others mirror them, a complex one because it resolves
// no others (GridBand). The inverse of the latter is the forward transform with real and imaginary parts exchanged.
template <class Point>
struct Kind;

template <>
struct Kind<float> {
    static constexpr Fft::Kind forward = Fft::Kind::real_forward;
    __host__ __device__ static std::int64_t bins(std::int64_t points) { return points / 2 + 1; }
    __device__ static float turned(float2, float value) { return value; }
    __device__ static float2 backward(float2 bin, int) { return bin; }
    __device__ static float sample(float2, float value) { return value; }
};

template <>
struct Kind<float2> {
    static constexpr Fft::Kind forward = Fft::Kind::complex_forward;
    __host__ __device__ static std::int64_t bins(std::int64_t points) { return points; }
    __device__ static float2 turned(float2 turn, float value) { return times(conjugate(turn), value); }
    __device__ static float2 backward(float2 bin, int m) {
        const float share = share_of_norm(m);
        return {bin.y * share, bin.x * share};
    }
    __device__ static float sample(float2 turn, float2 value) { return value.y * turn.x - value.x * turn.y; }
};

template <class Point>
__global__ void spread(const __grid_constant__ GridWork work, const float* samples, std::int64_t pitch, Point* grids) {
    const float* line = samples + blockIdx.x * pitch;
    Point* grid = grids + static_cast<std::int64_t>(blockIdx.x) * work.points;
    for (int g = static_cast<int>(threadIdx.x); g < work.points; g += threads_of_a_line) {
        Point sum{};
        for (std::int32_t i = work.begin[g]; i < work.begin[g + 1]; ++i) {
            const std::int32_t p = work.samples[i];
            accumulate(sum, work.weights[i], Kind<Point>::turned(work.turns[p], line[p]));
        }
        grid[g] = sum;
    }
}

__global__ void correct(const __grid_constant__ GridWork work, const float2* bins, std::int64_t bins_of_a_line,
                        float2* profiles, std::int64_t pitch) {
    for (int m = static_cast<int>(threadIdx.x); m < work.modes; m += threads_of_a_line) {
        const std::int64_t bin = bin_of_grid(m, work.middle, work.points);
        profiles[blockIdx.x * pitch + m] = times(bins[blockIdx.x * bins_of_a_line + bin], work.correction[m]);
    }
}

template <class Point>
__global__ void widen(const __grid_constant__ GridWork work, const float2* profiles, std::int64_t pitch, float2* bins,
                      std::int64_t bins_of_a_line) {
    for (int bin = static_cast<int>(threadIdx.x); bin < bins_of_a_line; bin += threads_of_a_line) {
        const int m = bin + work.middle < work.points ? bin + work.middle : bin + work.middle - work.points;
        float2 value{};
        if (m < work.modes)
            value = Kind<Point>::backward(times(profiles[blockIdx.x * pitch + m], work.correction[m]), m);
        bins[blockIdx.x * bins_of_a_line + bin] = value;
    }
}

template <class Point>
__global__ void read_off(const __grid_constant__ GridWork work, const Point* grids, float* samples, int sensed,
                         std::int64_t pitch) {
    const Point* grid = grids + static_cast<std::int64_t>(blockIdx.x) * work.points;
    for (int p = static_cast<int>(threadIdx.x); p < sensed; p += threads_of_a_line) {
        Point value{};
        int g = work.first[p];
        for (int l = 0; l < work.width; ++l) {
            accumulate(value, work.from_weights[p * work.width + l], grid[g]);
            if (++g == work.points) g = 0;
        }
        samples[blockIdx.x * pitch + p] = Kind<Point>::sample(work.turns[p], value);
    }
}

std::vector<float2> turns_of(const SensingTables& tables) {
    std::vector<float2> turns;
    for (const std::complex<double>& turn : tables.turns_of_grid) {
        turns.push_back({static_cast<float>(turn.real()), static_cast<float>(turn.imag())});
    }
    return turns;
}

SensingShape shape_of(const SensingTables& tables, std::int64_t max_lines) {
    const std::int64_t sensed = std::ssize(tables.samples);
    return {Fft::lines_at_once(tables.grid, max_lines), sensed, sensed, tables.modes, tables.modes};
}

// The operator on one stream, with its grids and transforms.
template <class Point>
class ByGrid : public Sensing {
  public:
    ByGrid(const GridWork& work, const SensingShape& shape, cudaStream_t stream)
        : work_(work), shape_(shape), stream_(stream), bins_of_a_line_(Kind<Point>::bins(work.points)),
          grids_(Fft::line_memory(work.points, shape.lines, work.points * std::int64_t{sizeof(Point)})),
          forward_(Kind<Point>::forward, work.points, work.points, bins_of_a_line_, stream) {
        if constexpr (is_real) {
            bins_ = Fft::line_memory(work.points, shape.lines, bins_of_a_line_ * std::int64_t{sizeof(float2)});
            backward_.emplace(Fft::Kind::real_inverse, work.points, bins_of_a_line_, work.points, stream);
        }
    }

    void to_samples(std::int64_t lines, const void* profiles, float* samples) override {
        const auto blocks = static_cast<unsigned>(lines);
        widen<Point><<<blocks, threads_of_a_line, 0, stream_>>>(work_, static_cast<const float2*>(profiles),
                                                                shape_.mode_pitch, bins(), bins_of_a_line_);
        (is_real ? *backward_ : forward_).execute(lines, bins(), grids_.data());
        read_off<<<blocks, threads_of_a_line, 0, stream_>>>(work_, grids_.as<Point>(), samples,
                                                            static_cast<int>(shape_.sensed), shape_.sample_pitch);
        checked_launch("go from depth to samples");
    }

    void to_depth(std::int64_t lines, const void* samples, void* profiles) override {
        const auto blocks = static_cast<unsigned>(lines);
        spread<<<blocks, threads_of_a_line, 0, stream_>>>(work_, static_cast<const float*>(samples),
                                                          shape_.sample_pitch, grids_.as<Point>());
        forward_.execute(lines, grids_.data(), bins());
        correct<<<blocks, threads_of_a_line, 0, stream_>>>(work_, bins(), bins_of_a_line_,
                                                           static_cast<float2*>(profiles), shape_.mode_pitch);
        checked_launch("go from samples to depth");
    }

  private:
    static constexpr bool is_real = std::is_same_v<Point, float>;

    float2* bins() const { return (is_real ? bins_ : grids_).template as<float2>(); }

    GridWork work_;
    SensingShape shape_;
    cudaStream_t stream_;
    std::int64_t bins_of_a_line_;
    DeviceBuffer grids_;
    DeviceBuffer bins_;  // used by real grids; complex ones are transformed in place
    Fft forward_;
    std::optional<Fft> backward_;
};

// The tables on the device.
class Grids : public SensingOnDevice {
  public:
    Grids(const SensingTables& tables, std::int64_t max_lines)
        : shape_(shape_of(tables, max_lines)), real_(tables.real), begin_(uploaded(tables.spread.begin)),
          samples_(uploaded(tables.spread.samples)), weights_(uploaded(tables.spread.weights)),
          first_(uploaded(tables.spread.first)), from_weights_(uploaded(tables.spread.from_weights)),
          turns_(uploaded(turns_of(tables))), correction_(uploaded(tables.correction)) {
        work_.begin = begin_.as<std::int32_t>();
        work_.samples = samples_.as<std::int32_t>();
        work_.weights = weights_.as<float>();
        work_.first = first_.as<std::int32_t>();
        work_.from_weights = from_weights_.as<float>();
        work_.turns = turns_.as<float2>();
        work_.correction = correction_.as<float>();
        work_.points = static_cast<int>(tables.grid);
        work_.width = static_cast<int>(tables.spread.width);
        work_.modes = static_cast<int>(tables.modes);
        work_.middle = static_cast<int>(tables.middle);
    }

    SensingShape shape() const override { return shape_; }
    bool takes_halves() const override { return false; }
    std::unique_ptr<Sensing> on(cudaStream_t stream) const override {
        if (real_) return std::make_unique<ByGrid<float>>(work_, shape_, stream);
        return std::make_unique<ByGrid<float2>>(work_, shape_, stream);
    }

  private:
    SensingShape shape_;
    bool real_;
    DeviceBuffer begin_, samples_, weights_, first_, from_weights_, turns_, correction_;
    GridWork work_;
};

}  // namespace

std::unique_ptr<SensingOnDevice> sensing_by_grid(const SensingTables& tables, std::int64_t max_lines) {
    return std::make_unique<Grids>(tables, max_lines);
}

}  // namespace echolux::cuda
