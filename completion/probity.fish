# Completion of probity(1) for fish.

set -l commands \
    record \
    csv \
    log \
    report \
    info \
    check \
    recover \
    level \
    tree \
    threads \
    blocks \
    hist \
    diff \
    export \
    list \
    model \
    overhead \
    runs \
    timeline \
    view \
    help
set -l none "not __fish_seen_subcommand_from $commands"
set -l in __fish_seen_subcommand_from

complete -c probity -n $none -f
complete -c probity -n $none -a record -d 'run a program and record its probes'
complete -c probity -n $none -a csv -d 'print one line per hit, in time order'
complete -c probity -n $none -a log -d 'print what instrumented functions did'
complete -c probity -n $none -a report -d 'say what the calls of each function took'
complete -c probity -n $none -a info -d 'say what a trace holds and whether it is complete'
complete -c probity -n $none -a check -d 'verify every byte of a trace'
complete -c probity -n $none -a recover -d 'fold what a killed program left behind into its trace'
complete -c probity -n $none -a level -d 'show or change the levels of a running program'
complete -c probity -n $none -a diff -d 'compare runs of a program before and after a change'
complete -c probity -n $none -a timeline -d 'show who did what when'
complete -c probity -n $none -a view -d 'make one HTML page of everything'
complete -c probity -n $none -a overhead -d 'say by how much recording slows a program down'
complete -c probity -n $none -a runs -d 'keep a history of runs'
complete -c probity -n $none -a tree -d 'show who called whom, with times along each path'
complete -c probity -n $none -a threads -d 'say what each thread and process did'
complete -c probity -n $none -a blocks -d 'say what the program took from probe to probe'
complete -c probity -n $none -a model -d 'make a workload model of the program'
complete -c probity -n $none -a list -d 'list what is compiled in, hit or never hit'
complete -c probity -n $none -a hist -d 'show how the times of a function or a block are spread'
complete -c probity -n $none -a export -d 'write traces in the formats of other tools'
complete -c probity -n $none -a help -d 'describe a command'
complete -c probity -s h -l help -d 'describe the tool or the command'
complete -c probity -n $none -l version -d 'print the version'

complete -c probity -n "$in record" -s o -l output -r -d 'name of the trace'
complete -c probity -n "$in record" -s f -l force -d 'remove a trace that exists'
complete -c probity -n "$in record" -l label -x -d 'what this run is called'
complete -c probity -n "$in record" -l mode -x -a 'block drop ring' \
    -d 'what happens when the writer cannot keep up'

complete -c probity -n "$in csv" -s o -l output -r -d 'write to a file'
complete -c probity -n "$in csv" -s f -l force -d 'replace the file'
complete -c probity -n "$in csv" -l header -d 'print the names of the columns first'
complete -c probity -n "$in csv" -l columns -x -d 'the columns, in order' \
    -a "(__fish_append , pid tid probe name cpu_s cpu_ns wall_s wall_ns cpu wall tick thread role correlation object)"
complete -c probity -n "$in csv" -l from -x -d 'only hits from this time on'
complete -c probity -n "$in csv" -l to -x -d 'only hits before this time'
complete -c probity -n "$in csv" -l tid -x -d 'only these threads'
complete -c probity -n "$in csv" -l probe -x -d 'only these probes'

complete -c probity -n "$in log" -s o -l output -r -d 'write to a file'
complete -c probity -n "$in log" -s f -l force -d 'replace the file'
complete -c probity -n "$in log" -l follow -d 'go on until the program ends'
complete -c probity -n "$in log" -l function -x -d 'only functions like this, and what they call'
complete -c probity -n "$in log" -l level -x -a '0 1 2 3 4 5' -d 'only functions up to this level'
complete -c probity -n "$in log" -l depth -x -d 'only so many scopes inside each other'
complete -c probity -n "$in log" -l min-duration -x -d 'only scopes that lasted so long'
complete -c probity -n "$in log" -l tid -x -d 'only these threads'
complete -c probity -n "$in log" -l from -x -d 'only what happened from this time on'
complete -c probity -n "$in log" -l to -x -d 'only what happened before this time'
complete -c probity -n "$in log" -l by-thread -d 'one thread after another'
complete -c probity -n "$in log" -l probes -d 'hits of probes too'
complete -c probity -n "$in log" -l time -x -a 'none relative wall' -d 'time in front of each line'
complete -c probity -n "$in log" -l color -x -a 'auto always never' -d 'colours'

complete -c probity -n "$in report" -s o -l output -r -d 'write to a file'
complete -c probity -n "$in report" -s f -l force -d 'replace the file'
complete -c probity -n "$in report" -l sort -x -d 'the order' \
    -a 'calls total self cpu-total cpu-self off-total off-self paused elapsed parallelism min mean p50
        p90 p99 max total-corrected total-error self-corrected self-error name'
complete -c probity -n "$in report" -l wide -d 'all columns'
complete -c probity -n "$in report" -l corrected -d 'times less what recording added'
complete -c probity -n "$in report" -l columns -x -d 'the columns, in order' \
    -a "(__fish_append , calls total self cpu-total cpu-self off-total off-self paused elapsed \
        parallelism min mean p50 p90 p99 max total-corrected total-error self-corrected self-error \
        distribution)"
complete -c probity -n "$in report" -l csv -d 'print CSV'
complete -c probity -n "$in report" -s n -l limit -x -d 'the first functions only'
complete -c probity -n "$in report" -l by-thread -d 'a line for each thread'
complete -c probity -n "$in report" -l signature -d 'signatures instead of names'
complete -c probity -n "$in report" -l places -d 'file and line of each function'
complete -c probity -n "$in report" -l from -x -d 'only calls from this time on'
complete -c probity -n "$in report" -l to -x -d 'only calls before this time'
complete -c probity -n "$in report" -l tid -x -d 'only these threads'
complete -c probity -n "$in report" -l function -x -d 'only functions like this'
complete -c probity -n "$in report" -l json -d 'print JSON'

complete -c probity -n "$in tree" -s o -l output -r -d 'write to a file'
complete -c probity -n "$in tree" -s f -l force -d 'replace the file'
complete -c probity -n "$in tree" -l by-thread -d 'a tree for each thread'
complete -c probity -n "$in tree" -l depth -x -d 'so many levels of functions only'
complete -c probity -n "$in tree" -l min-percent -x -d 'nothing below this share'
complete -c probity -n "$in tree" -l function -x -d 'what happened below functions like this'
complete -c probity -n "$in tree" -l callers -x -d 'who called functions like this'
complete -c probity -n "$in tree" -l callees -x -d 'what functions like this called'
complete -c probity -n "$in tree" -l fold-recursion -d 'a function that calls itself is one node'
complete -c probity -n "$in tree" -l corrected -d 'times less what recording added'
complete -c probity -n "$in tree" -l sort -x -d 'the order' \
    -a 'calls total self cpu-total cpu-self off-total off-self paused name'
complete -c probity -n "$in tree" -l places -d 'file and line of each function'
complete -c probity -n "$in tree" -l from -x -d 'only calls from this time on'
complete -c probity -n "$in tree" -l to -x -d 'only calls before this time'
complete -c probity -n "$in tree" -l tid -x -d 'only these threads'
complete -c probity -n "$in tree" -l json -d 'print JSON'
complete -c probity -n "$in tree" -l csv -d 'print CSV'
complete -c probity -n "$in tree" -l folded -d 'print folded stacks'
complete -c probity -n "$in tree" -l value -x -d 'what folded stacks tell' -a 'wall cpu off-cpu calls'

complete -c probity -n "$in threads" -s o -l output -r -d 'write to a file'
complete -c probity -n "$in threads" -s f -l force -d 'replace the file'
complete -c probity -n "$in threads" -l sort -x -d 'the order' \
    -a 'first last lifetime cpu off-cpu records hits scopes tid name'
complete -c probity -n "$in threads" -l from -x -d 'only records from this time on'
complete -c probity -n "$in threads" -l to -x -d 'only records before this time'
complete -c probity -n "$in threads" -l tid -x -d 'only these threads'
complete -c probity -n "$in threads" -l json -d 'print JSON'
complete -c probity -n "$in threads" -l csv -d 'print CSV'

complete -c probity -n "$in blocks" -s o -l output -r -d 'write to a file'
complete -c probity -n "$in blocks" -s f -l force -d 'replace the file'
complete -c probity -n "$in blocks" -l sort -x -d 'the order' \
    -a 'total calls probability cpu off-cpu min mean p50 p90 p99 max name'
complete -c probity -n "$in blocks" -s n -l limit -x -d 'so many blocks only'
complete -c probity -n "$in blocks" -l probe -x -d 'from one of these probes to the next'
complete -c probity -n "$in blocks" -l from -x -d 'blocks that begin at these probes'
complete -c probity -n "$in blocks" -l to -x -d 'blocks that end at these probes'
complete -c probity -n "$in blocks" -l by -x -d 'what hits that follow each other have in common' \
    -a 'thread correlation'
complete -c probity -n "$in blocks" -l by-thread -d 'a line for each thread below each block'
complete -c probity -n "$in blocks" -l corrected -d 'times less what recording added'
complete -c probity -n "$in blocks" -l slowest -x -d 'so many of the slowest of each block'
complete -c probity -n "$in blocks" -l since -x -d 'only hits from this time on'
complete -c probity -n "$in blocks" -l until -x -d 'only hits before this time'
complete -c probity -n "$in blocks" -l tid -x -d 'only these threads'
complete -c probity -n "$in blocks" -l json -d 'print JSON'
complete -c probity -n "$in blocks" -l csv -d 'print CSV'

complete -c probity -n "$in list" -s o -l output -r -d 'write to a file'
complete -c probity -n "$in list" -s f -l force -d 'replace the file'
complete -c probity -n "$in list" -l never -d 'only what was never hit'
complete -c probity -n "$in list" -l hit -d 'only what was hit'
complete -c probity -n "$in list" -l function -x -d 'only functions like this, and probes in them'
complete -c probity -n "$in list" -l file -x -d 'only what stands in files like this'
complete -c probity -n "$in list" -l probe -x -d 'only these probes'
complete -c probity -n "$in list" -l sort -x -d 'the order' -a 'place hits name kind level'
complete -c probity -n "$in list" -s n -l limit -x -d 'so many sites only'
complete -c probity -n "$in list" -l signature -d 'signatures instead of names'
complete -c probity -n "$in list" -l from -x -d 'count only hits from this time on'
complete -c probity -n "$in list" -l to -x -d 'count only hits before this time'
complete -c probity -n "$in list" -l tid -x -d 'count only hits of these threads'
complete -c probity -n "$in list" -l json -d 'print JSON'
complete -c probity -n "$in list" -l csv -d 'print CSV'

complete -c probity -n "$in hist" -s o -l output -r -d 'write to a file'
complete -c probity -n "$in hist" -s f -l force -d 'replace the file'
complete -c probity -n "$in hist" -l self -d 'without callees'
complete -c probity -n "$in hist" -l cpu -d 'CPU time'
complete -c probity -n "$in hist" -l off-cpu -d 'time off the CPU'
complete -c probity -n "$in hist" -l from -x -d 'blocks that begin at these probes'
complete -c probity -n "$in hist" -l to -x -d 'blocks that end at these probes'
complete -c probity -n "$in hist" -l probe -x -d 'from one of these probes to the next'
complete -c probity -n "$in hist" -l linear -d 'rows of equal width'
complete -c probity -n "$in hist" -l rows -x -d 'so many rows'
complete -c probity -n "$in hist" -l since -x -d 'only what begins from this time on'
complete -c probity -n "$in hist" -l until -x -d 'only what begins before this time'
complete -c probity -n "$in hist" -l tid -x -d 'only these threads'
complete -c probity -n "$in hist" -l json -d 'print JSON'
complete -c probity -n "$in hist" -l csv -d 'print CSV'

complete -c probity -n "$in export" -l format -x -d 'the format' \
    -a 'chrome perfetto ctf speedscope callgrind pprof folded sqlite graphviz otlp otlp-json'
complete -c probity -n "$in export" -s o -l output -r -d 'write to a file'
complete -c probity -n "$in export" -s f -l force -d 'replace the file'
complete -c probity -n "$in export" -l value -x -d 'what formats that sum up tell' \
    -a 'wall cpu off-cpu calls'
complete -c probity -n "$in export" -l by-thread -d 'each thread for itself'
complete -c probity -n "$in export" -l graph -x -d 'of what' -a 'calls blocks'
complete -c probity -n "$in export" -l header -x -d 'a line of each request to a URL'
complete -c probity -n "$in export" -l from -x -d 'only what begins from this time on'
complete -c probity -n "$in export" -l to -x -d 'only what begins before this time'
complete -c probity -n "$in export" -l tid -x -d 'only these threads'

complete -c probity -n "$in model" -s o -l output -r -d 'write to a file'
complete -c probity -n "$in model" -s f -l force -d 'replace the file'
complete -c probity -n "$in model" -l json -d 'print JSON'
complete -c probity -n "$in model" -l dot -d 'print a graph for dot'
complete -c probity -n "$in model" -l text -d 'print tables'
complete -c probity -n "$in model" -l from -x -d 'only hits from this time on'
complete -c probity -n "$in model" -l to -x -d 'only hits before this time'
complete -c probity -n "$in model" -l tid -x -d 'only these threads'

complete -c probity -n "$in info" -l json -d 'print JSON'

complete -c probity -n "$in level" -l json -d 'print JSON'

complete -c probity -n "$in diff" -s o -l output -r -d 'write to a file'
complete -c probity -n "$in diff" -s f -l force -d 'replace the file'
complete -c probity -n "$in diff" -l statistic -x -d 'only these' \
    -a "(__fish_append , calls self total cpu mean median p99)"
complete -c probity -n "$in diff" -l function -x -d 'only functions like this'
complete -c probity -n "$in diff" -l block -x -d 'only blocks like this'
complete -c probity -n "$in diff" -l changed -d 'only changes that are established'
complete -c probity -n "$in diff" -l tolerance -x -d 'differences within it are the same'
complete -c probity -n "$in diff" -l project -r -d 'whose history labels are of'
complete -c probity -n "$in diff" -l fail-on -x -d 'exit with 4 where this is established'
complete -c probity -n "$in diff" -l sort -x -d 'the order' \
    -a 'impact change name calls self total cpu mean median p99'
complete -c probity -n "$in diff" -s n -l limit -x -d 'the first functions only'
complete -c probity -n "$in diff" -l from -x -d 'only calls from this time on'
complete -c probity -n "$in diff" -l to -x -d 'only calls before this time'
complete -c probity -n "$in diff" -l json -d 'print JSON'
complete -c probity -n "$in diff" -l csv -d 'print CSV'

complete -c probity -n "$in overhead" -s o -l output -r -d 'write to a file'
complete -c probity -n "$in overhead" -s f -l force -d 'replace the file'
complete -c probity -n "$in overhead" -s n -l pairs -x -d 'pairs of runs'
complete -c probity -n "$in overhead" -l min-time -x -d 'go on for so many seconds'
complete -c probity -n "$in overhead" -l profile -d 'record in profile mode'
complete -c probity -n "$in overhead" -l base -r -d 'without recording, run this instead'
complete -c probity -n "$in overhead" -s i -l ignore-status -d 'measure also a program that fails'
complete -c probity -n "$in overhead" -l json -d 'print JSON'
complete -c probity -n "$in overhead" -l csv -d 'print CSV'

complete -c probity -n "$in runs" -a 'init add list show rm' -d 'what to do'
complete -c probity -n "$in runs" -l label -x -d 'what the runs are called'
complete -c probity -n "$in runs" -l project -r -d 'the directory of the project'
complete -c probity -n "$in runs" -l json -d 'print JSON'
complete -c probity -n "$in runs" -l csv -d 'print CSV'
complete -c probity -n "$in runs" -s o -l output -r -d 'write to a file'
complete -c probity -n "$in runs" -s f -l force -d 'replace the file'
complete -c probity -n "$in view" -s o -l output -r -d 'write to a file'
complete -c probity -n "$in view" -s f -l force -d 'replace the file'
complete -c probity -n "$in view" -l diff -r -d 'compare with this run'
complete -c probity -n "$in view" -l open -d 'open the page in the browser'
complete -c probity -n "$in view" -l project -r -d 'whose history labels are of'
complete -c probity -n "$in view" -l spans -x -d 'spans of the time line'
complete -c probity -n "$in view" -l from -x -d 'only what begins from this time on'
complete -c probity -n "$in view" -l to -x -d 'only what begins before this time'
complete -c probity -n "$in view" -l tid -x -d 'only these threads'

complete -c probity -n "$in timeline" -s o -l output -r -d 'write to a file'
complete -c probity -n "$in timeline" -s f -l force -d 'replace the file'
complete -c probity -n "$in timeline" -l cpu -d 'shades of the time on the CPU'
complete -c probity -n "$in timeline" -l width -x -d 'so many columns'
complete -c probity -n "$in timeline" -l from -x -d 'only what begins from this time on'
complete -c probity -n "$in timeline" -l to -x -d 'only what begins before this time'
complete -c probity -n "$in timeline" -l tid -x -d 'only these threads'
complete -c probity -n "$in timeline" -l json -d 'print JSON'
