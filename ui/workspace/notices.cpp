#include "ui/workspace/notices.h"

#include <algorithm>
#include <utility>

#include "app/seconds_since.h"

namespace echolux {

void Notices::report_problem(std::string_view place, const Error& error) {
    report_problem(place, error.line());
}

void Notices::report_problem(std::string_view place, std::string_view line, std::string_view topic) {
    const auto is_replaced = [&](const Notice& notice) {
        return notice.stands && notice.place == place && notice.topic == topic;
    };
    if (!topic.empty()) std::erase_if(notices_, is_replaced);
    add({.is_problem = true, .place = std::string(place), .line = std::string(line), .topic = std::string(topic)});
}

void Notices::note(std::string_view place, std::string_view line, NoticeFile file) {
    add({.is_problem = false, .place = std::string(place), .line = std::string(line), .file = std::move(file)});
}

// Repeated notices are counted instead of listed.
void Notices::add(Notice notice) {
    constexpr std::size_t max_notices = 1000;
    notice.time_s = seconds_since(begin_);
    if (!notices_.empty()) {
        Notice& last = notices_.back();
        if (last.line == notice.line && last.place == notice.place && last.is_problem == notice.is_problem) {
            notice.number = last.number;
            notice.times = last.times + 1;
            last = std::move(notice);
            return;
        }
    }
    notice.number = next_++;
    notices_.push_back(std::move(notice));
    if (notices_.size() > max_notices) notices_.pop_front();
}

void Notices::restate(std::string_view place, std::string_view topic, std::string_view line) {
    for (Notice& notice : notices_) {
        if (notice.stands && notice.place == place && notice.topic == topic) notice.line = line;
    }
}

void Notices::settle(std::string_view place) {
    for (Notice& notice : notices_) {
        if (notice.is_problem && notice.place == place) notice.stands = false;
    }
}

void Notices::close(std::string_view place) {
    for (Notice& notice : notices_) {
        if (notice.place == place) notice.stands = false;
    }
}

double Notices::age_s(const Notice& notice) const {
    return seconds_since(begin_) - notice.time_s;
}

const Notice* Notices::find(std::uint64_t number) const {
    const auto found = std::ranges::find(notices_, number, &Notice::number);
    return found == notices_.end() ? nullptr : &*found;
}

void Notices::dismiss(std::uint64_t number) {
    for (Notice& notice : notices_) {
        if (notice.number == number) notice.stands = false;
    }
}

const Notice* Notices::standing(std::string_view place) const {
    const auto stands = [&](const Notice& notice) {
        return notice.is_problem && notice.stands && notice.place == place;
    };
    const auto newest = std::find_if(notices_.rbegin(), notices_.rend(), stands);
    return newest == notices_.rend() ? nullptr : &*newest;
}

}  // namespace echolux
