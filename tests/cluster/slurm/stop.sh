#!/usr/bin/env bash
# End the cluster that start.sh started: its jobs, then its own daemons,
# each by its pid file and only while that pid is still that program. With --remove, remove the packages that start.sh
# installed: where Slurm is installed and does not run, every start of Snakemake with its plugin waits nine seconds.
set -uo pipefail
RUN=${SLURM_TEST_RUN:-/run/slurm-test}

is_running() { # pid, program name
    local exe
    exe=$(readlink "/proc/$1/exe" 2>/dev/null) || return 1
    case "$(basename "${exe% (deleted)}")" in "$2" | "$2"-wlm) return 0 ;; esac
    return 1
}
end() { # pid file, program name
    local pid
    [ -s "$1" ] || return 0
    pid=$(tr -dc 0-9 <"$1")
    if [ -n "$pid" ] && is_running "$pid" "$2"; then
        kill "$pid" 2>/dev/null
        for _ in $(seq 1 75); do
            is_running "$pid" "$2" || break
            sleep 0.2
        done
        if is_running "$pid" "$2"; then kill -9 "$pid" 2>/dev/null; fi
        echo "stop.sh: ended $2 ($pid)"
    fi
    rm -f "$1"
}

# Jobs first: a slurmd that stops leaves its running jobs alone.
if [ -s "$RUN/slurmctld.pid" ] && is_running "$(tr -dc 0-9 <"$RUN/slurmctld.pid")" slurmctld; then
    for state in PENDING SUSPENDED RUNNING; do timeout 10 scancel --state="$state" 2>/dev/null; done
    for _ in $(seq 1 50); do
        [ -n "$(timeout 10 squeue -h 2>/dev/null)" ] || break
        sleep 0.2
    done
fi
for f in "$RUN"/slurmd.*.pid; do end "$f" slurmd; done
end "$RUN/slurmctld.pid" slurmctld
end "$RUN/munged.pid" munged
if [ "${1:-}" = --remove ] && [ -s "$RUN/installed" ]; then
    xargs apt-get remove -y -qq <"$RUN/installed" >"$RUN/log/apt.log" 2>&1 && rm -f "$RUN/installed" /etc/slurm/slurm.conf
fi
exit 0
