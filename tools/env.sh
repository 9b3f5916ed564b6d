#!/bin/sh
# Make .venv: tools/env.sh PYTHON. What the lock files pin, each file checked against its
# hash, and this package.
#
# Nothing is deleted. What this made is updated in place, and keeps what else is installed in it; where its Python does
# not run any more it is moved aside. What something else made, or a link, is left alone.
#
# PyTorch comes first, by pip. On Linux the build that PyPI has (envs/torch.lock) brings
# several GB of CUDA: where no GPU is seen, the build for CPUs (envs/torch-cpu.lock) is
# taken, if it can be had. All else comes by uv, in a quarter of the time that pip takes;
# where uv cannot be had, or fails, by pip.
set -eu
python=$1
venv=.venv
ours=$venv/.made-by-make-env
pip="$venv/bin/python -m pip install --disable-pip-version-check --no-compile"
cpu=https://download.pytorch.org/whl/cpu
# A lock file is complete: what a package needs stands there, too.
locked="--no-deps --require-hashes --requirement"
others=$(grep -c == requirements.lock)
began=$(date +%s)

say() { printf '%s\n' "$*"; }

refuse() {
    say "$venv is $1, and is left as it is. $2" >&2
    exit 1
}

# The first name that nothing has.
free_name() {
    name=$venv.old
    number=1
    while [ -e "$name" ] || [ -L "$name" ]; do
        number=$((number + 1))
        name=$venv.old-$number
    done
    say "$name"
}

# Whether an address answers within three seconds, tried once.
answers() {
    (exec "$python" -c 'import signal, sys, urllib.request; signal.alarm(3); urllib.request.urlopen(sys.argv[1])' "$1") \
        >/dev/null 2>&1
}

by_uv() {
    uv=$(command -v uv || true)
    if [ -z "$uv" ]; then
        # shellcheck disable=SC2086 # options, not file names
        sed -n '/^uv==/,/[^\\]$/p' requirements.lock | $pip --quiet $locked /dev/stdin || return 1
        uv=$venv/bin/uv
    fi
    index=${PIP_INDEX_URL:-$("$venv/bin/python" -m pip config get global.index-url 2>/dev/null || true)}
    [ -z "$index" ] || export UV_DEFAULT_INDEX="$index"
    UV_HTTP_RETRIES=1 UV_SYSTEM_CERTS=1 "$uv" pip install --quiet --python "$venv/bin/python" "$@"
}

install() { by_uv "$@" || { say "      uv did not do it; pip does, in a minute or two" && $pip --quiet "$@"; }; }

away="Move it away (mv $venv $venv.mine), then give the same command: it makes one of its own."
[ ! -L "$venv" ] || refuse "a link" "Remove the link (rm $venv), then give the same command."
if [ -e "$venv" ]; then
    [ -d "$venv" ] || refuse "no folder" "$away"
    # Until 0.4.0 only a finished one had a mark, another one.
    [ -e "$ours" ] || [ -e "$venv/.complete" ] || [ -z "$(ls -A "$venv")" ] ||
        refuse "a folder that this command did not make" "$away"
fi

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    say "Python 3.11 or newer is needed, and this is $("$python" --version): make env PYTHON=python3.12" >&2
    exit 1
}
if [ -e "$venv/bin" ] && ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    old=$(free_name)
    mv "$venv" "$old"
    say "      $venv has no Python with pip that runs: it is $old now, to delete when you like."
fi
if [ -e "$venv/bin" ]; then
    say "[1/4] $venv is there, with $("$venv/bin/python" --version), and is updated"
else
    say "[1/4] $venv, with $("$python" --version)"
    mkdir -p "$venv"
    touch "$ours"
    "$python" -m venv "$venv"
fi
touch "$ours"

say "[2/4] PyTorch, by pip: 200 MB, half a minute and the time of the download"
torch=envs/torch.lock
extra=
if [ "$(uname -s)" = Linux ] && ! command -v nvidia-smi >/dev/null; then
    say "      No NVIDIA GPU is seen: the build for CPUs"
    torch=envs/torch-cpu.lock
    # An index that is out of reach would take pip minutes.
    ! answers "$cpu/torch/" || extra="--extra-index-url $cpu"
fi
# shellcheck disable=SC2086 # options, not file names
$pip $extra $locked $torch || {
    [ $torch = envs/torch-cpu.lock ] || exit 1
    say "      It cannot be had: PyPI's build, with several GB of CUDA"
    $pip $locked envs/torch.lock
}

say "[3/4] $others other packages (requirements.lock), by uv: half a minute"
# shellcheck disable=SC2086 # options, not file names
install $locked requirements.lock
say "[4/4] This package, so that edits in fairgat/ take effect at once"
install --no-deps --no-build-isolation --editable .
touch "$venv/.complete"
say "Done in $(($(date +%s) - began)) seconds. Next: make demo, or make help."
