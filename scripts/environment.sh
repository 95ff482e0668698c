# Sourced by the other scripts: goes to the project's folder and says which environment is meant.
# REVERIE_VENV wins, then an activated environment, then .venv in the project's folder.
cd "$(dirname "${BASH_SOURCE[0]}")/.."
environment="${REVERIE_VENV:-${VIRTUAL_ENV:-$PWD/.venv}}"
case "$environment" in /*) ;; *) environment="$PWD/$environment" ;; esac
bin="$environment/bin"

# Ends with a hint when the environment lacks the named command.
need() {
    if [ ! -x "$bin/$1" ]; then
        echo "error: $1 is not installed in $environment; run scripts/install first" >&2
        exit 1
    fi
}
