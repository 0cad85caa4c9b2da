// Reads layout hints from the name of a raw file: "spectra_u16le_100x100x1024.raw".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compute/plan/params.h"

namespace echolux {

struct RawName {
    std::optional<SampleFormat> format{};
    std::optional<ByteOrder> order{};
    std::vector<std::int64_t> numbers{};  // possible sizes, in order

    // Returns false if the name states another format or byte order.
    bool allows(SampleFormat other_format, ByteOrder other_order) const;

    bool has(std::int64_t number) const;
};

// Parses a file name. Words are separated by characters other than letters and digits, sizes also by an x.
RawName parsed_raw_name(const std::string& file_name);

}  // namespace echolux
