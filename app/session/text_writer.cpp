#include "app/session/text_writer.h"

#include <algorithm>
#include <utility>

#include "engine/io/atomic_file.h"

namespace echolux {

TextWriter::TextWriter() : thread_([this](const std::stop_token& stop) { work(stop); }) {}

TextWriter::~TextWriter() = default;

void TextWriter::write(const std::filesystem::path& path, std::string text) {
    const std::scoped_lock lock(mutex_);
    const auto same = std::ranges::find(waiting_, path, &Waiting::path);
    if (same != waiting_.end())
        same->text = std::move(text);
    else
        waiting_.push_back({path, std::move(text)});
    problems_.reserve(problems_.size() + waiting_.size() + 1);
    changed_.notify_all();
}

void TextWriter::finish() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_.empty() && !is_writing_; });
}

bool TextWriter::is_idle() const {
    const std::scoped_lock lock(mutex_);
    return waiting_.empty() && !is_writing_;
}

std::vector<Error> TextWriter::take_problems() {
    const std::scoped_lock lock(mutex_);
    std::vector<Error> problems;
    for (const std::exception_ptr& problem : problems_) {
        try {
            std::rethrow_exception(problem);
        } catch (const Error& error) {
            problems.push_back(error);
        } catch (const std::exception& error) {
            problems.emplace_back(ErrorCode::output, error.what(), "settings");
        }
    }
    problems_.clear();
    return problems;
}

// After a stop request, continues until everything is written.
void TextWriter::work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [this] { return !waiting_.empty(); }), !waiting_.empty()) {
        const Waiting next = std::move(waiting_.front());
        waiting_.pop_front();
        is_writing_ = true;
        lock.unlock();
        std::exception_ptr problem;
        try {
            make_folders_for(next.path);  // ~/.config may be missing
            write_text(next.path, next.text);
        } catch (...) {
            problem = std::current_exception();
        }
        lock.lock();
        is_writing_ = false;
        if (problem) problems_.push_back(std::move(problem));
        changed_.notify_all();
    }
}

}  // namespace echolux
