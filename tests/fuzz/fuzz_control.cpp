// Control requests from untrusted programs: parsed, checked against the table of methods, and answered.
#include "fuzz_target.h"
#include "ui/control/message.h"
#include "ui/control/methods.h"

namespace echolux::fuzz {
namespace {

void read_control_message(Bytes bytes) {
    const Message message = parsed_message({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    if (message.requests.empty()) std::abort();
    for (const Request& request : message.requests) {
        try {
            if (request.refusal) throw Refusal(*request.refusal);
            const nlohmann::json params = checked_params(method_named(request.method), request.params);
            if (!params.is_object()) std::abort();
        } catch (const Refusal& refusal) {
            if (line_of(error_answer(request.id, refusal)).find('\n') != std::string::npos) std::abort();
        }
    }
}

const Registration registrations[] = {{"control_message", read_control_message}};

}  // namespace
}  // namespace echolux::fuzz
