#include "app/live/live_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "compute/counted.h"
#include "engine/version.h"

namespace echolux {
namespace {

using Json = nlohmann::ordered_json;

Json object_of(const Latency& latency) {
    return {{"count", latency.count()},
            {"median_s", latency.percentile_s(0.5)},
            {"p99_s", latency.percentile_s(0.99)},
            {"max_s", latency.max_s()}};
}

Json object_of(const ArrivalStats& f) {
    return {{"blocks", f.blocks},
            {"volumes", f.volumes},
            {"a_scans", f.lines},
            {"bytes", f.bytes},
            {"lost_blocks", f.lost},
            {"repeated_blocks", f.repeated},
            {"misshapen_blocks", f.misshapen},
            {"time_jumps", f.time_jumps}};
}

Json object_of(const QueueStats& f) {
    return {{"pushed_blocks", f.pushed},          {"taken_blocks", f.taken},
            {"overtaken_blocks", f.overtaken},    {"overtaken_volumes", f.overtaken_volumes},
            {"incomplete_blocks", f.incomplete},  {"incomplete_volumes", f.incomplete_volumes},
            {"given_up_blocks", f.given_up},      {"waiting_blocks", f.waiting},
            {"max_waiting_blocks", f.max_waiting}};
}

Json object_of(const PictureStats& f) {
    return {{"pictures", f.pictures},
            {"volumes", f.volumes},
            {"out_of_order", f.out_of_order},
            {"pictures_per_s", f.pictures_per_s},
            {"drawing", object_of(f.drawing)}};
}

Json object_of(const ProcessedStats& f) {
    Json json{{"volumes", f.volumes},
              {"left_out", f.left_out},
              {"bytes", f.bytes},
              {"read_back_s", f.read_back_s},
              {"write_s", f.write_s}};
    if (f.problem) json["problem"] = f.problem->line();
    return json;
}

Json object_of(const igtl::LinkStats& f) {
    return {{"volumes", f.volumes},   {"left_out", f.left_out}, {"bytes", f.bytes},
            {"requests", f.requests}, {"refused", f.refused},   {"connected", f.connected}};
}

Json object_of(const TissueStats& f) {
    return {{"volumes", f.volumes},   {"skipped", f.skipped},     {"stabilised", f.stabilised},
            {"filtered", f.filtered}, {"as_it_was", f.as_it_was}, {"b_scans", f.b_scans},
            {"b_scans_used", f.used}, {"saccades", f.saccades},   {"work_s", f.work_s}};
}

Json object_of(const DeviceWork& f) {
    Json json{{"name", f.name},
              {"way", f.way},
              {"blocks", f.blocks},
              {"bytes", f.bytes},
              {"copied_bytes", f.copied_bytes},
              {"link_s", f.link_s},
              {"waiting_s", f.waiting_s},
              {"kernels_s", f.kernels_s},
              {"copy_s", f.copy_s}};
    if (!f.failure.empty()) json["failure"] = f.failure;
    return json;
}

// For each device, its share of the blocks and the slowest stage of a block.
std::string text_of(const std::vector<DeviceWork>& devices) {
    std::int64_t all = 0;
    for (const DeviceWork& one : devices) all += one.blocks;
    std::string text;
    for (const DeviceWork& one : devices) {
        const double blocks = 1e-3 * static_cast<double>(std::max<std::int64_t>(1, one.blocks));
        text += fmt::format(
            "{:13}{} {:.0f} % of the blocks; of each {:.2f} ms link, {:.2f} waiting, {:.2f} kernels, "
            "{:.2f} copy{}{}{}\n",
            &one == &devices.front() ? "devices" : "", one.name,
            100.0 * static_cast<double>(one.blocks) / static_cast<double>(std::max<std::int64_t>(1, all)),
            one.link_s / blocks, one.waiting_s / blocks, one.kernels_s / blocks, one.copy_s / blocks,
            one.way.empty() ? "" : ", ", one.way, one.failure.empty() ? "" : "; left out: " + one.failure);
    }
    return text;
}

std::string latency_text(const Latency& latency) {
    return fmt::format("median {:.1f} ms, 99 % {:.1f} ms, max {:.1f} ms", 1e3 * latency.percentile_s(0.5),
                       1e3 * latency.percentile_s(0.99), 1e3 * latency.max_s());
}

std::string counted(std::int64_t count, const char* one, const char* many) {
    return fmt::format("{} {}", count, count == 1 ? one : many);
}

// "after 85 of 400 volumes", "after 2.5 of 60 s".
std::string where_interrupted(const LiveReport& report) {
    if (report.asked_volumes > 0) {
        return fmt::format("after {} of {}", report.session.arrived.volumes,
                           ::echolux::counted(report.asked_volumes, "volumes"));
    }
    return fmt::format("after {:.1f} of {:.4g} s", report.session.seconds, report.asked_seconds);
}

// Returns the reason of a failure, or nothing. Interrupts are not failures.
std::optional<Error> trouble_of(const LiveReport& report) {
    const auto because = [&](ErrorCode code, const std::string& what, const std::string& remedy = {}) {
        return Error(code, what, report.source, remedy);
    };
    const SessionStats& s = report.session;
    const std::optional<RecorderStats>& recorder = report.recorder;
    if (recorder && recorder->problem) return recorder->problem;
    if (report.processed && report.processed->problem) return report.processed->problem;
    if (report.kept && report.kept->problem) return report.kept->problem;
    if (!report.failure.empty()) return because(ErrorCode::device, report.failure);
    const bool is_empty = s.arrived.blocks == 0 || (recorder && recorder->blocks == 0);
    if (is_empty && !report.was_cut_short) {
        return because(ErrorCode::output, recorder ? "nothing came that could be recorded" : "no spectra came",
                       "check the trigger and the cable, or let it run longer");
    }
    const std::int64_t missing = recorder ? recorder->missing_blocks + recorder->refused_blocks : 0;
    if (missing > 0)
        return because(ErrorCode::output, counted(missing, "block is", "blocks are") + " missing in the recording");
    if (recorder && recorder->lost_b_scans > 0) {
        return because(ErrorCode::output, counted(recorder->lost_b_scans, "B-scan", "B-scans") + " never came",
                       "check the line rate, the cable and the source's buffers");
    }
    if (recorder && recorder->interruptions > 0) {
        return because(ErrorCode::device,
                       "failed " + counted(recorder->interruptions, "time", "times") + " during the recording",
                       "check the cable and the power");
    }
    const std::int64_t lost = s.arrived.lost + s.arrived.misshapen;
    if (lost > 0) {
        return because(ErrorCode::output, counted(lost, "block was", "blocks were") + " lost by the source",
                       "check the line rate, the cable and the source's buffers");
    }
    if (s.failed_volumes > 0) {
        return because(ErrorCode::output,
                       counted(s.failed_volumes, "volume is", "volumes are") + " missing: reconstruction failed");
    }
    return {};
}

}  // namespace

Json object_of(const RingStatistics& f) {
    return {{"published", f.published}, {"dropped", f.dropped}, {"abandoned", f.abandoned}, {"shown", f.shown},
            {"late", f.late},           {"kept", f.kept},       {"max_kept", f.max_kept}};
}

Json object_of(const RecorderStats& f) {
    return {{"blocks", f.blocks},
            {"bytes", f.bytes},
            {"durable_blocks", f.durable_blocks},
            {"doubtful_blocks", f.doubtful_blocks},
            {"missing_blocks", f.missing_blocks},
            {"lost_blocks", f.lost_blocks},
            {"lost_b_scans", f.lost_b_scans},
            {"interruptions", f.interruptions},
            {"files", f.files},
            {"refused_blocks", f.refused_blocks},
            {"max_blocks_held", f.max_blocks_held},
            {"syncs", f.syncs},
            {"longest_write_s", f.longest_write_s},
            {"longest_unsynced_s", f.longest_unsynced_s},
            {"problem", f.problem ? Json(f.problem->line()) : Json(nullptr)}};
}

std::optional<Error> problem_of(const LiveReport& report) {
    const std::optional<Error> trouble = trouble_of(report);
    if (!report.was_cut_short) return trouble;
    std::string what = "interrupted " + where_interrupted(report);
    if (report.recorder) what += "; " + counted(report.recorder->blocks, "block is", "blocks are") + " recorded";
    if (trouble) what += "; " + trouble->line();
    return Error(ErrorCode::cancelled, what, report.source);
}

Json object_of(const LiveReport& report) {
    const SessionStats& s = report.session;
    Json json{{"program", fmt::format("echolux {}", version)},
              {"source", report.source},
              {"way", report.way},
              {"seconds", s.seconds},
              {"arrived", object_of(s.arrived)},
              {"queue", object_of(s.queue)},
              {"reconstructed",
               {{"blocks", s.fed_blocks},
                {"a_scans", s.fed_lines},
                {"volumes", s.finished_volumes},
                {"dropped_volumes", s.dropped_volumes},
                {"failed_volumes", s.failed_volumes},
                {"again", s.reprocessed_volumes},
                {"changes", s.changes},
                {"reconnections", s.reconnections},
                {"load", s.load}}},
              {"latency",
               {{"waiting", object_of(s.waiting)}, {"feeding", object_of(s.feeding)}, {"shown", object_of(s.shown)}}}};
    if (report.display) {
        json["ring"] = object_of(report.display->ring);
        json["pictures"] = object_of(report.display->pictures);
        json["bytes_read_back"] = report.display->bytes_read_back;
    }
    for (const DeviceWork& device : report.devices) json["devices"].push_back(object_of(device));
    if (report.tissue) json["tissue"] = object_of(*report.tissue);
    if (report.recorder) json["recorder"] = object_of(*report.recorder);
    if (report.processed) json["processed"] = object_of(*report.processed);
    if (report.kept)
        json["kept"] = {{"volumes", report.kept->volumes}, {"bytes_read_back", report.kept->bytes_read_back}};
    if (report.linked) json["igtl"] = object_of(*report.linked);
    json["cut_short"] = report.was_cut_short;
    if (report.was_cut_short) json["asked"] = {{"volumes", report.asked_volumes}, {"seconds", report.asked_seconds}};
    json["events"] = Json::array();
    for (const SessionEvent& event : report.events) {
        json["events"].push_back({{"time_s", event.time_s}, {"trouble", event.is_trouble}, {"line", event.line}});
    }
    return json;
}

std::string json_of(const LiveReport& report) {
    return object_of(report).dump(2);
}

std::string text_of(const LiveReport& report) {
    const SessionStats& s = report.session;
    const double seconds = std::max(s.seconds, 1e-9);
    std::string text = fmt::format("{}, {:.1f} s{}\n", report.source, s.seconds,
                                   report.was_cut_short ? ", interrupted " + where_interrupted(report) : "");
    text += fmt::format("acquired     {}, {} ({:.0f} a second), {}; {} lost by the source\n",
                        counted(s.arrived.volumes, "volumes"), counted(s.arrived.lines, "A-scans"),
                        static_cast<double>(s.arrived.lines) / seconds, counted(s.arrived.blocks, "blocks"),
                        s.arrived.lost);
    if (report.recorder) {
        text += fmt::format("recorded     {}, {:.1f} MB; {} missing\n", counted(report.recorder->blocks, "blocks"),
                            1e-6 * static_cast<double>(report.recorder->bytes), report.recorder->missing_blocks);
    }
    if (report.way.empty()) return text;
    text += fmt::format("processed    {}, {} ({:.0f} a second), load {:.0f} %: {}\n",
                        counted(s.finished_volumes, "volumes"), counted(s.fed_lines, "A-scans"),
                        static_cast<double>(s.fed_lines) / seconds, 100 * s.load, report.way);
    text += text_of(report.devices);
    text += fmt::format("left out     {} overtaken by newer ones, {} incomplete, {} without a slot, {} failed\n",
                        counted(s.queue.overtaken_volumes, "volumes"), s.queue.incomplete_volumes, s.dropped_volumes,
                        s.failed_volumes);
    if (report.display) {
        const PictureStats& shown = report.display->pictures;
        text +=
            fmt::format("shown        {} in {} ({:.1f} a second), {} out of order\n", counted(shown.volumes, "volumes"),
                        counted(shown.pictures, "pictures"), shown.pictures_per_s, shown.out_of_order);
        text += fmt::format("latency      last block to picture: {}\n", latency_text(s.shown));
    }
    if (report.display && report.display->ring.max_kept > 0) {
        const RingStatistics& ring = report.display->ring;
        text += fmt::format("kept         the last {} of at most {}", counted(ring.kept, "volumes"), ring.max_kept);
        const bool is_written = report.kept && !report.kept->problem;
        text += is_written ? fmt::format("; written, {:.1f} MB read back\n",
                                         1e-6 * static_cast<double>(report.kept->bytes_read_back))
                           : "\n";
    }
    if (report.tissue) {
        const TissueStats& done = *report.tissue;
        const auto volumes = static_cast<double>(std::max<std::int64_t>(1, done.volumes));
        text +=
            fmt::format("tissue       {} stabilised, {} filtered, {} shown as they were, {} skipped; {:.1f} ms each\n",
                        counted(done.stabilised, "volumes"), done.filtered, done.as_it_was, done.skipped,
                        1e3 * done.work_s / volumes);
        if (done.b_scans > 0)
            text += fmt::format("             {} of {} have a place, {} in saccades\n", done.used,
                                ::echolux::counted(done.b_scans, "B-scans"), done.saccades);
    }
    if (report.processed) {
        text += fmt::format("written      {}, {:.1f} MB; {} left out; read back in {:.2f} s, written in {:.2f} s\n",
                            counted(report.processed->volumes, "volumes"),
                            1e-6 * static_cast<double>(report.processed->bytes), report.processed->left_out,
                            report.processed->read_back_s, report.processed->write_s);
    }
    if (report.linked) {
        text += fmt::format("sent         {}, {:.1f} MB in all, by OpenIGTLink; {} left out for newer ones\n",
                            counted(report.linked->volumes, "volumes"),
                            1e-6 * static_cast<double>(report.linked->bytes), report.linked->left_out);
    }
    return text;
}

}  // namespace echolux
