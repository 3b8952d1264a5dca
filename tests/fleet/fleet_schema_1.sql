CREATE TABLE probity_runs (day Date, run UInt64, version UInt64, finished UInt8, detail String,
block_rows UInt32, minutes_rows UInt64, calls_rows UInt64, block_minutes_rows UInt64, blocks_rows
UInt64, requests_rows UInt64, records_rows UInt64, sent_ns UInt64, host String, boot String,
session String, kernel String, cpu String, program String, command String, executable String,
build String, label String, trace String, pid UInt32, flags UInt32, mode UInt32, state UInt8,
end_reason UInt32, started_ns UInt64, ended_ns UInt64, rate UInt64, records UInt64, dropped_full
UInt64, dropped_memory UInt64, dropped_write UInt64, missing UInt64, damages UInt64,
damaged_bytes UInt64, damage_offset UInt64, cut_bytes UInt64, short UInt8, failed UInt8,
failed_errno UInt32, failed_after_ns UInt64, stalls UInt64, stall_ticks UInt64, clock_steps
UInt64, clock_error_ns UInt64, unwound UInt64, open UInt64, orphans UInt64, pauses_unmatched
UInt64, resumes_unmatched UInt64) ENGINE = ReplacingMergeTree(version) ORDER BY (day, run);
CREATE TABLE probity_functions (function UInt64, declared UInt8, name String, signature String,
file String, object String, returns String, line UInt32, level UInt32) ENGINE =
ReplacingMergeTree() ORDER BY function;
CREATE TABLE probity_threads (run UInt64, thread UInt32, version UInt32, tid UInt32, pid UInt32,
name String) ENGINE = ReplacingMergeTree(version) ORDER BY (run, thread);
CREATE TABLE probity_losses (run UInt64, from_ns UInt64, to_ns UInt64, records UInt64) ENGINE =
ReplacingMergeTree() ORDER BY (run, from_ns, to_ns, records);
CREATE TABLE probity_probes (run UInt64, probe UInt64, version UInt32, site UInt8, number UInt32,
name String) ENGINE = ReplacingMergeTree(version) ORDER BY (run, probe);
CREATE TABLE probity_minutes (day Date, run UInt64, block UInt32, minute DateTime, function
UInt64, thread UInt32, calls UInt64, untimed UInt64, repaired UInt64, open UInt64, entries
UInt64, counted UInt64, profiled UInt64, least UInt8, total_ns UInt64, total_cpu_ns UInt64,
self_ns UInt64, self_cpu_ns UInt64, paused_ns UInt64, paused_cpu_ns UInt64, sum_ns UInt64, min_ns
UInt64, max_ns UInt64, buckets Array(UInt16), counts Array(UInt64)) ENGINE = MergeTree()
PARTITION BY day ORDER BY (run, function, minute, thread);
CREATE TABLE probity_calls (day Date, run UInt64, block UInt32, function UInt64, thread UInt32,
depth UInt32, flags UInt8, start_ns UInt64, total_ns UInt64, children_ns Int64, off_ns Int64,
children_off_ns Int64, paused_ns UInt64, paused_cpu_ns UInt64) ENGINE = MergeTree() PARTITION BY
day ORDER BY (run, function, thread, start_ns);
CREATE TABLE probity_block_minutes (day Date, run UInt64, block UInt32, minute DateTime,
from_probe UInt64, to_probe UInt64, thread UInt32, spans UInt64, wall_ns UInt64, cpu_spans
UInt64, cpu_ns UInt64, cpu_wall_ns UInt64, min_ns UInt64, max_ns UInt64, buckets Array(UInt16),
counts Array(UInt64)) ENGINE = MergeTree() PARTITION BY day ORDER BY (run, from_probe, to_probe,
minute, thread);
CREATE TABLE probity_blocks (day Date, run UInt64, block UInt32, from_probe UInt64, to_probe
UInt64, thread UInt32, flags UInt8, start_ns UInt64, wall_ns UInt64, off_ns Int64) ENGINE =
MergeTree() PARTITION BY day ORDER BY (run, from_probe, to_probe, thread, start_ns);
CREATE TABLE probity_requests (day Date, run UInt64, block UInt32, id UInt64, at_ns UInt64,
thread UInt32, probe UInt64, role UInt8, from_probe UInt64, from_thread UInt32, flags UInt8,
wall_ns UInt64, off_ns Int64) ENGINE = MergeTree() PARTITION BY day ORDER BY (id, run, at_ns);
CREATE TABLE probity_records (day Date, run UInt64, block UInt32, place UInt64, type UInt8,
thread UInt32, records UInt32, bytes String) ENGINE = MergeTree() PARTITION BY day ORDER BY (run,
place);
