// Iterates over the elements of a DICOM file (PS3.5, section 7): tag, kind, length, value. Enters sequences that have
// unknown length or describe frames, and skips all others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/io/file_bytes.h"

namespace echolux {

// Position of an element.
struct DicomElement {
    std::uint32_t tag = 0;   // 0xGGGGEEEE
    std::int64_t place = 0;  // offset of the value
    std::int64_t bytes = 0;  // -1: unknown, ends with a delimiter
    bool is_at_top = true;   // not in a sequence, or in one that describes frames
};

class DicomElements {
  public:
    // Reads the meta header. Throws Error{bad_file} if the file is not a DICOM file.
    explicit DicomElements(FileBytes& file);

    const std::string& transfer_syntax() const { return transfer_syntax_; }
    bool big_endian() const { return big_endian_; }

    // Returns the next element, or std::nullopt at the end. The voxels are the last element. Throws Error{bad_file}.
    std::optional<DicomElement> next();

    // Returns a binary number of two or four bytes: US, SS, UL, ...
    std::int64_t number(const DicomElement& element);

    // Returns the trimmed text. Backslashes separate multiple values.
    std::string text(const DicomElement& element);
    std::vector<double> numbers(const DicomElement& element);  // of a text with decimal numbers

  private:
    struct Level {
        std::int64_t end = 0;  // -1: ends with a delimiter
        bool is_of_frames = false;
    };

    void read_meta();
    DicomElement read_element();
    void leave_ended_levels();
    bool enters(const DicomElement& element);

    FileBytes& file_;
    std::string transfer_syntax_;
    bool big_endian_ = false;
    bool is_explicit_ = true;
    std::int64_t place_ = 0;
    std::vector<Level> levels_;
};

}  // namespace echolux
