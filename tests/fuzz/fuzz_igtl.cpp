// Untrusted OpenIGTLink input: messages in pieces of any size, and the requests in them.
#include <algorithm>
#include <optional>

#include "compute/error.h"
#include "engine/igtl/messages.h"
#include "fuzz_target.h"
#include "ui/control/message.h"

namespace echolux::fuzz {
namespace {

// Returns nothing if the input is rejected. That must not depend on the size of the pieces.
std::optional<std::vector<igtl::Request>> requests_in(Bytes bytes, std::size_t piece) {
    igtl::MessageReader reader;
    std::vector<igtl::Request> requests;
    try {
        for (; !bytes.empty(); bytes = bytes.subspan(std::min(piece, bytes.size()))) {
            for (igtl::Request& one : reader.read(bytes.first(std::min(piece, bytes.size()))))
                requests.push_back(std::move(one));
        }
    } catch (const Error&) {
        return std::nullopt;
    }
    return requests;
}

void read_igtl_messages(Bytes bytes) {
    const auto whole = requests_in(bytes, bytes.size()), in_pieces = requests_in(bytes, 7);
    if (whole.has_value() != in_pieces.has_value()) std::abort();
    if (!whole) return;
    if (whole->size() != in_pieces->size()) std::abort();
    for (std::size_t i = 0; i < whole->size(); ++i) {
        const igtl::Request& request = (*whole)[i];
        if (request.text != (*in_pieces)[i].text || request.id != (*in_pieces)[i].id) std::abort();
    }
}

// The first byte selects a command or a string. A command's name ends at the first zero.
void read_igtl_request(Bytes bytes) {
    const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (text.empty()) return;
    igtl::Request request{
        text[0] == 'c' ? igtl::Request::Kind::command : igtl::Request::Kind::string, 2, "", 1, "", ""};
    const std::size_t zero = std::min(text.find('\0'), text.size());
    request.name = text.substr(1, zero - 1).substr(0, igtl::command_name_bytes);
    request.text =
        request.kind == igtl::Request::Kind::command ? text.substr(std::min(zero + 1, text.size())) : text.substr(1);
    try {
        if (parsed_message(rpc_of(request)).requests.empty()) std::abort();
    } catch (const Error&) {
    }
}

const Registration registrations[] = {{"igtl_messages", read_igtl_messages}, {"igtl_request", read_igtl_request}};

}  // namespace
}  // namespace echolux::fuzz
