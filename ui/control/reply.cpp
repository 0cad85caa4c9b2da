#include "ui/control/reply.h"

#include <utility>

namespace echolux {

void Reply::result(nlohmann::ordered_json result, SharedBytes data) const {
    if (is_silent_) return;
    result["bytes"] = data->size();
    to_->send_both(line_of(result_answer(id_, std::move(result))), std::move(data));
}

// The last response of a batch sends all of them.
void Reply::send(nlohmann::ordered_json answer) const {
    if (batch_ == nullptr) {
        if (!is_silent_) to_->send_text(line_of(answer));
        return;
    }
    if (!is_silent_) batch_->answers.push_back(std::move(answer));
    if (--batch_->waiting == 0 && !batch_->answers.empty()) to_->send_text(line_of(batch_->answers));
}

}  // namespace echolux
