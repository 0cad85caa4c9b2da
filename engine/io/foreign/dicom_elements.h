// The elements of a DICOM file in their order (PS3.5, section 7): tag, kind, length, value. Sequences are gone into
// where they are of unknown length or say what each frame is like; others are passed over.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/io/foreign/file_bytes.h"

namespace echolux {

struct DicomElement {
    std::uint32_t tag = 0;   // 0xGGGGEEEE
    std::int64_t place = 0;  // of its value
    std::int64_t bytes = 0;  // -1: not known, it ends with a delimiter
    bool is_at_top = true;   // in no sequence but those of the frames
};

class DicomElements {
  public:
    // Throws Error{bad_file}: is no DICOM file.
    explicit DicomElements(FileBytes& file);

    const std::string& transfer_syntax() const { return transfer_syntax_; }
    bool big_endian() const { return big_endian_; }

    // Nothing: the end. The voxels are the last that is given. Throws Error{bad_file}.
    std::optional<DicomElement> next();

    // Of numbers in binary: US, SS, UL, ... of two or four bytes.
    std::int64_t number(const DicomElement& element);

    // Trimmed; several values stand with backslashes between them.
    std::string text(const DicomElement& element);
    std::vector<double> numbers(const DicomElement& element);  // of a text of decimal numbers

  private:
    struct Level {
        std::int64_t end = 0;  // -1: with a delimiter
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
