# Completion of probity(1) for fish.

set -l commands record csv info check recover help
set -l none "not __fish_seen_subcommand_from $commands"
set -l in __fish_seen_subcommand_from

complete -c probity -n $none -f
complete -c probity -n $none -a record -d 'run a program and record its probes'
complete -c probity -n $none -a csv -d 'print one line per hit, in time order'
complete -c probity -n $none -a info -d 'say what a trace holds and whether it is complete'
complete -c probity -n $none -a check -d 'verify every byte of a trace'
complete -c probity -n $none -a recover -d 'fold what a killed program left behind into its trace'
complete -c probity -n $none -a help -d 'describe a command'
complete -c probity -s h -l help -d 'describe the tool or the command'
complete -c probity -n $none -l version -d 'print the version'

complete -c probity -n "$in record" -s o -l output -r -d 'name of the trace'
complete -c probity -n "$in record" -s f -l force -d 'remove a trace that exists'
complete -c probity -n "$in record" -l mode -x -a 'block drop ring' \
    -d 'what happens when the writer cannot keep up'

complete -c probity -n "$in csv" -s o -l output -r -d 'write to a file'
complete -c probity -n "$in csv" -s f -l force -d 'replace the file'
complete -c probity -n "$in csv" -l header -d 'print the names of the columns first'
complete -c probity -n "$in csv" -l columns -x -d 'the columns, in order' \
    -a "(__fish_append , pid tid probe name cpu_s cpu_ns wall_s wall_ns cpu wall tick thread)"
complete -c probity -n "$in csv" -l from -x -d 'only hits from this time on'
complete -c probity -n "$in csv" -l to -x -d 'only hits before this time'
complete -c probity -n "$in csv" -l tid -x -d 'only these threads'
complete -c probity -n "$in csv" -l probe -x -d 'only these probes'

complete -c probity -n "$in info" -l json -d 'print JSON'
