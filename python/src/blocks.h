// Arrays of raw spectra as blocks: [b, a, samples] in the layout of a scan.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "python/src/arrays.h"

namespace echolux::python {

class Arrangement {
  public:
    explicit Arrangement(api::Scan& scan);

    const echolux_scan_shape& shape() const { return shape_; }

    // Type of the elements of an array of spectra; uint8 for packed samples.
    nb::dlpack::dtype sample_type() const;

    // Without the first dimension, the number of B-scan positions. Repeats, if any, have a dimension.
    std::vector<std::int64_t> edges_of_a_b_scan() const;

    // Number of positions in an array of this shape; a single B-scan may lack the first dimension. Throws if the shape
    // does not fit.
    std::int64_t b_scans_of(const std::vector<std::int64_t>& edges) const;

    // B-scans may have gaps between them, lines may not. Volume and first B-scan are 0.
    echolux_block block_of(const InArray& spectra) const;

  private:
    echolux_scan_shape shape_;
    std::string sample_format_;
};

}  // namespace echolux::python
