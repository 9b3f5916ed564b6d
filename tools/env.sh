#!/bin/sh
# Make .venv: tools/env.sh PYTHON. Pinned versions of requirements.lock, and this package.
#
# PyTorch comes first, by pip. On Linux the build that PyPI has brings several GB of CUDA: where no GPU is seen, the
# build for CPUs is taken, if its index answers within three seconds. All else comes by uv, in a quarter of the time
# that pip takes; where uv cannot be had, or fails, by pip.
set -eu
python=$1
venv=.venv
pip="$venv/bin/python -m pip install --disable-pip-version-check --no-compile"
cpu=https://download.pytorch.org/whl/cpu
torch=$(grep '^torch==' requirements.lock)
others=$(grep -c . requirements.lock)
began=$(date +%s)

say() { printf '%s\n' "$*"; }

# Whether an address answers within three seconds, tried once.
answers() {
    (exec "$python" -c 'import signal, sys, urllib.request; signal.alarm(3); urllib.request.urlopen(sys.argv[1])' "$1") \
        >/dev/null 2>&1
}

by_uv() {
    uv=$(command -v uv || true)
    if [ -z "$uv" ]; then
        $pip --quiet uv || return 1
        uv=$venv/bin/uv
    fi
    index=${PIP_INDEX_URL:-$("$venv/bin/python" -m pip config get global.index-url 2>/dev/null || true)}
    [ -z "$index" ] || export UV_DEFAULT_INDEX="$index"
    UV_HTTP_RETRIES=1 UV_SYSTEM_CERTS=1 "$uv" pip install --quiet --python "$venv/bin/python" "$@"
}

install() { by_uv "$@" || { say "      uv did not do it; pip does, in a minute or two" && $pip --quiet "$@"; }; }

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    say "Python 3.11 or newer is needed, and this is $("$python" --version): make env PYTHON=python3.12" >&2
    exit 1
}
say "[1/4] $venv, with $("$python" --version)"
"$python" -m venv --clear "$venv"

say "[2/4] PyTorch ($torch), by pip: 200 MB, half a minute and the time of the download"
extra=
if [ "$(uname -s)" = Linux ] && ! command -v nvidia-smi >/dev/null; then
    if answers "$cpu/torch/"; then
        extra="--extra-index-url $cpu"
        say "      No NVIDIA GPU is seen: the build for CPUs, from $cpu"
    else
        say "      No NVIDIA GPU is seen, but $cpu does not answer: pip takes the build that it finds." \
            "PyPI's brings several GB of CUDA."
    fi
fi
# shellcheck disable=SC2086 # options, not file names
$pip --no-deps $extra "$torch"

say "[3/4] $others other packages (requirements.lock), by uv: half a minute"
install --requirement requirements.lock
say "[4/4] This package, so that edits in fairgat/ take effect at once"
install --no-deps --editable .
touch "$venv/.complete"
say "Done in $(($(date +%s) - began)) seconds. Next: make demo, or make help."
