#include "python/src/blocks.h"

#include <algorithm>

namespace echolux::python {

Arrangement::Arrangement(api::Scan& scan)
    : shape_(scan.shape()), sample_format_(scan.settings().text("scan.sample_format")) {}

nb::dlpack::dtype Arrangement::sample_type() const {
    using Code = nb::dlpack::dtype_code;
    const auto type = [](Code code, std::uint8_t bits) {
        return nb::dlpack::dtype{static_cast<std::uint8_t>(code), bits, 1};
    };
    if (sample_format_ == "u16") return type(Code::UInt, 16);
    if (sample_format_ == "u32") return type(Code::UInt, 32);
    if (sample_format_ == "i16") return type(Code::Int, 16);
    if (sample_format_ == "f32") return type(Code::Float, 32);
    return type(Code::UInt, 8);
}

std::vector<std::int64_t> Arrangement::edges_of_a_b_scan() const {
    std::vector<std::int64_t> edges;
    if (shape_.b_repeats > 1) edges.push_back(shape_.b_repeats);
    edges.push_back(shape_.a_scans);
    if (shape_.a_repeats > 1) edges.push_back(shape_.a_repeats);
    edges.push_back(shape_.line_bytes / (sample_type().bits / 8));
    return edges;
}

std::int64_t Arrangement::b_scans_of(const std::vector<std::int64_t>& edges) const {
    const std::vector<std::int64_t> rest = edges_of_a_b_scan();
    if (edges == rest) return 1;
    if (edges.size() != rest.size() + 1 || !std::equal(rest.begin(), rest.end(), edges.begin() + 1)) {
        refuse("has the shape " + listed(edges) + ", expected is " + listed(rest, "b_scans"), "spectra",
               "reshape it, or say samples, a_scans and sample_format as they are");
    }
    if (edges[0] == 0) refuse("has no B-scan", "spectra", "give at least one");
    return edges[0];
}

echolux_block Arrangement::block_of(const InArray& spectra) const {
    require_type(spectra, sample_type(), "spectra");
    const std::vector<std::int64_t> edges = edges_of(spectra);
    auto block = api::make<echolux_block>();
    block.b_scans = b_scans_of(edges);
    // The C interface has one stride, between acquired B-scans. With repeats, it would also apply between them.
    const bool may_have_gaps = edges.size() == 3 && block.b_scans > 1;
    const std::int64_t step = may_have_gaps ? spectra.stride(0) * (spectra.dtype().bits / 8) : shape_.b_scan_bytes;
    if (!is_dense(spectra, may_have_gaps ? 1 : 0) || step < shape_.b_scan_bytes)
        refuse("does not lie in memory line after line", "spectra", "copy it: numpy.ascontiguousarray(spectra)");
    block.data = spectra.data();
    block.bytes = (block.b_scans - 1) * step + shape_.b_scan_bytes;
    block.frame_stride_bytes = step == shape_.b_scan_bytes ? 0 : step;
    block.memory = memory_of(spectra.device_type());
    return block;
}

}  // namespace echolux::python
