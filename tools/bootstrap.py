"""Creates .venv and installs Tarmac into it: `python3 tools/bootstrap.py [dev]`. Fast if nothing changed.

Runs under any python3 of the machine: standard library only, and no syntax newer than 3.6.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile

import getpip
import interpreter
import lockfile
import page_packages

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(VENV, "bin", "python")
STAMP = os.path.join(VENV, ".tarmac-stamp")


def main():
    extra = sys.argv[1] if len(sys.argv) > 1 else ""
    wanted = fingerprint()
    have = read_stamp()
    page_packages.main()
    if have in ([wanted, "dev"], [wanted, extra]):
        compile_sources()
        return
    if not is_sound():
        create()
    say(
        "installing Tarmac%s and its dependencies into .venv (only the first time)" % (" [%s]" % extra if extra else "")
    )
    install(extra)
    compile_sources()
    with open(STAMP, "w") as f:
        f.write(wanted + " " + extra)


def fingerprint():
    """What the installation depends on, including this directory: an editable install points to it."""
    digest = hashlib.sha256(ROOT.encode())
    for name in ("pyproject.toml", "requirements.lock", os.path.join("scripts", "tarmac")):
        with open(os.path.join(ROOT, name), "rb") as f:
            digest.update(f.read())
    return digest.hexdigest()


def read_stamp():
    try:
        with open(STAMP) as f:
            digest, extra = f.read().split(" ")
    except (OSError, ValueError):
        return None
    return [digest, extra] if is_sound() else None


def is_sound():
    """False for a .venv that was copied, is incomplete, or whose interpreter is gone."""
    if not os.path.exists(PYTHON):
        return False
    ask = (
        "import sys, importlib.util; print(sys.prefix);"
        "sys.exit(sys.version_info < (3, 11) or not importlib.util.find_spec('pip'))"
    )
    done = subprocess.run([PYTHON, "-c", ask], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.returncode == 0 and os.path.realpath(done.stdout.decode().strip()) == os.path.realpath(VENV)


def create():
    python = interpreter.find()
    say("creating .venv with %s" % python)
    shutil.rmtree(VENV, ignore_errors=True)
    if has_ensurepip(python):
        run([python, "-m", "venv", VENV])
        return
    # Debian and Ubuntu ship `venv` without `ensurepip`; the package that has it needs root.
    run([python, "-m", "venv", "--without-pip", VENV])
    getpip.into(PYTHON)


def has_ensurepip(python):
    ask = "import ensurepip, venv"
    return subprocess.run([python, "-c", ask], stderr=subprocess.DEVNULL).returncode == 0


def install(extra):
    """Install the locked packages, then Tarmac itself, and fetch nothing that the lock file does not name."""
    install_locked("build", "run", *(["build-dev"] if extra else []))
    if extra:
        install_locked("dev")
    pip("--no-deps", "--editable", ROOT)


def install_locked(*sections):
    locked = lockfile.read(ROOT)
    with tempfile.NamedTemporaryFile("w", prefix="tarmac-", suffix=".txt") as f:
        f.write("\n".join(locked[section] for section in sections))
        f.flush()
        pip("--require-hashes", "--requirement", f.name)


def pip(*words):
    run([PYTHON, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-build-isolation", *words])


def compile_sources():
    """Compile even if PYTHONDONTWRITEBYTECODE is set: without it, commands take twice as long to start."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([PYTHON, "-m", "compileall", "-q", os.path.join("src", "tarmac")], cwd=ROOT, env=environment)


def run(argv):
    done = subprocess.run(argv, cwd=ROOT)
    if done.returncode != 0:
        sys.exit("bootstrap: command failed: " + " ".join(argv))


def say(words):
    print("bootstrap: " + words, file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
