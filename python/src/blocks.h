// Arrays of raw spectra as blocks: [b, a, samples] as a scan arranges them.
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

    // Of the elements of an array of spectra; uint8 where samples are no machine words.
    nb::dlpack::dtype sample_type() const;

    // Without the first edge, which is the number of B-scan positions; repeats have an edge where there are several.
    std::vector<std::int64_t> edges_of_a_b_scan() const;

    // How many positions an array of these edges has; a single B-scan may lack the first. Throws where they do not fit.
    std::int64_t b_scans_of(const std::vector<std::int64_t>& edges) const;

    // B-scans may lie apart, lines may not. Volume and first B-scan are 0.
    echolux_block block_of(const InArray& spectra) const;

  private:
    echolux_scan_shape shape_;
    std::string sample_format_;
};

}  // namespace echolux::python
