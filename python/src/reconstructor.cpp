// The reconstructor on arrays: spectra [b, a, samples] of the caller in, voxels [b, a, depth] to an array of the
// caller.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/scan.h"

namespace echolux::python {
namespace {

constexpr std::int64_t chunk_bytes = std::int64_t{16} << 20;  // between two looks for signals, on the CPU

struct Work {
    Work(api::Scan& scan, const std::string& device)
        : reconstructor(scan, device_of(device)), shape(scan.shape()),
          sample_format(scan.settings().text("scan.sample_format")) {
        api::checked(
            [&](auto* error) { return echolux_reconstructor_grid(reconstructor.get(), &structure, &flow, error); });
        device_name = reconstructor.device();
        slices = structure.b_scans / shape.b_scans;
    }

    bool has_flow() const { return flow.bytes > 0; }

    api::Reconstructor reconstructor;
    echolux_scan_shape shape;
    std::string sample_format, device_name;
    echolux_grid structure = api::make<echolux_grid>(), flow = api::make<echolux_grid>();
    std::int64_t slices;  // of the volume, from one B-scan position
};
using Reconstructor = Shared<Work>;

struct Call {
    std::int64_t volume, first;
    std::int32_t sync;
    std::uintptr_t stream;
};

// Type of the elements that an array of spectra has; uint8 wherever samples are no machine words.
nb::dlpack::dtype sample_type(const std::string& format) {
    using Code = nb::dlpack::dtype_code;
    const auto type = [](Code code, std::uint8_t bits) {
        return nb::dlpack::dtype{static_cast<std::uint8_t>(code), bits, 1};
    };
    if (format == "u16") return type(Code::UInt, 16);
    if (format == "u32") return type(Code::UInt, 32);
    if (format == "i16") return type(Code::Int, 16);
    if (format == "f32") return type(Code::Float, 32);
    return type(Code::UInt, 8);
}

// Without the first, which is the number of B-scan positions of a block.
std::vector<std::int64_t> edges_of_a_b_scan(const Work& work) {
    const echolux_scan_shape& shape = work.shape;
    std::vector<std::int64_t> edges;
    if (shape.b_repeats > 1) edges.push_back(shape.b_repeats);
    edges.push_back(shape.a_scans);
    if (shape.a_repeats > 1) edges.push_back(shape.a_repeats);
    edges.push_back(shape.line_bytes / (sample_type(work.sample_format).bits / 8));
    return edges;
}

std::string listed(const std::vector<std::int64_t>& edges, const char* first) {
    std::string text = first;
    for (const std::int64_t edge : edges) text += (text.empty() ? "" : ", ") + std::to_string(edge);
    return "[" + text + "]";
}

template <class Array>
std::vector<std::int64_t> edges_of(const Array& array) {
    std::vector<std::int64_t> edges;
    for (std::size_t i = 0; i < array.ndim(); ++i) edges.push_back(static_cast<std::int64_t>(array.shape(i)));
    return edges;
}

template <class Array>
Array array_of(nb::handle given, const char* name) {
    Array array;
    if (!nb::try_cast<Array>(given, array, false)) {
        refuse(std::string("is not an array that can be ") + (std::is_same_v<Array, InArray> ? "read" : "written to"),
               name, "give a NumPy array, or one that speaks DLPack, in native byte order");
    }
    return array;
}

template <class Array>
void require_type(const Array& array, nb::dlpack::dtype wanted, const char* name) {
    const nb::dlpack::dtype type = array.dtype();
    if (type == wanted) return;
    refuse("holds " + spelled(type) + ", not " + spelled(wanted), name,
           std::string("convert it: ") + name + ".astype(\"" + spelled(wanted) + "\")");
}

// Whether dimensions [from, n) lie without gaps.
template <class Array>
bool is_dense(const Array& array, std::size_t from) {
    std::int64_t expected = 1;
    for (std::size_t i = array.ndim(); i-- > from;) {
        if (array.shape(i) > 1 && array.stride(i) != expected) return false;
        expected *= static_cast<std::int64_t>(array.shape(i));
    }
    return true;
}

bool is_on_gpu(int device_type) {
    return device_type == nb::device::cuda::value || device_type == nb::device::cuda_managed::value;
}

std::int32_t memory_of(int device_type) {
    if (is_on_gpu(device_type)) return ECHOLUX_ON_DEVICE;
    return device_type == nb::device::cuda_host::value ? ECHOLUX_PINNED : ECHOLUX_HOST;
}

echolux_block block_of(const Work& work, const InArray& spectra, const Call& call) {
    const std::vector<std::int64_t> rest = edges_of_a_b_scan(work);
    std::vector<std::int64_t> edges = edges_of(spectra);
    require_type(spectra, sample_type(work.sample_format), "spectra");
    std::size_t leading = 1;
    if (edges == rest) {  // one B-scan
        edges.insert(edges.begin(), 1);
        leading = 0;
    }
    if (edges.size() != rest.size() + 1 || !std::equal(rest.begin(), rest.end(), edges.begin() + 1)) {
        refuse("has the shape " + listed(edges_of(spectra), "") + ", expected is " + listed(rest, "b_scans"), "spectra",
               "reshape it, or make the Reconstructor for this shape");
    }
    const bool may_have_gaps = leading == 1 && work.shape.b_repeats == 1;
    const std::int64_t size = spectra.dtype().bits / 8;
    const std::int64_t step = leading == 1 ? spectra.stride(0) * size : 0;
    if (!is_dense(spectra, may_have_gaps ? 1 : 0) ||
        (may_have_gaps && edges[0] > 1 && step < work.shape.b_scan_bytes)) {
        refuse("does not lie in memory line after line", "spectra", "copy it: numpy.ascontiguousarray(spectra)");
    }
    auto block = api::make<echolux_block>();
    block.data = spectra.data();
    block.b_scans = edges[0];
    block.frame_stride_bytes = may_have_gaps && edges[0] > 1 ? step : 0;
    block.bytes = block.frame_stride_bytes > 0 ? (edges[0] - 1) * step + work.shape.b_scan_bytes
                                               : edges[0] * work.shape.b_scan_bytes;
    block.volume = call.volume;
    block.first_b_scan = call.first;
    block.memory = memory_of(spectra.device_type());
    return block;
}

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
    const std::int64_t a_step = out.stride(a) * size, b_step = without_first ? 0 : out.stride(0) * size;
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

struct Destination {
    echolux_place structure = api::make<echolux_place>();
    std::optional<echolux_place> flow;
};

void submit(Work& work, echolux_block block, Destination to, const Call& call, Watch& watch) {
    if (call.sync != ECHOLUX_SYNC_NONE) {
        block.sync = to.structure.sync = call.sync;
        block.cuda = to.structure.cuda = reinterpret_cast<void*>(call.stream);
        if (to.flow) to.flow->sync = call.sync, to.flow->cuda = block.cuda;
        work.reconstructor.submit(block, to.structure, to.flow ? &*to.flow : nullptr);
        work.reconstructor.collect();
        return;
    }
    const std::int64_t stride = block.frame_stride_bytes > 0 ? block.frame_stride_bytes : work.shape.b_scan_bytes;
    const std::int64_t most = std::max<std::int64_t>(1, chunk_bytes / work.shape.b_scan_bytes);
    const auto* data = static_cast<const std::byte*>(block.data);
    const std::int64_t all = block.b_scans, bytes = block.bytes;
    for (std::int64_t done = 0; done < all; done += most) {
        block.data = data + done * stride;
        block.bytes = bytes - done * stride;
        block.first_b_scan = call.first + done;
        block.b_scans = std::min(most, all - done);
        work.reconstructor.wait(work.reconstructor.submit(block, to.structure, to.flow ? &*to.flow : nullptr));
        if (all > most) watch.check();
    }
}

// `sync`, `stream` as in the C interface; without, everything is done when this returns.
void run(const Reconstructor& self, nb::handle spectra, nb::handle structure, nb::handle flow, std::int64_t volume,
         std::int64_t first, std::int32_t sync, std::uintptr_t stream) {
    const auto from = array_of<InArray>(spectra, "spectra");
    const auto to = array_of<AnyArray>(structure, "out");
    std::optional<AnyArray> flow_to;
    if (!flow.is_none()) flow_to = array_of<AnyArray>(flow, "flow_out");
    const Call call{volume, first, sync, stream};
    watched(nb::none(), [&](Watch& watch) {
        self.locked([&](Work& work) {
            const echolux_block block = block_of(work, from, call);
            const bool is_one = block.b_scans == 1;
            Destination destination;
            destination.structure = place_of(to, work.structure, block.b_scans * work.slices, first * work.slices,
                                             is_one && work.slices == 1, "out");
            if (flow_to) destination.flow = place_of(*flow_to, work.flow, block.b_scans, first, is_one, "flow_out");
            submit(work, block, destination, call, watch);
        });
    });
}

}  // namespace

void bind_reconstructor(nb::module_& module) {
    nb::class_<Reconstructor>(module, "Reconstructor", "Blocks of spectra in, voxels out.")
        .def(
            "__init__",
            [](Reconstructor* self, const Scan& scan, const std::string& device) {
                new (self) Reconstructor(scan.with([&](api::Scan& one) { return Work(one, device); }));
            },
            nb::arg("scan"), nb::arg("device"))
        .def_prop_ro("grid",
                     [](const Reconstructor& self) { return self.with([](Work& work) { return work.structure; }); })
        .def_prop_ro(
            "flow_grid",
            [](const Reconstructor& self) -> std::optional<echolux_grid> {
                return self.with([](Work& work) { return work.has_flow() ? std::optional(work.flow) : std::nullopt; });
            })
        .def_prop_ro("device",
                     [](const Reconstructor& self) { return self.with([](Work& work) { return work.device_name; }); })
        .def_prop_ro("slices",
                     [](const Reconstructor& self) { return self.with([](Work& work) { return work.slices; }); })
        .def_prop_ro(
            "block_edges",
            [](const Reconstructor& self) { return self.with([](Work& work) { return edges_of_a_b_scan(work); }); })
        .def_prop_ro("sample_dtype",
                     [](const Reconstructor& self) {
                         return self.with([](Work& work) { return spelled(sample_type(work.sample_format)); });
                     })
        .def("run", &run, nb::arg("spectra"), nb::arg("out"), nb::arg("flow_out").none(), nb::arg("volume"),
             nb::arg("first_b_scan"), nb::arg("sync") = 0, nb::arg("stream") = 0);
}

}  // namespace echolux::python
