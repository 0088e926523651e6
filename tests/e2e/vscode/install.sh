#!/usr/bin/env bash
# What the tests in VS Code need, into the folder named: the web server of VS Code, out of the npm package code-server, which carries
# all of it and runs without a desktop; and playwright-core, which drives a Chromium that is there. Chromium and ripgrep (for VS Code's
# own search) come from the system: they are installed with apt-get where it can be done, and asked for where it cannot.
set -euo pipefail

VERSION=4.100.3 # carries VS Code 1.100.3, the newest for Node 20
here=$(cd "$(dirname "$0")" && pwd)
cache=$1
mkdir -p "$cache"

missing=()
{ command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null || missing+=(chromium)
command -v rg >/dev/null || missing+=(ripgrep)
if [ ${#missing[@]} -gt 0 ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
    else
        echo "Please install: ${missing[*]}" >&2
        exit 1
    fi
fi

server=$cache/vscode-$VERSION
if [ ! -e "$server/.ready" ]; then
    rm -rf "$server"
    mkdir -p "$server"
    cd "$server"
    npm pack --silent "code-server@$VERSION" >/dev/null
    tar xzf "code-server-$VERSION.tgz" --strip-components=3 package/lib/vscode
    rm "code-server-$VERSION.tgz"
    # without its install scripts: they compile what only terminals and log files need
    npm install --ignore-scripts --omit=dev --no-audit --no-fund --loglevel=error >/dev/null
    mkdir -p node_modules/@vscode/ripgrep/bin
    ln -sf "$(command -v rg)" node_modules/@vscode/ripgrep/bin/rg
    ln -sfn node_modules node_modules.asar
    touch .ready
fi
ln -sfn "vscode-$VERSION" "$cache/vscode"

cd "$here"
npm ci --loglevel=error >/dev/null
