// Indexes of recordings, and transfer functions in our format and in ParaView's.
#include "app/transfer/transfer_file.h"
#include "engine/scan/recording.h"
#include "fuzz_target.h"

namespace echolux::fuzz {
namespace {

void read_recording_index(Bytes bytes) {
    read_index(file_with("x.csv", bytes), [](const IndexRow& row) { return row.end() >= 0; });
}

void read_transfer_toml(Bytes bytes) {
    read_transfer(file_with("x.toml", bytes));
}

void read_transfer_json(Bytes bytes) {
    read_transfer(file_with("x.json", bytes));
}

const Registration registrations[] = {
    {"recording_index", read_recording_index},
    {"transfer_toml", read_transfer_toml},
    {"transfer_json", read_transfer_json},
};

}  // namespace
}  // namespace echolux::fuzz
