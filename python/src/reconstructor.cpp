// Reconstructor for arrays: spectra [b, a, samples] of the caller to voxels [b, a, depth] in an array of the caller.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "python/src/bindings.h"
#include "python/src/blocks.h"
#include "python/src/scan.h"
#include "python/src/volume.h"

namespace echolux::python {
namespace {

constexpr std::size_t max_under_way = 3;  // one being copied to the GPU, one computed, one copied back
constexpr std::int64_t gpu_piece_bytes = std::int64_t{16} << 20;
constexpr std::chrono::duration<double> signal_check_interval{0.06};  // of pieces on the CPU
constexpr double max_growth = 8;                                      // of a piece, as its time is not known in advance

struct Destination {
    echolux_place structure = api::make<echolux_place>();
    std::optional<echolux_place> flow;
};

struct Work {
    Work(api::Scan& scan, const std::string& device) : reconstructor(scan, device_of(device)), arrangement(scan) {
        api::checked(
            [&](auto* error) { return echolux_reconstructor_grid(reconstructor.get(), &structure, &flow, error); });
        device_name = reconstructor.device();
        slices = structure.b_scans / arrangement.shape().b_scans;
        is_on_gpu = device_name.rfind("cuda", 0) == 0;
        if (is_on_gpu) piece = std::max<std::int64_t>(1, gpu_piece_bytes / b_scan_bytes());
    }

    bool has_flow() const { return flow.bytes > 0; }
    std::int64_t b_scan_bytes() const { return arrangement.shape().b_scan_bytes; }

    std::uint64_t submit(const echolux_block& block, const Destination& to) {
        return last = reconstructor.submit(block, to.structure, to.flow ? &*to.flow : nullptr);
    }

    // Sets the size of the next piece so that it takes about signal_check_interval. The cost of methods, and so the CPU
    // time per B-scan, varies by a factor of a thousand.
    void keep_pace(std::int64_t b_scans, std::chrono::duration<double> took) {
        if (is_on_gpu) return;
        const double share = std::min(signal_check_interval / took, max_growth);
        piece = std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(b_scans) * share));
    }

    api::Reconstructor reconstructor;
    Arrangement arrangement;
    std::string device_name;
    echolux_grid structure = api::make<echolux_grid>(), flow = api::make<echolux_grid>();
    std::int64_t slices;     // of the volume, per B-scan position
    std::int64_t piece = 1;  // number of B-scans between checks for signals
    std::uint64_t last = 0;  // last submitted block; 0: none
    bool is_on_gpu;
};
using Reconstructor = Shared<Work>;

struct Call {
    std::int32_t sync;
    std::uintptr_t stream;
    bool waits;  // wait until the stream's work is done
};

// Describes the caller's array as the place of `slices` slices. A single one may lack the first dimension. A-scans and
// B-scans may have gaps between them, voxels may not.
echolux_place place_of(const AnyArray& out, const echolux_grid& grid, std::int64_t slices, std::int64_t first,
                       bool is_one, const char* name) {
    const VoxelLayout layout = layout_of(grid.voxel);
    require_type(out, layout.type, name);
    std::vector<std::int64_t> wanted{slices, grid.a_scans, grid.depth};
    if (layout.components > 1) wanted.push_back(layout.components);
    const std::vector<std::int64_t> edges = edges_of(out);
    const bool without_first = is_one && std::equal(wanted.begin() + 1, wanted.end(), edges.begin(), edges.end());
    if (!without_first && edges != wanted)
        refuse("has the shape " + listed(edges, "") + ", expected is " + listed(wanted, ""), name);
    const std::size_t a = without_first ? 0 : 1;
    const std::int64_t size = layout.type.bits / 8;
    const auto step = [&](std::size_t i) { return out.shape(i) > 1 ? out.stride(i) * size : 0; };
    const std::int64_t a_step = step(a), b_step = without_first ? 0 : step(0);
    if (!is_dense(out, a + 1) || a_step < 0 || b_step < 0)
        refuse("its A-scans do not lie without gaps in memory", name, "give an array that is contiguous along depth");
    auto place = api::make<echolux_place>();
    place.data = out.data();
    place.memory = memory_of(out.device_type());
    place.first_b_scan = first;
    place.a_scan_bytes = a_step;
    place.b_scan_bytes = b_step;
    place.bytes = (slices - 1) * b_step + (grid.a_scans - 1) * a_step + grid.depth * layout.bytes;
    return place;
}

// Pieces that a GPU is processing. The destructor waits for them, because they use memory of the caller. The CPU has
// finished its piece when submit() returns.
class UnderWay {
  public:
    explicit UnderWay(api::Reconstructor& reconstructor) : reconstructor_(reconstructor) {}
    ~UnderWay() {
        for (const std::uint64_t one : pieces_) echolux_reconstructor_wait(reconstructor_.get(), one, nullptr);
    }
    UnderWay(const UnderWay&) = delete;
    UnderWay& operator=(const UnderWay&) = delete;

    void add(std::uint64_t piece) {
        pieces_.push_back(piece);
        while (pieces_.size() > max_under_way) wait_for_oldest();
    }
    void wait_for_all() {
        while (!pieces_.empty()) wait_for_oldest();
    }

  private:
    void wait_for_oldest() {
        const std::uint64_t oldest = pieces_.front();
        pieces_.pop_front();
        reconstructor_.wait(oldest);
    }

    api::Reconstructor& reconstructor_;
    std::deque<std::uint64_t> pieces_;
};

// Enqueues the whole block in the order of the caller's stream, and returns at once unless `call.waits` is set.
void submit_in_order(Work& work, echolux_block block, Destination to, const Call& call) {
    block.sync = to.structure.sync = call.sync;
    block.cuda = to.structure.cuda = reinterpret_cast<void*>(call.stream);
    if (to.flow) to.flow->sync = call.sync, to.flow->cuda = block.cuda;
    const std::uint64_t done = work.submit(block, to);
    if (call.waits) work.reconstructor.wait(done);
}

// Returns when the work is complete. Checks for signals between pieces.
void submit_and_wait(Work& work, echolux_block block, const Destination& to, bool in_pieces) {
    const std::int64_t stride = block.frame_stride_bytes > 0 ? block.frame_stride_bytes : work.b_scan_bytes();
    const std::int64_t all = block.b_scans, bytes = block.bytes, first = block.first_b_scan;
    const auto* data = static_cast<const std::byte*>(block.data);
    UnderWay under_way(work.reconstructor);
    for (std::int64_t done = 0; done < all; done += block.b_scans) {
        const auto start = std::chrono::steady_clock::now();
        block.data = data + done * stride;
        block.bytes = bytes - done * stride;
        block.first_b_scan = first + done;
        block.b_scans = in_pieces ? std::min(work.piece, all - done) : all;
        under_way.add(work.submit(block, to));
        work.keep_pace(block.b_scans, std::chrono::steady_clock::now() - start);
        if (done + block.b_scans < all) check_signals();
    }
    under_way.wait_for_all();
}

// `sync`, `stream` as in the C interface. With ECHOLUX_SYNC_NONE, returns when the work is complete.
void run(const Reconstructor& self, nb::handle spectra, nb::handle structure, nb::handle flow, std::int64_t volume,
         std::int64_t first, std::int32_t sync, std::uintptr_t stream, bool waits, bool in_pieces) {
    const auto from = array_of<InArray>(spectra, "spectra");
    const auto to = array_of<AnyArray>(structure, "out");
    std::optional<AnyArray> flow_to;
    if (!flow.is_none()) flow_to = array_of<AnyArray>(flow, "flow_out");
    const Call call{sync, stream, waits};
    self.with([&](Work& work) {
        echolux_block block = work.arrangement.block_of(from);
        block.volume = volume;
        block.first_b_scan = first;
        const bool is_one = block.b_scans == 1;
        Destination destination;
        destination.structure = place_of(to, work.structure, block.b_scans * work.slices, first * work.slices,
                                         is_one && work.slices == 1, "out");
        if (flow_to) destination.flow = place_of(*flow_to, work.flow, block.b_scans, first, is_one, "flow_out");
        if (sync == ECHOLUX_SYNC_NONE)
            submit_and_wait(work, block, destination, in_pieces);
        else
            submit_in_order(work, block, destination, call);
    });
}

// Shape and type of the result of `run` for spectra of this shape.
std::pair<Edges, std::string> result_of(const Reconstructor& self, const std::vector<std::int64_t>& edges,
                                        bool is_flow) {
    std::vector<std::size_t> shape;
    std::string type;
    self.with([&](Work& work) {
        echolux_grid grid = is_flow ? work.flow : work.structure;
        grid.b_scans = work.arrangement.b_scans_of(edges) * (is_flow ? 1 : work.slices);
        shape = shape_of(grid);
        const bool is_one = edges.size() == work.arrangement.edges_of_a_b_scan().size();
        if (is_one && grid.b_scans == 1) shape.erase(shape.begin());
        type = spelled(layout_of(grid.voxel).type);
    });
    return {edges_of_python(shape), type};
}

double noise_floor_of(const Scan& scan, nb::handle spectra) {
    const auto from = array_of<InArray>(spectra, "spectra");
    return scan.with([&](api::Scan& one) { return one.noise_floor_db(Arrangement(one).block_of(from)); });
}

}  // namespace

void bind_reconstructor(nb::module_& module) {
    const auto reading = [](auto read) { return [read](const Reconstructor& self) { return self.with(read); }; };
    nb::class_<Reconstructor>(module, "Reconstructor", "Blocks of spectra in, voxels out.")
        .def(
            "__init__",
            [](Reconstructor* self, const Scan& scan, const std::string& device) {
                new (self) Reconstructor(scan.with([&](api::Scan& one) { return Work(one, device); }));
            },
            nb::arg("scan"), nb::arg("device"))
        .def_prop_ro("grid", reading([](Work& work) { return Grid{work.structure}; }))
        .def_prop_ro("flow_grid", reading([](Work& work) {
                         return work.has_flow() ? std::optional(Grid{work.flow}) : std::nullopt;
                     }))
        .def("wait", reading([](Work& work) {
                 if (work.last > 0) work.reconstructor.wait(work.last);
             }))
        .def("provenance", reading([](Work& work) { return work.reconstructor.provenance(); }))
        .def_prop_ro("device", reading([](Work& work) { return work.device_name; }))
        .def("result_of", &result_of, nb::arg("shape"), nb::arg("is_flow"))
        .def("run", &run, nb::arg("spectra"), nb::arg("out"), nb::arg("flow_out").none(), nb::arg("volume"),
             nb::arg("first_b_scan"), nb::arg("sync"), nb::arg("stream"), nb::arg("waits"), nb::arg("in_pieces"));
    module.def("measure_noise_floor", &noise_floor_of, nb::arg("scan"), nb::arg("spectra"));
}

}  // namespace echolux::python
