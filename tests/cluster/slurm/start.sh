#!/usr/bin/env bash
# Install, configure and start a small, real Slurm cluster on this one machine, for the tests beside this folder.
#
# For Debian 12, as root, without systemd and without cgroups; loopback only. When the cluster is already up with the
# same configuration it only says so; what is left of an earlier start is ended and replaced. stop.sh ends just the
# processes started here, and `stop.sh --remove` also removes the packages that were installed here.
#
# Settings (environment):
#   SLURM_TEST_NODES      how many slurmd to start on this host                      (2)
#   SLURM_TEST_CPUS       CPUs of each of these nodes                                (2)
#   SLURM_TEST_MEM_MB     memory that each of these nodes is said to have, in MB     (8000)
#   SLURM_TEST_RUN        pid files, logs and state                                  (/run/slurm-test)
#   SLURM_TEST_BASE_PORT  slurmctld's port; the slurmd have 101, 102, ... more       (6817)
set -euo pipefail

NODES=${SLURM_TEST_NODES:-2}
CPUS=${SLURM_TEST_CPUS:-2}
MEM_MB=${SLURM_TEST_MEM_MB:-8000}
RUN=${SLURM_TEST_RUN:-/run/slurm-test}
BASE_PORT=${SLURM_TEST_BASE_PORT:-6817}
CONF=/etc/slurm/slurm.conf
MARK='# Written by tests/cluster/slurm/start.sh; edits are lost.'
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

say() { printf 'start.sh: %s\n' "$*"; }
refuse() {
    say "error: $*" >&2
    exit 1
}
die() { # like refuse, with the ends of the logs
    say "error: $*" >&2
    local f
    for f in "$RUN"/log/*.log; do
        [ -s "$f" ] || continue
        printf '== %s\n' "$f" >&2
        tail -n 15 "$f" >&2
    done
    exit 1
}

[ "$(id -u)" = 0 ] || refuse "must run as root"

# --- 1. install ------------------------------------------------------------
packages=(munge slurmctld slurmd slurm-client)
missing=()
for p in "${packages[@]}"; do
    dpkg-query -W -f='${db:Status-Status}\n' "$p" 2>/dev/null | grep -qx installed || missing+=("$p")
done
if [ ${#missing[@]} -gt 0 ]; then
    say "installing ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    mkdir -p "$RUN/log"
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >"$RUN/log/apt.log" 2>&1 ||
        die "apt-get install failed"
    printf '%s\n' "${missing[@]}" >>"$RUN/installed"
fi

# --- 2. configure ----------------------------------------------------------
mkdir -p "$RUN/log" /etc/slurm
host=$(hostname -s)
new=$RUN/slurm.conf.new
{
    # slurmctld and slurmd run as root: one user on a throw-away machine, so no
    # daemon has to hand files over to another user.
    cat <<CONF
$MARK
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$BASE_PORT
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
AuthType=auth/munge
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
MailProg=/bin/true
StateSaveLocation=$RUN/state
SlurmctldPidFile=$RUN/slurmctld.pid
SlurmctldLogFile=$RUN/log/slurmctld.log
SlurmdSpoolDir=$RUN/spool.%n
SlurmdPidFile=$RUN/slurmd.%n.pid
SlurmdLogFile=$RUN/log/slurmd.%n.log
# No cgroups anywhere: processes are tracked through /proc.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=500
# Memory is polled every 2 s, and a job over its --mem is killed.
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=2
JobAcctGatherParams=OverMemoryKill
# squeue and 'scontrol show job' know a job for this long after its end, and
# each end is a line of jobcomp.txt.
MinJobAge=3600
JobCompType=jobcomp/filetxt
JobCompLoc=$RUN/log/jobcomp.txt
# Quick reactions: this is for tests.
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2
KillWait=2
CompleteWait=0
ReturnToService=2
SlurmctldTimeout=60
SlurmdTimeout=10
InactiveLimit=0
SlurmdParameters=config_overrides
CONF
    echo "AccountingStorageType=accounting_storage/none"
    for i in $(seq 1 "$NODES"); do
        echo "NodeName=node$i NodeHostname=$host NodeAddr=127.0.0.1 Port=$((BASE_PORT + 100 + i)) CPUs=$CPUS Boards=1 SocketsPerBoard=1 CoresPerSocket=$CPUS ThreadsPerCore=1 RealMemory=$MEM_MB State=UNKNOWN"
    done
    echo "PartitionName=main Nodes=ALL Default=YES MaxTime=UNLIMITED DefaultTime=10 State=UP"
} >"$new"
if [ -f "$CONF" ] && ! grep -qxF "$MARK" "$CONF"; then
    refuse "$CONF exists and is not from this script: not touched"
fi

# --- 3. already up? --------------------------------------------------------
wait_for() { # what, seconds, command...
    local what=$1 end=$((SECONDS + $2))
    shift 2
    until "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$end" ] || die "$what was not ready in time"
        sleep 0.2
    done
}
# slurmctld notices a dead slurmd only after SlurmdTimeout: look at the processes
alive() {
    local i exe
    for i in $(seq 1 "$NODES"); do
        exe=$(readlink "/proc/$(cat "$RUN/slurmd.node$i.pid" 2>/dev/null)/exe" 2>/dev/null) || return 1
        case "$exe" in */slurmd | */slurmd-wlm) ;; *) return 1 ;; esac
    done
}
ready() {
    alive || return 1
    scontrol ping 2>/dev/null | grep -q ' is UP' || return 1
    [ "$(sinfo -h -N -t idle,mixed,alloc -o '%N' 2>/dev/null | grep -c '^node')" -eq "$NODES" ] || return 1
}
finish() {
    say "$1: $NODES node(s) of $CPUS CPUs and $MEM_MB MB, $(sinfo -V)"
    exit 0
}
if cmp -s "$new" "$CONF" && ready; then
    rm -f "$new"
    finish "already up"
fi
SLURM_TEST_RUN=$RUN bash "$HERE/stop.sh" >/dev/null 2>&1 || true
rm -rf "$RUN/state" "$RUN"/spool.* "$RUN"/log/slurm* "$RUN/log/jobcomp.txt" # job numbers begin again
mkdir -p "$RUN/state" "$RUN/log"
mv "$new" "$CONF"

# --- 4. start --------------------------------------------------------------
munge_works() { munge -n </dev/null | unmunge; }
if ! munge_works >/dev/null 2>&1; then
    [ -s /etc/munge/munge.key ] || /usr/sbin/mungekey --create
    install -d -o munge -g munge -m 0755 /run/munge
    install -d -o munge -g munge -m 0700 /etc/munge /var/log/munge /var/lib/munge
    chown munge: /etc/munge/munge.key
    setpriv --reuid munge --regid munge --clear-groups \
        /usr/sbin/munged --num-threads 2 </dev/null >"$RUN/log/munged.log" 2>&1 || die "munged did not start"
    cp /run/munge/munged.pid "$RUN/munged.pid"
    wait_for munged 10 munge_works
fi

/usr/sbin/slurmctld </dev/null >"$RUN/log/slurmctld.start.log" 2>&1 || die "slurmctld did not start"
for i in $(seq 1 "$NODES"); do
    /usr/sbin/slurmd -N "node$i" </dev/null >"$RUN/log/slurmd.node$i.start.log" 2>&1 ||
        die "slurmd of node$i did not start"
done

# --- 5. wait until all nodes take jobs -------------------------------------
wait_for "the cluster" 30 ready
finish "up"
