#include "library/call.h"

#include <cmath>
#include <exception>
#include <new>

namespace echolux::library {
namespace {

echolux_status status_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::bad_setting: return ECHOLUX_BAD_SETTING;
        case ErrorCode::bad_file: return ECHOLUX_BAD_FILE;
        case ErrorCode::output: return ECHOLUX_OUTPUT;
        case ErrorCode::out_of_memory: return ECHOLUX_OUT_OF_MEMORY;
        case ErrorCode::device: return ECHOLUX_DEVICE;
        case ErrorCode::cancelled: return ECHOLUX_CANCELLED;
    }
    return ECHOLUX_INTERNAL;
}

// An error struct with an implausible size was not initialised and must not be written.
bool can_be_filled(const echolux_error* error) {
    return error != nullptr && error->size > offsetof(echolux_error, what) && error->size <= max_struct_bytes;
}

echolux_status fill(echolux_error* error, echolux_status status, std::string_view what, std::string_view where,
                    std::string_view remedy) noexcept {
    if (!can_be_filled(error)) return status;
    echolux_error all{};
    all.size = error->size;
    all.code = status;
    put_text(what, all.what);
    put_text(where, all.where);
    put_text(remedy, all.remedy);
    const std::size_t known = std::min(error->size, sizeof all);
    std::memcpy(static_cast<void*>(error), &all, known);
    if (known < sizeof all)
        reinterpret_cast<char*>(error)[known - 1] = 0;  // a struct of an older interface may cut
                                                        // the last text short
    return status;
}

echolux_status fill(echolux_error* error, echolux_status status, const Error& problem) noexcept {
    return fill(error, status, problem.problem(), problem.where(), problem.remedy());
}

}  // namespace

void put_text(std::string_view text, std::span<char> to) noexcept {
    std::size_t length = std::min(text.size(), to.size() - 1);
    const auto is_continued = [&](std::size_t i) { return (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80; };
    while (length > 0 && length < text.size() && is_continued(length)) --length;  // do not split a UTF-8 character
    std::copy_n(text.begin(), length, to.begin());
    std::fill(to.begin() + static_cast<std::ptrdiff_t>(length), to.end(), '\0');
}

echolux_status told(echolux_error* error) noexcept {
    try {
        throw;
    } catch (const BadArgument& problem) {
        return fill(error, ECHOLUX_BAD_ARGUMENT, problem);
    } catch (const Unsupported& problem) {
        return fill(error, ECHOLUX_UNSUPPORTED, problem);
    } catch (const Error& problem) {
        return fill(error, status_of(problem.code()), problem);
    } catch (const std::bad_alloc&) {
        return fill(error, ECHOLUX_OUT_OF_MEMORY, "there is not enough memory", "", "close something else first");
    } catch (const std::exception& problem) {
        return fill(error, ECHOLUX_INTERNAL, problem.what(), "", "");
    } catch (...) {
        return fill(error, ECHOLUX_INTERNAL, "an unknown error", "", "");
    }
}

void clear(echolux_error* error) noexcept {
    fill(error, ECHOLUX_OK, "", "", "");
}

echolux_status said(echolux_error* error, echolux_status status, const char* what) noexcept {
    return fill(error, status, what, "", "");
}

std::string text_argument(const char* text, const char* name) {
    return &required(text, name);
}

std::vector<std::string> texts_argument(const char* const* texts, std::size_t count, const char* name) {
    std::vector<std::string> all;
    if (count == 0) return all;
    required(texts, name);
    for (std::size_t i = 0; i < count; ++i) all.push_back(text_argument(texts[i], name));
    return all;
}

void give_text(std::string_view text, char* buffer, std::size_t size, std::size_t* needed) {
    if (needed != nullptr) *needed = text.size() + 1;
    if (size == 0) return;
    required(buffer, "buffer");
    put_text(text, {buffer, std::min(size, text.size() + 1)});
    if (text.size() < size) return;
    throw BadArgument("is too small", "buffer", "give it " + std::to_string(text.size() + 1) + " bytes");
}

void give_numbers(std::span<const double> numbers, double* values, std::size_t capacity, std::size_t* count) {
    if (count != nullptr) *count = numbers.size();
    if (capacity == 0) return;
    std::copy_n(numbers.begin(), std::min(capacity, numbers.size()), &required(values, "values"));
}

std::span<const double> numbers_argument(const double* values, std::size_t count, const char* name) {
    if (count == 0) return {};
    const std::span<const double> numbers(&required(values, name), count);
    if (!std::ranges::all_of(numbers, [](double number) { return std::isfinite(number); })) {
        throw Error(ErrorCode::bad_setting, "contains a value that is not finite", name);
    }
    return numbers;
}

std::string lines_of(const std::vector<std::string>& lines) {
    std::string all;
    for (const std::string& line : lines) all += line + "\n";
    return all;
}

std::string lines_of(const std::map<std::string, std::string>& provenance) {
    std::string all;
    for (const auto& [key, value] : provenance) all += key + " = " + on_one_line(value) + "\n";
    return all;
}

std::string on_one_line(std::string_view value) {
    std::string line;
    for (const char c : value) {
        if (c == '\n')
            line += "\\n";
        else
            line += c == '\\' ? std::string("\\\\") : std::string(1, c);
    }
    return line;
}

std::string off_one_line(std::string_view line) {
    std::string value;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const bool is_escape = line[i] == '\\' && i + 1 < line.size() && (line[i + 1] == 'n' || line[i + 1] == '\\');
        if (is_escape) ++i;
        value += is_escape && line[i] == 'n' ? '\n' : line[i];
    }
    return value;
}

}  // namespace echolux::library
